import { lineAt, scan } from "../scan.ts"
import type { SourceFile } from "../sourceFiles.ts"

/** A piece of TypeScript in a document or a doc comment. */
export interface Snippet {
  readonly path: string
  /** The line of the fence that opens it. */
  readonly line: number
  readonly code: string
}

const fence = /^([ \t]*)```(?:ts|typescript)[ \t]*\n([^]*?)^[ \t]*```[ \t]*$/gm

const inText = (path: string, text: string, firstLine: number): Array<Snippet> =>
  [...text.matchAll(fence)].map((match) => ({
    path,
    line: firstLine - 1 + lineAt(text, match.index + 1),
    code: (match[2] ?? "").split("\n").map((line) => line.replace(match[1] ?? "", "")).join("\n")
  }))

const undecorated = (comment: string): string =>
  comment.split("\n").map((line) => line.replace(/^\s*(?:\/\*\*|\* ?|\*\/)/, "")).join("\n")

/** Every fenced `ts` block of a Markdown file, or of the doc comments of a source file. */
export const snippets = ({ path, text }: SourceFile): Array<Snippet> =>
  path.endsWith(".md")
    ? inText(path, text, 1)
    : scan(text).comments
      .filter(({ value }) => value.startsWith("/**"))
      .flatMap(({ start, value }) => inText(path, undecorated(value), lineAt(text, start)))

/** A file name that tells where a snippet stands. */
export const fileNameOf = ({ line, path }: Snippet): string => `${path.replaceAll("/", "+")}+${line}.ts`

import { lineAt, scan } from "../scan.ts"
import type { SourceFile } from "../sourceFiles.ts"

/** A title that names ids, and where it stands. */
export interface Title {
  readonly title: string
  readonly place: string
}

const id = "[A-Z]{2,5}-\\d{2}"
const group = new RegExp(`\\[((?:field )?${id}(?:\\s*,\\s*(?:field )?${id})*)\\]`, "g")

/**
 * The ids that a title names in brackets: `[RPC-01]`, `[FRM-02, SHT-01]`, `[field RPC-01]`. The word `field` holds for
 * the rest of its brackets.
 */
export const idsIn = (title: string): Array<string> =>
  [...title.matchAll(group)].flatMap((match) => {
    let field = false
    return (match[1] ?? "").split(",").map((part) => {
      const [first = "", second] = part.trim().split(" ")
      field ||= second !== undefined
      return field ? `field ${second ?? first}` : first
    })
  })

const isSuite = (path: string): boolean =>
  !path.startsWith("packages/tooling/")
  && (/^packages\/[^/]+\/(?:test|typetest)\//.test(path) || path.startsWith("packages/testing/src/"))

/** The strings of test files that name ids. */
export const titlesIn = (files: ReadonlyArray<SourceFile>): Array<Title> =>
  files.filter(({ path }) => isSuite(path)).flatMap(({ path, text }) =>
    scan(text).literals
      .filter(({ value }) => idsIn(value).length > 0)
      .map(({ start, value }) => ({ title: value, place: `${path}:${lineAt(text, start)}` }))
  )

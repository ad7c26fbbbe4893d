/**
 * Reads TypeScript just far enough to tell code from comments and literals, so that a check for a word or an import
 * never trips over prose.
 */

/** A string, template chunk or comment with its place in the text. */
export interface Span {
  /** Offset of the opening quote or slash. */
  readonly start: number
  /** Offset after the closing quote or the comment. */
  readonly end: number
  /** What stands between the quotes, or the whole comment; escapes are left as written. */
  readonly value: string
}

/** The parts of a source text. */
export interface Scan {
  /** The text, of equal length, with comments and the insides of literals turned to spaces. */
  readonly code: string
  readonly literals: ReadonlyArray<Span>
  readonly comments: ReadonlyArray<Span>
}

const blank = (text: string): string => text.replace(/[^\n]/g, " ")

const wordBeforeRegex =
  /(?:^|[^.\w$])(?:return|typeof|case|in|of|delete|void|throw|new|instanceof|yield|await|do|else)\s*$/

/** Whether a slash after this code opens a regular expression rather than divides. */
const opensRegex = (before: string): boolean => {
  const code = before.trimEnd().slice(-40)
  if (code === "") return true
  if (code.endsWith("++") || code.endsWith("--")) return false
  return /[(,=:[!&|?{;+\-*%~^<>]$/.test(code) || wordBeforeRegex.test(code)
}

const regexAt = /\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
const lineCommentAt = /\/\/[^\n]*/y
const blockCommentAt = /\/\*[^]*?(?:\*\/|$)/y
const stringAt = /"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/y
const templateChunkAt = /(?:\\[^]|\$(?!\{)|[^`\\$])*/y
const plainAt = /[^"'`/{}]+/y

const matchAt = (pattern: RegExp, text: string, at: number): string | undefined => {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

/** Splits a source text into code, literals and comments. */
export const scan = (text: string): Scan => {
  const literals: Array<Span> = []
  const comments: Array<Span> = []
  /** One entry per open `${`: how many braces are open inside it. */
  const templates: Array<number> = []
  let code = ""
  let at = 0

  const comment = (value: string) => {
    comments.push({ start: at, end: at + value.length, value })
    code += blank(value)
    at += value.length
  }
  const literal = (whole: string, open: number, close: number) => {
    const value = whole.slice(open, whole.length - close)
    literals.push({ start: at, end: at + whole.length, value })
    code += whole.slice(0, open) + blank(value) + whole.slice(whole.length - close)
    at += whole.length
  }
  const plain = (value: string) => {
    code += value
    at += value.length
  }
  /** A chunk of a template from its opening backtick or closing brace to the next `${` or backtick. */
  const template = () => {
    const body = matchAt(templateChunkAt, text, at + 1) ?? ""
    const end = at + 1 + body.length
    const nested = text.startsWith("${", end)
    if (nested) templates.push(0)
    literal(text.slice(at, end + (nested ? 2 : 1)), 1, Math.min(nested ? 2 : 1, text.length - end))
  }
  const slash = () => {
    const line = matchAt(lineCommentAt, text, at) ?? matchAt(blockCommentAt, text, at)
    if (line !== undefined) return comment(line)
    const regex = opensRegex(code) ? matchAt(regexAt, text, at) : undefined
    return regex === undefined ? plain("/") : literal(regex, 1, 1)
  }
  const brace = (char: string) => {
    const depth = templates.at(-1)
    if (depth === undefined) return plain(char)
    if (char === "}" && depth === 0) {
      templates.pop()
      return template()
    }
    templates[templates.length - 1] = depth + (char === "{" ? 1 : -1)
    return plain(char)
  }

  while (at < text.length) {
    const char = text.charAt(at)
    if (char === "/") slash()
    else if (char === "`") template()
    else if (char === "{" || char === "}") brace(char)
    else if (char === "\"" || char === "'") {
      const string = matchAt(stringAt, text, at)
      if (string === undefined) plain(char)
      else literal(string, 1, 1)
    } else plain(matchAt(plainAt, text, at) ?? char)
  }
  return { code, literals, comments }
}

/** The line, counted from 1, of an offset. */
export const lineAt = (text: string, offset: number): number => {
  let line = 1
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++
  return line
}

/** Something a house check found. */
export interface Problem {
  readonly path: string
  /** Counted from 1; 0 when the file as a whole is meant. */
  readonly line: number
  readonly message: string
  /** A warning is printed and fails nothing. */
  readonly level: "error" | "warning"
}

/** A problem that fails the check. */
export const problem = (path: string, line: number, message: string): Problem => ({
  path,
  line,
  message,
  level: "error"
})

/** A problem that is only told. */
export const warning = (path: string, line: number, message: string): Problem => ({
  ...problem(path, line, message),
  level: "warning"
})

/** One printed line. */
export const format = (self: Problem): string =>
  `${self.path}${self.line > 0 ? `:${self.line}` : ""} ${self.level === "warning" ? "(warning) " : ""}${self.message}`

/**
 * A value that does not fit the schema a contract has for it.
 *
 * @since 0.1.0
 */
import * as SchemaIssue from "effect/SchemaIssue"

/**
 * One thing wrong with a value: where, and what was expected there. The value itself is never in it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Issue {
  /** Keys and indexes from the root of the value. */
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

const maxIssues = 10
const maxLength = 300

const leafHook: SchemaIssue.LeafHook = (issue) => {
  switch (issue._tag) {
    case "MissingKey":
      return "is missing"
    case "UnexpectedKey":
      return "is not allowed here"
    default:
      return SchemaIssue.defaultLeafHook(issue)
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1({ leafHook })

const dotted = (path: ReadonlyArray<PropertyKey>): string =>
  path.reduce<string>(
    (out, key) => typeof key === "number" ? `${out}[${key}]` : out === "" ? String(key) : `${out}.${String(key)}`,
    ""
  )

const line = ({ message, path }: Issue): string => {
  const text = path.length === 0 ? message : `${dotted(path)}: ${message}`
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text
}

/**
 * Which part of which contract a value did not fit. What exactly was wrong is found out when it is asked for, since most
 * mismatches are answered without anyone reading them.
 *
 * @category errors
 * @since 0.1.0
 */
export class SchemaMismatch {
  readonly _tag = "SchemaMismatch"
  /** The name or URI of the contract. */
  readonly name: string
  readonly side: "input" | "output" | "failure" | "content" | "settings"
  readonly #find: () => ReadonlyArray<Issue>
  constructor(
    name: string,
    side: "input" | "output" | "failure" | "content" | "settings",
    find: () => ReadonlyArray<Issue>
  ) {
    this.name = name
    this.side = side
    this.#find = find
  }

  /** Everything that is wrong. */
  issues(): ReadonlyArray<Issue> {
    return this.#find()
  }

  /** One line that names up to ten places with what was expected there, fit for a model to read; never the value. */
  message(): string {
    const issues = this.#find()
    const shown = issues.slice(0, maxIssues).map(line)
    const more = issues.length - shown.length
    return more > 0 ? `${shown.join("; ")}; and ${more} more` : shown.join("; ")
  }
}

/**
 * The parts of a schema issue, in the order in which the schema has them.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromIssue = (issue: SchemaIssue.Issue): ReadonlyArray<Issue> =>
  (format(issue).issues ?? []).map(({ message, path }) => ({
    message,
    path: (path ?? []).map((key) => typeof key === "object" ? key.key : key)
  }))

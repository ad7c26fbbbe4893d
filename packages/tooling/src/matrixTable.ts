import * as Schema from "effect/Schema"
import { join } from "node:path"
import { readJson } from "./readJson.ts"
import { filesUnder } from "./sourceFiles.ts"

/** What one suite counted on one revision and transport. */
export const Row = Schema.Struct({
  suite: Schema.String,
  revision: Schema.String,
  transport: Schema.String,
  passed: Schema.Int,
  failed: Schema.Int
})
export interface Row extends Schema.Schema.Type<typeof Row> {}

/** The revisions and transports that a suite can have. */
export const Reach = Schema.Struct({
  revisions: Schema.Array(Schema.String),
  transports: Schema.Array(Schema.String)
})
export interface Reach extends Schema.Schema.Type<typeof Reach> {}

/** The squares that are expected; of the suites in `required` none may be missing. */
export const Expected = Schema.Struct({
  suites: Schema.Array(Schema.String),
  revisions: Schema.Array(Schema.String),
  transports: Schema.Array(Schema.String),
  /** By suite, where it is not all of them: peers do not speak everything. */
  reach: Schema.optionalKey(Schema.Record(Schema.String, Reach)),
  required: Schema.Array(Schema.String)
})
export interface Expected extends Schema.Schema.Type<typeof Expected> {}

/** Reads what the suites of a run have written. */
export const readRows = (folder: string): Array<Row> =>
  filesUnder(folder, ".", (name) => name.endsWith(".json")).map(({ path }) => readJson(join(folder, path), Row))

/** Reads which squares there should be. */
export const readExpected = (root: string): Expected =>
  readJson(join(root, "packages/tooling/data/matrix.json"), Expected)

const merged = (first: ReadonlyArray<string>, more: ReadonlyArray<string>): Array<string> => [
  ...new Set([...first, ...more])
]

/** The text of one square: it says `ok` only when tests ran there and none failed. */
const square = (rows: ReadonlyArray<Row>): string => {
  if (rows.length === 0) return "missing"
  const passed = rows.reduce((sum, row) => sum + row.passed, 0)
  const failed = rows.reduce((sum, row) => sum + row.failed, 0)
  if (failed > 0) return `${failed} of ${passed + failed} failed`
  return passed === 0 ? "none ran" : `${passed} ok`
}

/** The table, line by line, and the squares of required suites in which nothing passed. */
export const matrixTable = (
  expected: Expected,
  rows: ReadonlyArray<Row>
): { readonly lines: Array<string>; readonly absent: Array<string> } => {
  const revisions = merged(expected.revisions, rows.map((row) => row.revision))
  const transports = merged(expected.transports, rows.map((row) => row.transport))
  const isOutside = (suite: string, revision: string, transport: string) => {
    const reach = expected.reach?.[suite]
    return reach !== undefined && !(reach.revisions.includes(revision) && reach.transports.includes(transport))
  }
  const at = (suite: string, revision: string, transport: string) => {
    const found = rows.filter((row) => row.suite === suite && row.revision === revision && row.transport === transport)
    return found.length === 0 && isOutside(suite, revision, transport) ? "–" : square(found)
  }
  const suites = merged(expected.suites, rows.map((row) => row.suite))
  const width = Math.max(12, ...suites.map((suite) => suite.length))
  const lines = suites.flatMap((suite) => [
    [suite.padEnd(width), ...transports.map((transport) => transport.padEnd(16))].join(" ").trimEnd(),
    ...revisions.map((revision) =>
      [revision.padEnd(width), ...transports.map((transport) => at(suite, revision, transport).padEnd(16))].join(" ")
        .trimEnd()
    )
  ])
  const absent = expected.required.flatMap((suite) =>
    expected.revisions.flatMap((revision) =>
      expected.transports
        .filter((transport) => ["missing", "none ran"].includes(at(suite, revision, transport)))
        .map((transport) => `${suite} on ${revision} over ${transport}`)
    )
  )
  return { lines, absent }
}

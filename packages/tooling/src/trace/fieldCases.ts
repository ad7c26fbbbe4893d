/** The document that lists the field cases, each with the tests that show how it is handled. */
import type { Entry } from "./catalogue.ts"
import type { Title } from "./titles.ts"
import type { Trace } from "./trace.ts"

/** Where the document lies, from the root. */
export const fieldCasesPath = "docs/field-cases.md"

const head = [
  "<!-- dprint-ignore-file -->",
  "",
  "# Field cases",
  "",
  "Faults that people met who build or use servers, clients and hosts, whatever the software. Each is to be handled here, and",
  "a test that names it fails when it is not. `npm run field-cases` writes this table, and `npm test` fails when it is stale.",
  "",
  "| id | what went wrong elsewhere | shown by |",
  "| --- | --- | --- |",
  ""
].join("\n")

const fileOf = ({ place }: Title): string => place.replace(/:\d+$/, "")

/** `packages/schema/test/laws/Meta.test.ts` as `schema laws/Meta`. */
const nameOf = (path: string): string =>
  path.replace(/^packages\//, "").replace(/\/(?:test|typetest|src)\//, " ").replace(/(?:\.test|\.tst)?\.ts$/, "")

const linkTo = (path: string): string => `[${nameOf(path)}](../${path})`

const shownBy = (entry: Entry, titles: ReadonlyArray<Title>): string => {
  const files = [...new Set(titles.map(fileOf))].toSorted()
  if (files.length > 0) return files.map(linkTo).join(", ")
  return entry.excluded === undefined ? "no test yet" : `not yet: ${entry.excluded}`
}

const cell = (text: string): string => text.replaceAll("|", "\\|")

/** The text of the document. */
export const fieldCases = ({ traced }: Trace): string =>
  head + traced
    .filter(({ entry }) => entry.kind === "field case")
    .map(({ entry, titles }) =>
      `| ${entry.key.replace("field ", "")} | ${cell(entry.text)} | ${cell(shownBy(entry, titles))} |\n`
    )
    .join("")

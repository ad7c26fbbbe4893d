import { assert, describe, it } from "@effect/vitest"
import { faultsOf } from "../src/stages/traceStage.ts"
import type { Entry } from "../src/trace/catalogue.ts"
import { fieldCases } from "../src/trace/fieldCases.ts"
import { trace } from "../src/trace/trace.ts"

const entry = (key: string, excluded?: string): Entry => ({
  key,
  kind: key.startsWith("field") ? "field case" : "requirement",
  label: "",
  text: `text of ${key}`,
  excluded
})
const title = (text: string, file: string, line = 3) => ({ title: text, place: `packages/${file}:${line}` })
const rows = (text: string) => text.split("\n").filter((line) => /^\| [A-Z]/.test(line))

const entries = [
  entry("RPC-01"),
  entry("field RPC-01"),
  entry("field RPC-02", "comes with b | c"),
  entry("field RPC-03")
]
const traced = trace(entries, [
  title("[RPC-01] a", "schema/test/A.test.ts"),
  title("[field RPC-01] a", "server/test/B.test.ts"),
  title("[field RPC-01] b", "server/test/B.test.ts", 9),
  title("[field RPC-01] c", "schema/test/laws/A.test.ts")
])

describe("the document of field cases", () => {
  it("names the files of each case once, or says why there is none", () => {
    assert.deepStrictEqual(rows(fieldCases(traced)), [
      "| RPC-01 | text of field RPC-01 | [schema laws/A](../packages/schema/test/laws/A.test.ts), " +
      "[server B](../packages/server/test/B.test.ts) |",
      "| RPC-02 | text of field RPC-02 | not yet: comes with b \\| c |",
      "| RPC-03 | text of field RPC-03 | no test yet |"
    ])
  })
})

describe("the stage", () => {
  const faults = (...args: Parameters<typeof faultsOf>) => Object.fromEntries(faultsOf(...args))

  it("fails for what no test names and for a document that is stale or not there", () => {
    assert.deepStrictEqual(faults(traced, "old"), {
      named: ["no test names field RPC-03: text of field RPC-03"],
      known: [],
      document: ["docs/field-cases.md is stale: `npm run field-cases` writes it"]
    })
    assert.lengthOf(faults(traced, undefined)["document"] ?? [], 1)
  })

  it("fails for ids that there are not, and for nothing when all is well", () => {
    const wrong = trace(entries, [title("[RPC-99] a", "schema/test/A.test.ts")])
    assert.deepStrictEqual(faults(wrong, "")["known"], [
      "packages/schema/test/A.test.ts:3 names RPC-99, which is no id"
    ])
    const good = trace(entries.slice(0, 3), [title("[RPC-01, field RPC-01] a", "schema/test/A.test.ts")])
    assert.deepStrictEqual(faults(good, fieldCases(good)), { named: [], known: [], document: [] })
  })
})

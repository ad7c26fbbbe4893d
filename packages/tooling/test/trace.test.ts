import { assert, describe, it } from "@effect/vitest"
import { root } from "../src/root.ts"
import { type Entry, exclude, readCatalogue } from "../src/trace/catalogue.ts"
import { table } from "../src/trace/table.ts"
import { idsIn, titlesIn } from "../src/trace/titles.ts"
import { summary, trace, unnamed } from "../src/trace/trace.ts"

const entry = (key: string): Entry => ({
  key,
  kind: key.startsWith("field") ? "field case" : "requirement",
  label: "MUST",
  text: `text of ${key}`,
  excluded: undefined
})
const entries = ["RPC-01", "RPC-02", "field RPC-01", "field FRM-01"].map(entry)
const title = (text: string) => ({ title: text, place: "packages/schema/test/A.test.ts:3" })
const named = (text: string) =>
  trace(entries, [title(text)]).traced.filter(({ titles }) => titles.length > 0).map((traced) => traced.entry.key)

describe("ids in titles", () => {
  it("reads single ids, lists and field cases", () => {
    assert.deepStrictEqual(idsIn("[RPC-01] a"), ["RPC-01"])
    assert.deepStrictEqual(idsIn("[FRM-02, SHT-01] a [META-16] b"), ["FRM-02", "SHT-01", "META-16"])
    assert.deepStrictEqual(idsIn("[field RPC-01] a"), ["field RPC-01"])
    assert.deepStrictEqual(idsIn("[field RPC-01, LIF-02] a"), ["field RPC-01", "field LIF-02"])
    assert.deepStrictEqual(idsIn("[RPC-01, field LIF-02] a"), ["RPC-01", "field LIF-02"])
  })

  it("reads nothing else", () => {
    for (const text of ["RPC-01 a", "[RPC-1] a", "[rpc-01]", "[a RPC-01]", "items[0]", "[RPC-01 and more]"]) {
      assert.deepStrictEqual(idsIn(text), [])
    }
  })

  it("finds them in the strings of tests, not in comments or other files", () => {
    const text = "// it(\"[RPC-02] no\")\nit(\"[RPC-01] yes\", f)\nit(`[RPC-03] ${x}`, f)\n"
    const files = ["packages/schema/test/A.test.ts", "packages/schema/src/A.ts"].map((path) => ({ path, text }))
    assert.deepStrictEqual(titlesIn(files), [
      { title: "[RPC-01] yes", place: "packages/schema/test/A.test.ts:2" },
      { title: "[RPC-03] ", place: "packages/schema/test/A.test.ts:3" }
    ])
  })
})

describe("trace", () => {
  it("takes a bare id for the requirement where both lists have it, else for the field case", () => {
    assert.deepStrictEqual(named("[RPC-01] a"), ["RPC-01"])
    assert.deepStrictEqual(named("[field RPC-01] a"), ["field RPC-01"])
    assert.deepStrictEqual(named("[FRM-01] a"), ["field FRM-01"])
  })

  it("lists what is named, what is not, and what is no id", () => {
    const scoped = exclude(entries, [{ ids: ["field *"], reason: "later" }])
    const traced = trace(scoped, [title("[RPC-01, RPC-99] a")])
    assert.deepStrictEqual(unnamed(traced).map(({ key }) => key), ["RPC-02"])
    assert.deepStrictEqual(table(traced), [
      "RPC-01  text of RPC-01",
      "    packages/schema/test/A.test.ts:3  [RPC-01, RPC-99] a",
      "field RPC-01  out of scope: later",
      "field FRM-01  out of scope: later",
      "",
      "not named by any test: 1",
      "RPC-02  (MUST)  text of RPC-02",
      "packages/schema/test/A.test.ts:3 names RPC-99, which is no id"
    ])
    assert.strictEqual(
      summary(traced),
      "1 of 2 requirements named (0 out of scope), 0 of 0 field cases named (2 out of scope)"
    )
  })

  it("refuses a scope that names no id", () => {
    assert.throws(() => exclude(entries, [{ ids: ["XYZ-*"], reason: "later" }]), "XYZ-*")
  })

  it("reads the lists of this repository, every id once", () => {
    const keys = readCatalogue(root).map(({ key }) => key)
    assert.lengthOf(keys.filter((key) => !key.startsWith("field ")), 366)
    assert.lengthOf(keys.filter((key) => key.startsWith("field ")), 187)
    assert.strictEqual(new Set(keys).size, keys.length)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { InvalidCursor } from "@mcpfx/schema/McpError"
import { Result } from "effect"
import * as fc from "fast-check"
import * as Pages from "../src/Pages.ts"

const identity = (name: string) => name
const page = (sorted: ReadonlyArray<string>, cursor: string | undefined, size = 2) =>
  Pages.page("tools", sorted, identity, { cursor, size })
const good = (sorted: ReadonlyArray<string>, cursor: string | undefined, size = 2) =>
  Result.getOrThrow(page(sorted, cursor, size))

const byUnits = (a: string, b: string) => a < b ? -1 : a > b ? 1 : 0
const names = fc.uniqueArray(fc.string({ unit: "binary" }), { maxLength: 30 }).map((list) => list.sort(byUnits))

const walk = (sorted: ReadonlyArray<string>, size: number, change: (page: number) => ReadonlyArray<string>) => {
  const seen: Array<string> = []
  let list = sorted
  let cursor: string | undefined
  for (let at = 0; at < 1000; at++) {
    const { items, nextCursor } = good(list, cursor, size)
    seen.push(...items)
    if (nextCursor === undefined) return seen
    cursor = nextCursor
    list = change(at)
  }
  throw new Error("the pages never end")
}

describe("Pages", () => {
  it("[PAG-02] gives a list page by page, and no cursor with the last one", () => {
    const first = good(["a", "b", "c", "d"], undefined)
    const second = good(["a", "b", "c", "d"], first.nextCursor)
    assert.deepStrictEqual([first.items, second.items], [["a", "b"], ["c", "d"]])
    assert.isString(first.nextCursor)
    assert.isUndefined(second.nextCursor)
  })

  it("gives an empty list and a list of exactly one page without a cursor", () => {
    assert.deepStrictEqual(good([], undefined), { items: [], nextCursor: undefined })
    assert.deepStrictEqual(good(["a", "b"], undefined), { items: ["a", "b"], nextCursor: undefined })
  })

  it("[field PAG-03] gives 120 entries in pages of 50, each once", () => {
    const all = Array.from({ length: 120 }, (_, i) => `t${String(i).padStart(3, "0")}`)
    assert.deepStrictEqual(walk(all, 50, () => all), all)
  })

  it("[field PAG-05] goes on after the last name when that entry has gone and others have come", () => {
    const first = good(["a", "b", "c", "d"], undefined)
    assert.deepStrictEqual(good(["a", "c", "d", "e"], first.nextCursor).items, ["c", "d"])
    assert.deepStrictEqual(good(["a", "aa", "b", "c", "d"], first.nextCursor).items, ["c", "d"])
    assert.deepStrictEqual(good(["a"], first.nextCursor), { items: [], nextCursor: undefined })
  })

  it("[field PAG-05] [law] gives what stays in the list exactly once, in order, whatever comes and goes meanwhile", () => {
    fc.assert(
      fc.property(names, fc.array(names, { maxLength: 10 }), fc.integer({ min: 1, max: 7 }), (stays, others, size) => {
        const during = (at: number) =>
          Array.from(new Set([...stays, ...(others[at % (others.length || 1)] ?? [])])).sort(byUnits)
        const seen = walk(during(0), size, (at) => during(at + 1))
        assert.deepStrictEqual(seen.filter((name) => stays.includes(name)), stays)
        assert.strictEqual(new Set(seen).size, seen.length)
      })
    )
  })

  it("[PAG-04] [PAG-02] [field PAG-04] refuses what is not a cursor of this list: made up, empty, cut, altered, of another list", () => {
    const cursor = Pages.cursor("tools", "b")
    const bad = [
      "bogus",
      "",
      " ",
      "=",
      cursor.slice(0, -2),
      `${cursor}AA`,
      cursor.slice(2),
      Pages.cursor("prompts", "b")
    ]
    for (const one of bad) {
      const result = page(["a", "b", "c"], one)
      assert.isTrue(Result.isFailure(result) && result.failure instanceof InvalidCursor, JSON.stringify(one))
    }
  })

  it("[PAG-04] [law] refuses a cursor with one character changed, unless that says the same", () => {
    fc.assert(fc.property(fc.string(), fc.nat(), fc.constantFrom(..."ABCabc019-_"), (last, at, by) => {
      const cursor = Pages.cursor("tools", last)
      const altered = cursor.slice(0, at % cursor.length) + by + cursor.slice(at % cursor.length + 1)
      const read = Pages.lastOf("tools", altered)
      assert.isTrue(Result.isFailure(read) || read.success === last)
    }))
  })

  it("[law] reads back every name from its cursor", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (last) => {
      assert.deepStrictEqual(Pages.lastOf("resources", Pages.cursor("resources", last)), Result.succeed(last))
    }))
  })
})

import { assert, describe, it } from "@effect/vitest"
import { ResponseCache } from "@mcpfx/client"

const fresh = { ttlMs: 1000, resultType: "complete" }

describe("ResponseCache", () => {
  it("lets the oldest go beyond its bounds, in number and in weight", () => {
    const cache = ResponseCache.make(2)
    const table = cache.table<object>(() => false)
    for (const n of [1, 2, 3]) table.put({ n }, "", { ...fresh, n }, 0, 0)
    assert.deepStrictEqual([1, 2, 3].map((n) => table.get({ n }, "", 1) !== undefined), [false, true, true])
    const heavy = ResponseCache.make().table<object>(() => false, () => 40 * 1024 * 1024)
    for (const n of [1, 2]) heavy.put({ n }, "", fresh, 0, 0)
    assert.deepStrictEqual([1, 2].map((n) => heavy.get({ n }, "", 1) !== undefined), [false, true])
  })

  it("does not mind the order of keys, and drops what has expired", () => {
    const cache = ResponseCache.make()
    const table = cache.table<object>(() => false)
    table.put({ a: 1, b: { c: 2, d: 3 } }, "", fresh, 0, 0)
    assert.deepStrictEqual(table.get({ b: { d: 3, c: 2 }, a: 1 }, "", 999), fresh)
    assert.isUndefined(table.get({ a: 1, b: { c: 2, d: 4 } }, "", 999))
    assert.isUndefined(table.get({ a: 1, b: { c: 2, d: 3 } }, "", 1000))
    assert.strictEqual(cache.size(), 0)
  })

  it("does not trust a clock that went backwards", () => {
    const table = ResponseCache.make().table<object>(() => false)
    table.put({}, "", fresh, 1_000_000, 0)
    assert.isUndefined(table.get({}, "", 5))
  })

  it("keeps callers apart whatever their names", () => {
    const table = ResponseCache.make().table<object>(() => false)
    table.put({ a: 1 }, "x", fresh, 0, 0)
    for (const caller of ["", "x{", "*", "1:x"]) assert.isUndefined(table.get({ a: 1 }, caller, 1), caller)
    assert.deepStrictEqual(table.get({ a: 1 }, "x", 1), fresh)
  })

  it("[CCH-04] never touches requests that carry input", () => {
    const table = ResponseCache.make().table<object>(() => false)
    for (const params of [{ inputResponses: {} }, { requestState: "s" }]) {
      table.put(params, "", fresh, 0, 0)
      assert.isUndefined(table.get(params, "", 1))
    }
  })

  it("[SUB-11] knows a part of a resource from one whose name only begins alike", () => {
    assert.isTrue(ResponseCache.isPart("a://x", "a://x"))
    assert.isTrue(ResponseCache.isPart("a://x", "a://x/y"))
    assert.isTrue(ResponseCache.isPart("a://x/", "a://x/y"))
    assert.isFalse(ResponseCache.isPart("a://x", "a://xy"))
    assert.isFalse(ResponseCache.isPart("a://x/y", "a://x"))
  })
})

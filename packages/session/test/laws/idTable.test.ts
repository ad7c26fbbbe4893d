import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { IdTable } from "../../src/internal/idTable.ts"

const key = fc.oneof(
  fc.integer({ min: -40, max: 40 }),
  fc.constantFrom(0, -0, 1e15, 2 ** 31, 2 ** 32, 2 ** 32 + 16, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
  fc.constantFrom("0", "", "1", "constructor", "__proto__", null, undefined, 1.5)
)
const step = fc.record({ op: fc.constantFrom("add", "add", "take", "get", "clear"), key })

describe("IdTable", () => {
  it("is a Map for keys that are added once", () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
      const table = new IdTable<number>()
      const model = new Map<unknown, number>()
      steps.forEach(({ key, op }, index) => {
        switch (op) {
          case "add":
            if (model.has(key)) return
            table.add(key, index)
            model.set(key, index)
            break
          case "take":
            assert.strictEqual(table.take(key), model.get(key))
            model.delete(key)
            break
          case "get":
            assert.strictEqual(table.get(key), model.get(key))
            break
          case "clear":
            if (index % 7 !== 0) return
            table.clear()
            model.clear()
            break
        }
        assert.strictEqual(table.has(key), model.has(key))
        assert.strictEqual(table.size, model.size)
      })
      assert.deepStrictEqual(table.values(), [...model.values()])
    }))
  })

  it("holds many at once", () => {
    const table = new IdTable<number>()
    for (let i = 0; i < 5000; i++) table.add(i * 16, i)
    for (let i = 4999; i >= 0; i--) assert.strictEqual(table.take(i * 16), i)
    assert.strictEqual(table.size, 0)
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as Pending from "@mcpfx/session/Pending"
import * as fc from "fast-check"

/** What may happen to a table, in any order. */
type Step =
  | { readonly _tag: "add" }
  | { readonly _tag: "take"; readonly id: unknown }
  | { readonly _tag: "echo"; readonly n: number }
  | { readonly _tag: "remove"; readonly n: number }
  | { readonly _tag: "takeAll" }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ _tag: "add" } as const) },
  {
    weight: 3,
    arbitrary: fc.record({
      _tag: fc.constant("take" as const),
      id: fc.oneof(
        fc.integer({ min: -2, max: 40 }),
        fc.constantFrom("0", "01", " 1", "1.0", "0x1", "", null, undefined, {})
      )
    })
  },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("echo" as const), n: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 2, arbitrary: fc.record({ _tag: fc.constant("remove" as const), n: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 1, arbitrary: fc.constant({ _tag: "takeAll" } as const) }
)

describe("Pending", () => {
  it("[RPC-03] [field RPC-15] [field RPC-02] behaves as a list of what was sent, whatever the order", () => {
    fc.assert(fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const pending = Pending.make<string>()
      const model = new Map<number, string>()
      let last = 0
      for (const step of steps) {
        switch (step._tag) {
          case "add": {
            last += 1
            const entry = `request ${last}`
            assert.strictEqual(pending.add(entry), last)
            model.set(last, entry)
            break
          }
          case "take": {
            const expected = typeof step.id === "number" ? model.get(step.id) : undefined
            assert.strictEqual(pending.get(step.id), expected)
            assert.strictEqual(pending.take(step.id), expected)
            if (typeof step.id === "number") model.delete(step.id)
            break
          }
          case "echo":
            assert.strictEqual(pending.take(String(step.n)), model.get(step.n))
            model.delete(step.n)
            break
          case "remove":
            assert.strictEqual(pending.remove(step.n), model.delete(step.n))
            break
          case "takeAll":
            assert.deepStrictEqual(pending.takeAll(), [...model.values()])
            model.clear()
            break
        }
        assert.strictEqual(pending.size, model.size)
        assert.deepStrictEqual(pending.values(), [...model.values()])
      }
    }))
  })

  it("[field RPC-02] a string that is an id itself is not taken for an integer", () => {
    const ids = [1, "1"]
    const pending = Pending.make<string>((n) => ids[n - 1] ?? n)
    pending.add("integer")
    pending.add("string")
    assert.strictEqual(pending.take("1"), "string")
    assert.strictEqual(pending.take("1"), "integer")
    assert.strictEqual(pending.take("1"), undefined)
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { canonical } from "../../src/internal/canonical.ts"
import { Expiring } from "../../src/internal/expiring.ts"
import * as State from "../../src/internal/roundState.ts"

describe("a table whose entries end", () => {
  it("forgets what is over, and the oldest when it is full", () => {
    const table = new Expiring(2)
    table.set("a", "1", 10, 0)
    assert.strictEqual(table.get("a", 9), "1")
    assert.isUndefined(table.get("a", 10))
    assert.strictEqual(table.size, 0)
    table.set("a", "1", 10, 0)
    table.set("b", "2", 20, 0)
    table.set("a", "3", 30, 0)
    table.set("c", "4", 30, 0)
    assert.isUndefined(table.get("b", 1))
    assert.deepStrictEqual([table.get("a", 1), table.get("c", 1)], ["3", "4"])
    table.set("d", "5", 50, 40)
    assert.strictEqual(table.size, 1)
  })
})

describe("canonical JSON", () => {
  it("is one text for equal values, and reads back", () => {
    fc.assert(fc.property(fc.json(), (text) => {
      const value: unknown = JSON.parse(text)
      assert.deepStrictEqual(JSON.parse(canonical(value)), JSON.parse(JSON.stringify(value)))
    }))
    assert.strictEqual(canonical({ b: 1, a: [{ d: null, c: undefined }] }), canonical({ a: [{ d: null }], b: 1 }))
  })
})

describe("the state of a round", () => {
  const text = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor"))
  const plain = { noNullPrototype: true } as const
  const answer = fc.record({ value: fc.constant({ action: "accept" }), at: fc.nat() }, plain)
  const asked = fc.record({
    digest: text,
    method: fc.constantFrom("elicitation/create" as const, "sampling/createMessage" as const, "roots/list" as const),
    at: fc.nat()
  }, plain)
  const map = <A>(value: fc.Arbitrary<A>) =>
    fc.array(fc.tuple(text, value), { maxLength: 5 }).map((entries) => new Map(entries))
  const state: fc.Arbitrary<State.RoundState> = fc.record({
    round: fc.nat(),
    principal: text,
    request: text,
    expires: fc.nat(),
    call: text,
    asked: map(asked),
    answers: map(answer),
    steps: map(fc.oneof(fc.integer(), fc.constant(null), fc.string())),
    progress: fc.option(fc.nat(), { nil: undefined }),
    trace: fc.option(fc.record({ traceId: text, spanId: text }, plain), { nil: undefined })
  }, plain)

  it("is read as it was written", () => {
    fc.assert(fc.property(state, (one) => {
      assert.deepStrictEqual(State.of(State.parse(State.write(one))), one)
    }))
  })

  it("anything else is no state", () => {
    for (const other of ["", "7", "null", "{}", `{"v":2}`, `{"h":"x"}`]) {
      assert.isUndefined(State.of(State.parse(other)))
    }
  })

  it("holds so much in all: the oldest go first", () => {
    const table = new Expiring(10, 10)
    table.set("a", "aaaa", 100, 0)
    table.set("b", "bbbb", 100, 0)
    table.set("a", "aaa", 100, 0)
    table.set("c", "cccc", 100, 0)
    assert.deepStrictEqual(["a", "b", "c"].map((key) => table.get(key, 0)), ["aaa", undefined, "cccc"])
    table.set("d", "dddddddddd", 100, 0)
    assert.deepStrictEqual(["a", "c", "d"].map((key) => table.get(key, 0)), [undefined, undefined, "dddddddddd"])
  })
})

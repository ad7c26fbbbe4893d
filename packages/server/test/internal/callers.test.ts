import { assert, describe, it } from "@effect/vitest"
import type { Exchange } from "@mcpfx/transport"
import { Option } from "effect"
import { Callers } from "../../src/internal/callers.ts"

const facts = (subject: string): Exchange.Facts => ({
  transport: "http",
  connection: undefined,
  sessionId: undefined,
  protocolVersion: undefined,
  headers: undefined,
  principal: Option.some({ issuer: "https://issuer.example", subject, scopes: [], claims: {} })
})

/** Adds so many callers; tells how often a table was looked at in all. */
const add = (callers: Callers, count: number, busy: { now: boolean }): () => number => {
  let looks = 0
  for (let i = 0; i < count; i++) {
    Object.defineProperty(callers.of(facts(`caller ${callers.known} ${i}`)), "size", {
      get: () => {
        looks++
        return busy.now ? 1 : 0
      }
    })
  }
  return () => looks
}

describe("callers", () => {
  it("one caller has one table, whichever request comes", () => {
    const callers = new Callers(8)
    assert.strictEqual(callers.of(facts("a")), callers.of(facts("a")))
    assert.notStrictEqual(callers.of(facts("a")), callers.of(facts("b")))
    assert.strictEqual(callers.known, 2)
  })

  it("tables of callers with nothing in flight are dropped", () => {
    const callers = new Callers(8)
    add(callers, 5000, { now: false })
    assert.isAtMost(callers.known, 256)
  })

  it("however many are busy, each that comes costs a few looks at most", () => {
    const callers = new Callers(8)
    const looks = add(callers, 20_000, { now: true })
    assert.strictEqual(callers.known, 20_000)
    assert.isAtMost(looks(), 2 * 20_000)
  })

  it("what a crowd leaves behind goes when others come", () => {
    const callers = new Callers(8)
    const crowd = { now: true }
    add(callers, 2000, crowd)
    crowd.now = false
    add(callers, 5000, { now: false })
    assert.isAtMost(callers.known, 256)
  })
})

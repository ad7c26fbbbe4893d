import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { Budget, Gather } from "../../src/internal/gather.ts"
import { cut, cuts } from "./cuts.ts"

const plenty = 10_000_000
const maxBytes = 1_000_000
/** What is announced, truly or not. */
const expectations = fc.constantFrom("none", "exact", "less")
const sizes = fc.constantFrom(0, 1, 300, 65_536, 262_143, 262_144, 262_145, 700_000)

const body = fc.tuple(sizes, fc.nat(255), expectations, cuts).map(([size, seed, expectation, places]) => {
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i + seed) % 256)
  const expected = expectation === "none" ? 0 : expectation === "exact" ? size : size >> 1
  return { bytes, expected, chunks: cut(bytes, places) }
})

/** All of the budget can be had: nothing was kept of it. */
const isWhole = (budget: Budget): boolean => {
  const whole = budget.take(plenty)
  if (whole) budget.give(plenty)
  return whole
}

describe("Gather", () => {
  it("gives the bytes that came, of several bodies at a time, in buffers that others had before", () => {
    const budget = new Budget(plenty)
    const settings = { maxBytes, budget, timeout: "1 second" } as const
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 4 }), (bodies) => {
        const gathers = bodies.map(({ expected }) => new Gather(settings, expected, (bytes) => Buffer.from(bytes)))
        for (const gather of gathers) assert.isUndefined(gather.start())
        const longest = Math.max(...bodies.map(({ chunks }) => chunks.length))
        for (let i = 0; i < longest; i++) {
          gathers.forEach((gather, which) => {
            const chunk = bodies[which]?.chunks[i]
            if (chunk !== undefined) assert.isUndefined(gather.add(chunk))
          })
        }
        gathers.forEach((gather, which) => {
          const { bytes } = bodies[which] ?? { bytes: new Uint8Array(0) }
          assert.isTrue(gather.value.equals(bytes))
          gather.release()
        })
        assert.isTrue(isWhole(budget))
      }),
      { numRuns: 25 }
    )
  })

  it("stops at the limit of a body and at that of all, to the byte", () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 5000 }), cuts, fc.boolean(), (size, places, all) => {
      const run = (limit: number) => {
        const budget = new Budget(all ? limit : plenty)
        const settings = { maxBytes: all ? maxBytes : limit, budget, timeout: "1 second" } as const
        const gather = new Gather(settings, 0, ({ length }) => length)
        assert.isUndefined(gather.start())
        const failures = cut(new Uint8Array(size), places).map((chunk) => gather.add(chunk)?.reason)
        return failures.find((reason) => reason !== undefined)
      }
      assert.isUndefined(run(size))
      assert.strictEqual(run(size - 1), all ? "Busy" : "TooLarge")
    }))
  })
})

describe("Budget", () => {
  const total = (buffers: ReadonlyArray<Uint8Array>) => buffers.reduce((sum, { length }) => sum + length, 0)

  it("keeps no more buffers than it may, and hands none out twice", () => {
    const budget = new Budget(plenty)
    const wantedSizes = fc.array(fc.integer({ min: 1, max: 6_000_000 }), { maxLength: 8 })
    const property = fc.property(wantedSizes, (wanted) => {
      const lent = wanted.map((bytes) => budget.lend(bytes))
      lent.forEach((buffer, i) => {
        const bytes = wanted[i] ?? 0
        assert.isTrue(buffer.length >= bytes && buffer.length <= 2 * bytes, `${buffer.length} for ${bytes}`)
      })
      assert.strictEqual(new Set(lent).size, lent.length)
      for (const buffer of lent) budget.takeBack(buffer)
      const again = wanted.map((bytes) => budget.lend(bytes)).filter((buffer) => lent.includes(buffer))
      assert.isAtMost(total(again), 4_194_304)
    })
    fc.assert(property, { numRuns: 20 })
  })

  it("[field HTP-29] is true of what bodies hold that come in small pieces, whatever is left of large ones", () => {
    const budget = new Budget(plenty)
    budget.takeBack(new Uint8Array(4_194_304))
    const held = Array.from({ length: 100 }, () => budget.lend(10))
    assert.isAtMost(total(held), 2000)
  })
})

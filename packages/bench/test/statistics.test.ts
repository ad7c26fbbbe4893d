import { assert, it } from "@effect/vitest"
import * as fc from "fast-check"
import { quantile, ratios, summarize } from "../src/statistics.ts"

it("summarizes numbers by their median and the quarters around it, in whatever order they come", () => {
  assert.deepStrictEqual(summarize([5, 1, 4, 2, 3]), { median: 3, low: 2, high: 4 })
  assert.deepStrictEqual(summarize([4, 1, 2, 3]), { median: 2.5, low: 1.75, high: 3.25 })
})

it("gives the smallest and the largest number at the ends, and nothing outside of them", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer(), { minLength: 1 }),
      fc.float({ min: 0, max: 1, noNaN: true }),
      (numbers, part) => {
        const sorted = numbers.toSorted((a, b) => a - b)
        const [first = 0] = sorted
        const last = sorted.at(-1) ?? 0
        const at = quantile(sorted, part)
        assert.strictEqual(quantile(sorted, 0), first)
        assert.strictEqual(quantile(sorted, 1), last)
        assert.isTrue(first <= at && at <= last)
      }
    )
  )
})

it("compares with the same round, not with the middle of all", () => {
  assert.deepStrictEqual(ratios([10, 40], [5, 10]), [2, 4])
  assert.isNaN(ratios([10, 40], [5])[1])
})

import { assert, describe, it } from "@effect/vitest"
import { asFloor, flat, linear, lineThrough, type Point } from "../src/growth/judge.ts"
import { brokenLine, header, lineOf } from "../src/growth/lines.ts"
import { type Bench, measure } from "../src/growth/series.ts"
import { inner } from "../src/growth/series/inner.ts"

const seen = (costs: Readonly<Record<number, number>>, noise = 0) => ({
  noise,
  points: Object.entries(costs).map(([size, cost]): Point => ({ size: Number(size), cost }))
})

describe("the verdict on growth", () => {
  it("finds a cost flat that is never a tenth above that of the smallest size", () => {
    assert.isTrue(flat(seen({ 1: 10, 100: 10.9, 10_000: 9 })).met)
    assert.deepStrictEqual(flat(seen({ 1: 10, 100: 11.5, 10_000: 11 })), { met: false, worst: 1.15 - 1, at: 100 })
  })

  it("finds a cost linear that is never a tenth below the line through its ends", () => {
    assert.isTrue(linear(seen({ 0: 5, 1: 6, 10: 15, 100: 105 })).met)
    assert.isTrue(linear(seen({ 0: 5, 1: 9, 10: 25, 100: 105 })).met)
    const squares = linear(seen({ 0: 5, 10: 5 + 100, 100: 5 + 10_000 }))
    assert.isFalse(squares.met)
    assert.strictEqual(squares.at, 10)
    assert.deepStrictEqual(lineThrough(seen({ 2: 9, 4: 13 }).points), { fixed: 5, each: 2 })
  })

  it("holds a cost against the floor, where that is asked", () => {
    const { points: beside } = seen({ 1: 5, 100: 50, 1000: 5000 })
    assert.isTrue(asFloor({ ...seen({ 1: 10, 100: 80, 1000: 10_900 }), beside }).met)
    assert.isFalse(asFloor({ ...seen({ 1: 10, 100: 80, 1000: 11_100 }), beside }).met)
    assert.isFalse(asFloor({ ...seen({ 1: 10, 100: 80, 10_000: 10 }), beside }).met)
    assert.isFalse(asFloor(seen({ 1: 10, 100: 10 })).met)
  })

  it("takes no deviation for one that the same size shows as well", () => {
    assert.isTrue(flat(seen({ 1: 10, 10: 11.5 }, 0.2)).met)
    assert.isFalse(flat(seen({ 1: 10, 10: 12.5 }, 0.2)).met)
  })

  it("is not met where there is no figure", () => {
    assert.isFalse(flat(seen({ 1: 10, 10: Number.NaN })).met)
    assert.isFalse(flat(seen({ 1: Number.NaN, 10: 10 })).met)
    assert.isFalse(linear(seen({ 1: 10, 10: Number.NaN, 100: 10 })).met)
    assert.isFalse(flat(seen({})).met)
    assert.isFalse(flat(seen({ 1: 10 })).met)
  })

  it("is told with the figure that decided it", () => {
    const line = lineOf({ shape: "flat", title: "a call" }, seen({ 1: 10, 2048: 12 }, 0.015))
    assert.deepStrictEqual(line.cells, [
      "a call: flat",
      "1: 10.00, 2 Ki: 12.00",
      "+1.5 %",
      "+20.0 % at 2 Ki",
      "",
      "MISSED"
    ])
    assert.lengthOf(line.cells, header.length)
    assert.isFalse(line.met)
    const broken = brokenLine({ shape: "flat", title: "a call" }, new Error("no answer"))
    assert.lengthOf(broken.cells, header.length)
    assert.isFalse(broken.met)
    assert.strictEqual(lineOf({ shape: "shown", title: "a call" }, seen({ 1: 10, 2: 12 })).cells.at(-1), "shown")
  })
})

describe("a measurement of growth", () => {
  it("takes the least of each size, gives each its turn, and measures the smallest twice", async () => {
    let now = 0
    let stopped = 0
    const order: Array<number> = []
    const make = (size: number): Promise<Bench> => {
      let turns = 0
      return Promise.resolve({
        run: (times) => {
          order.push(size)
          // Every other time something else takes as long again.
          now += times * size * (turns++ % 2 === 0 ? 20 : 10)
        },
        cpu: () => now,
        stop: () => {
          stopped++
          return Promise.resolve()
        }
      })
    }
    const result = await measure({
      sizes: [1, 5],
      make,
      effort: { rounds: 2, batches: 2, batch: 1, warmUp: 1 }
    })
    const turns = order.slice(-12)
    assert.deepStrictEqual(result, { noise: 0, points: [{ size: 1, cost: 10 }, { size: 5, cost: 50 }] })
    const besides = await measure({
      sizes: [1, 5],
      make,
      beside: (size) => make(size * 2),
      effort: { rounds: 1, batches: 2, batch: 1, warmUp: 1 }
    })
    assert.deepStrictEqual(besides.beside, [{ size: 1, cost: 20 }, { size: 5, cost: 100 }])
    assert.deepStrictEqual(besides.points, result.points)
    assert.deepStrictEqual(turns, [1, 1, 5, 1, 5, 1, 5, 1, 1, 1, 1, 5])
    assert.strictEqual(stopped, 3 + 5)
  })

  it("is of work that is done", { timeout: 20_000 }, async () => {
    for (const { make, sizes } of inner) {
      const bench = await make(sizes[1] ?? 1)
      await bench.run(2)
      await bench.stop?.()
    }
    assert.isAbove(inner.length, 0)
  })

  it("names each series once", () => {
    assert.lengthOf(new Set(inner.map(({ id }) => id)), inner.length)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { type Effort, numbers, partOf, quick } from "../src/effort.ts"
import { cpuRounds, timeRounds } from "../src/rounds.ts"
import type { Subject } from "../src/subject.ts"

const effort: Effort = { ...quick, rounds: 3, share: 20, warmUp: 20 }

interface Fake {
  /** Milliseconds that one costs. */
  readonly cost: number
  readonly failsAfter?: number
}

/** A program whose clock is counted, not measured. */
const fake = (name: string, log: Array<string>, { cost, failsAfter = Number.POSITIVE_INFINITY }: Fake): Subject => {
  let cpu = 0
  let runs = 0
  return {
    least: 2,
    cpu: () => cpu,
    run: async (count) => {
      if (runs++ >= failsAfter) throw new Error("it broke")
      log.push(name)
      cpu += count * cost
      return { units: count, latencies: [3, 1, 2] }
    },
    verify: async () => void log.push(`${name} verified`),
    stop: async () => void log.push(`${name} stopped`)
  }
}

describe("rounds", () => {
  it("let each have its share, one after the other and each time another first", async () => {
    const log: Array<string> = []
    const { failures, samples } = await cpuRounds(
      ["a", "b"],
      effort,
      async (key) => fake(key, log, { cost: key === "a" ? 1 : 4 })
    )
    assert.strictEqual(failures.size, 0)
    assert.deepStrictEqual(log.filter((line) => !line.includes(" ")).slice(-6), ["a", "b", "b", "a", "a", "b"])
    assert.deepStrictEqual(samples.get("a")?.map(({ value }) => value), [1000, 1000, 1000])
    assert.deepStrictEqual(samples.get("b")?.map(({ value }) => value), [4000, 4000, 4000])
    // 20 ms of processor time each, however long one takes.
    assert.deepStrictEqual(samples.get("a")?.map(({ units }) => units), [20, 20, 20])
    assert.deepStrictEqual(samples.get("b")?.map(({ units }) => units), [5, 5, 5])
    assert.deepStrictEqual(samples.get("a")?.map(({ p50 }) => p50), [2, 2, 2])
  })

  it("read answers before they count anything, and stop what they have started", async () => {
    const log: Array<string> = []
    await cpuRounds(["a", "b"], effort, async (key) => fake(key, log, { cost: 1 }))
    assert.strictEqual(log[0], "a verified")
    assert.deepStrictEqual(log.slice(-2).toSorted(), ["a stopped", "b stopped"])
  })

  it("go on without who fails, at the start or later, and say why", async () => {
    const log: Array<string> = []
    const { failures, samples } = await cpuRounds(["a", "b", "c"], effort, async (key) => {
      if (key === "b") throw new Error("not there")
      return fake(key, log, { cost: 1, ...(key === "c" ? { failsAfter: 4 } : {}) })
    })
    assert.deepStrictEqual(new Map(failures), new Map([["b", "not there"], ["c", "it broke"]]))
    assert.deepStrictEqual([...samples.keys()], ["a"])
    assert.strictEqual(samples.get("a")?.length, 3)
  })

  it("of the clock always do as many as they are told", async () => {
    const log: Array<string> = []
    const { samples } = await timeRounds(["a"], effort, 7, async (key) => fake(key, log, { cost: 1 }))
    assert.deepStrictEqual(samples.get("a")?.map(({ units }) => units), [7, 7, 7])
  })
})

describe("numbers", () => {
  it("come from each in each round, and from who fails not at all", async () => {
    let calls = 0
    const { failures, samples } = await numbers(["a", "b"], 2, async (key) => {
      if (key === "b" && ++calls === 2) throw new Error("once too often")
      return key.length
    })
    assert.deepStrictEqual(samples.get("a"), [{ value: 1 }, { value: 1 }])
    assert.isFalse(samples.has("b"))
    assert.strictEqual(failures.get("b"), "once too often")
  })
})

it("those take part that are named, or all", () => {
  assert.deepStrictEqual(partOf(["floor", "mcpfx", "sdk1"], { ...quick, only: ["sdk1", "floor"] }), ["floor", "sdk1"])
  assert.deepStrictEqual(partOf(["floor", "mcpfx"], quick), ["floor", "mcpfx"])
})

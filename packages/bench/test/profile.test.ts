import { assert, describe, it } from "@effect/vitest"
import { efforts, measure } from "../src/profile/measure.ts"
import { climb, ladders, osEfforts } from "../src/profile/os/ladder.ts"
import { type Path, step } from "../src/profile/path.ts"
import { each, lastKept } from "../src/profile/probe.ts"
import { partsOf, reportOf } from "../src/profile/rows.ts"
import { checkedText, ladderText, placed, reportText, table } from "../src/profile/text.ts"

const cost = (nanos: number, bytes: number) => ({ nanos, bytes })

const path = (steps: Path["steps"]): Path => ({
  id: "it",
  title: "it",
  reach: "from here to there",
  steps,
  whole: each((index) => index),
  verify: async () => {}
})

describe("what is made of what was measured", () => {
  const inner = step("inner", each((index) => index))
  const outer = step("outer", each((index) => index), [inner])

  it("a step that has others in it costs what they leave, and all are measured once", () => {
    assert.deepStrictEqual(partsOf([inner, outer]), [inner, outer])
    assert.deepStrictEqual(partsOf([outer]), [inner, outer])
    const costs = new Map([[inner, cost(30, 8)], [outer, cost(100, 24)]])
    const report = reportOf(path([inner, outer]), costs, cost(150, 40), cost(120, 40))
    assert.deepStrictEqual(report.steps, [
      { name: "inner", nanos: 30, bytes: 8 },
      { name: "outer", nanos: 70, bytes: 16 }
    ])
    assert.deepStrictEqual(report.sum, { name: "all steps", nanos: 100, bytes: 24 })
    assert.deepStrictEqual(report.between, { name: "between the steps", nanos: 20, bytes: 16 })
    assert.strictEqual(report.whole.nanos, 120)
    assert.strictEqual(report.noise, 0.25)
  })

  it("a step within a step is taken off at every level", () => {
    const outermost = step("outermost", each((index) => index), [outer])
    const costs = new Map([[inner, cost(30, 0)], [outer, cost(100, 0)], [outermost, cost(200, 0)]])
    const { steps } = reportOf(path([outermost]), costs, cost(200, 0), cost(200, 0))
    assert.deepStrictEqual(steps.map(({ nanos }) => nanos), [130])
  })

  it("tables have their words left and their numbers right", () => {
    assert.strictEqual(
      table(["step", "ns"], [["a", "1"], ["longer", "1234"]]),
      ["| step   |   ns |", "| ------ | ---: |", "| a      |    1 |", "| longer | 1234 |"].join("\n")
    )
  })

  it("a text goes where a document has a place for it, and takes the one before out", () => {
    const document = "a\n<!-- x:begin -->\nold\n<!-- x:end -->\nb\n"
    assert.strictEqual(placed(document, "x", "new"), "a\n<!-- x:begin -->\n\nnew\n\n<!-- x:end -->\nb\n")
    assert.isUndefined(placed(document, "y", "new"))
  })

  it("texts say what the whole is, the noise and the share", () => {
    const report = reportOf(path([inner]), new Map([[inner, cost(50, 8)]]), cost(100, 16), cost(110, 16))
    const text = reportText(report)
    for (const part of ["### it", "from here to there", "10 % apart", "50 %", "the whole"]) assert.include(text, part)
    const checked = { title: "it", base: { name: "", nanos: 100, bytes: 8 }, noise: 4 }
    const paid = [{ name: "more", when: "always", nanos: 20, bytes: 8 }, {
      name: "less",
      when: "never",
      nanos: -3,
      bytes: 0
    }]
    const words = checkedText({ ...checked, paid })
    for (const part of ["+20", "−3", "Less than 4 ns is noise", "always"]) assert.include(words, part)
    const rung = ladders[0]?.rungs.find(({ name }) => name === "floor")
    if (rung === undefined) return assert.fail("no floor")
    const used = [{ rung, micros: 2, median: 3, collecting: 0 }, {
      rung: { ...rung, name: "x" },
      micros: 5,
      median: 6,
      collecting: 0
    }]
    assert.include(ladderText("it", used), "2.50×")
  })
})

describe("measuring", () => {
  it("counts the bytes that are left behind, and gives as many costs as there are probes", async () => {
    const costs = await measure([each((index) => index), each((index) => Array.from({ length: 64 }, () => index))], {
      ...efforts.quick,
      batches: 2,
      warmUp: 5,
      looks: 1
    })
    assert.strictEqual(costs.length, 2)
    assert.isAbove(costs[1]?.nanos ?? 0, costs[0]?.nanos ?? Number.NaN)
  })

  it("keeps what a probe gives, so that nothing is optimised away", async () => {
    await each((index) => index * 2).run(4)
    assert.strictEqual(lastKept(), 6)
  })

  it("a ladder of one step of each transport says what was used", { timeout: 60_000 }, async () => {
    const rungs = ladders.flatMap(({ id, rungs }) =>
      id === "os-stdio" || id === "os-http" ? rungs.filter(({ name }) => name === "Node" || name === "node:http") : []
    )
    const used = await climb(rungs, osEfforts.once)
    assert.deepStrictEqual(used.map(({ rung }) => rung.transport), ["stdio", "http"])
    for (const { micros } of used) assert.isAbove(micros, 0)
  })
})

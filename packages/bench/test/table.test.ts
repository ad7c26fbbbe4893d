import { assert, describe, it } from "@effect/vitest"
import { type Contender, contenders } from "../src/contenders.ts"
import type { Measured, Sample } from "../src/effort.ts"
import { quick } from "../src/effort.ts"
import { type Machine, resultsOf, versionsIn } from "../src/results.ts"
import { allBut, atMost, atMostWhere, needsModern, needsStdio, noBudgets, type Row, times } from "../src/row.ts"
import * as Table from "../src/table.ts"

const row = (fields: Partial<Row> = {}): Row => ({
  id: "it",
  title: "the work",
  unit: "ms/1000",
  ...allBut(needsStdio),
  against: "floor",
  budgets: times(3),
  measure: () => Promise.reject(new Error("not here")),
  verify: () => Promise.resolve(),
  ...fields
})

const of = (...values: ReadonlyArray<number>): ReadonlyArray<Sample> => values.map((value) => ({ value }))

const measured = (
  samples: Partial<Record<Contender, ReadonlyArray<Sample>>>,
  rest: Partial<Measured<Contender>> = {}
): Measured<Contender> => ({
  samples: new Map(contenders.flatMap((name) => samples[name] === undefined ? [] : [[name, samples[name]] as const])),
  failures: new Map(),
  ...rest
})

const cell = (line: Table.Line, contender: Contender) => line[2 + contenders.indexOf(contender)]

describe("a line", () => {
  it("shows the floor as it is and the others against it, round by round", () => {
    const line = Table.lineOf(row(), measured({ floor: of(10, 20, 10), mcpfx: of(20, 40, 20) }))
    assert.strictEqual(cell(line, "floor"), "10.0 (10.0–15.0)")
    assert.strictEqual(cell(line, "mcpfx"), "2.00× [20.0]")
    assert.deepStrictEqual(line.slice(-2), ["≤ 3×", "met"])
  })

  it("has a dash where there is nothing to show", () => {
    const line = Table.lineOf(row(), measured({ floor: of(1) }))
    assert.strictEqual(cell(line, "mcpfxNode"), "–")
    assert.strictEqual(cell(line, "sdk1"), "–")
  })

  it("compares each with itself where that is what counts, the floor too", () => {
    const line = Table.lineOf(
      row({ against: "itself", budgets: noBudgets }),
      measured({ floor: of(3), mcpfx: of(12) }, { bases: new Map([["floor", of(2)], ["mcpfx", of(10)]]) })
    )
    assert.strictEqual(cell(line, "floor"), "1.50× [3.00]")
    assert.strictEqual(cell(line, "mcpfx"), "1.20× [12.0]")
    assert.deepStrictEqual(line.slice(-2), ["–", ""])
  })

  it("shows plain numbers where the floor has no part in it", () => {
    const line = Table.lineOf(
      row({ against: "nothing", budgets: atMost(100) }),
      measured({ floor: of(60), mcpfx: of(101) })
    )
    assert.strictEqual(cell(line, "mcpfx"), "101")
    assert.deepStrictEqual(line.slice(-2), ["≤ 100", "MISSED"])
  })

  it("has as many cells as the header", () => {
    assert.strictEqual(Table.lineOf(row(), measured({})).length, Table.header.length)
    assert.strictEqual(
      Table.clockLineOf(row(), measured({ floor: [{ value: 1, perSecond: 9 }] }))?.length,
      Table.clockHeader.length
    )
  })
})

describe("a budget", () => {
  const both = row({ ...allBut(), budgets: times(3, 1.8) })

  it("is kept only where all that have one keep it", () => {
    assert.isTrue(Table.isMet(both, measured({ floor: of(1), mcpfx: of(3), mcpfxNode: of(1.8) })))
    assert.isFalse(Table.isMet(both, measured({ floor: of(1), mcpfx: of(3), mcpfxNode: of(1.9) })))
    assert.isFalse(Table.isMet(both, measured({ floor: of(1), mcpfx: of(3.1), mcpfxNode: of(1) })))
  })

  it("is missed by who failed, and nothing is said of who was left out", () => {
    const failures = new Map<Contender, string>([["mcpfxNode", "it broke"]])
    assert.isFalse(Table.isMet(both, measured({ floor: of(1), mcpfx: of(1) }, { failures })))
    assert.isTrue(Table.isMet(both, measured({ floor: of(1), mcpfx: of(1) })))
    assert.isUndefined(Table.isMet(both, measured({ floor: of(1) })))
    assert.isUndefined(Table.isMet(row({ budgets: noBudgets }), measured({ floor: of(1), mcpfx: of(9) })))
  })

  it("that was set on another machine goes with the floor", () => {
    const cold = row({ budgets: atMostWhere(200, 50) })
    assert.isTrue(Table.isMet(cold, measured({ floor: of(100), mcpfx: of(400) })))
    assert.isFalse(Table.isMet(cold, measured({ floor: of(25), mcpfx: of(101) })))
  })
})

describe("what passed by the clock", () => {
  it("is the middle of the rounds, with latencies where there are some", () => {
    const line = Table.clockLineOf(
      row(),
      measured({
        floor: [{ value: 1, perSecond: 900, p50: 1, p99: 3 }, { value: 1, perSecond: 1100, p50: 2, p99: 5 }],
        mcpfx: [{ value: 1, perSecond: 50 }]
      })
    )
    assert.deepStrictEqual(line?.slice(0, 3), ["the work", "1000, 1.50, 4.00", "50.0"])
  })

  it("is not shown where nobody looked at the clock", () => {
    assert.isUndefined(Table.clockLineOf(row(), measured({ floor: of(1) })))
  })
})

it("a table is Markdown with columns of one width", () => {
  assert.strictEqual(
    Table.format([["a", "bb"], ["ccc", "d"]]),
    ["| a   | bb |", "|-----|----|", "| ccc | d  |"].join("\n")
  )
})

it("a table has no columns of contenders that have nothing in it", () => {
  const lines = [
    Table.lineOf(row({ budgets: noBudgets }), measured({ floor: of(1), mcpfx: of(2) })),
    Table.lineOf(row({ budgets: noBudgets }), measured({ floor: of(1), sdk2: of(9) }))
  ]
  const [head, first, second] = Table.withoutAbsent([Table.header, ...lines])
  assert.deepStrictEqual(head, ["work", "unit", "floor", "mcpfx", "SDK v2", "budget", ""])
  assert.deepStrictEqual(first?.slice(2), ["1.00", "2.00× [2.00]", "–", "–", ""])
  assert.deepStrictEqual(second?.slice(2), ["1.00", "–", "9.00× [9.00]", "–", ""])
})

it("notes say once for each reason where it holds", () => {
  const failures = new Map<Contender, string>([["fastmcp", " it broke "]])
  const notes = Table.notesOf([
    { row: row({ id: "a", ...allBut(needsModern) }), measured: measured({}) },
    { row: row({ id: "b", ...allBut(needsModern, needsStdio) }), measured: measured({}, { failures }) }
  ])
  assert.deepStrictEqual(notes, [
    "SDK v1: does not speak 2026-07-28 (a, b)",
    "FastMCP: does not speak 2026-07-28 (a, b)",
    "mcpfx, NodeListener: serves HTTP only (b)",
    "FastMCP: it broke (b)"
  ])
})

it("notes say nothing of contenders that were left out", () => {
  const all = [{ row: row({ id: "a", ...allBut(needsModern, needsStdio) }), measured: measured({}) }]
  assert.deepStrictEqual(Table.notesOf(all, ["floor", "mcpfxNode"]), ["mcpfx, NodeListener: serves HTTP only (a)"])
})

describe("the file", () => {
  const machine: Machine = { node: "v24", cpu: "fast", cores: 2, commit: "abc", versions: { fastmcp: "1.2.3" } }
  const samples = [{ value: 2, units: 10, perSecond: 5, p50: 1, p99: 2 }, { value: 4 }]
  const failures = new Map<Contender, string>([["sdk1", "it broke"]])
  const how = { quick: true, effort: quick, at: new Date(0) }
  const done = { row: row(), measured: measured({ floor: of(1, 2), mcpfx: samples }, { failures }) }
  const file = JSON.parse(resultsOf(machine, how, [done]))

  it("has every sample of every round, and what was made of them", () => {
    const [only] = file.rows
    assert.deepStrictEqual(only.contenders.mcpfx.samples, samples)
    assert.strictEqual(only.contenders.mcpfx.ratio.median, 2)
    assert.strictEqual(only.budget, "≤ 3×")
    assert.isTrue(only.met)
    assert.deepStrictEqual(only.absent, { mcpfxNode: "serves HTTP only", sdk1: "it broke" })
  })

  it("says what it was measured on", () => {
    assert.strictEqual(file.at, "1970-01-01T00:00:00.000Z")
    assert.deepInclude(file, { ...machine, quick: true })
  })

  it("names exact versions", () => {
    const manifest = { dependencies: { a: "1.0.0", b: "catalog:", c: "workspace:^" } }
    assert.deepStrictEqual(versionsIn(JSON.stringify(manifest)), { a: "1.0.0" })
  })
})

/**
 * `npm run bench`: mcpfx beside its peers, on the work of the budget table.
 *
 * - `--quick` takes fewer and shorter rounds, and says what it leaves out
 * - `--rows stdio,heap` measures the rows whose ids start with one of these
 * - `--only mcpfx,sdk1` leaves out other contenders; the floor always runs
 * - `--rounds 15` takes that many rounds
 * - `--json FILE` writes every sample there instead of to `packages/bench/dist/results.json`
 * - `--strict` ends with code 1 when a budget is missed
 * - `--cpu` takes processor time for the cold start
 * - `--no-build` measures the packages as they were compiled last
 */
import { root } from "@mcpfx/tooling/root"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { compile, contenders, out } from "./contenders.ts"
import * as Effort from "./effort.ts"
import { asked, chosenOf, countOf, flagsOf, namesOf } from "./flags.ts"
import { buildAsPublished } from "./packages.ts"
import { type Done, machine, resultsOf } from "./results.ts"
import type { Row } from "./row.ts"
import { rows } from "./rows/all.ts"
import * as Table from "./table.ts"

const read = () => {
  const values = flagsOf({
    rows: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string" },
    json: { type: "string" },
    quick: { type: "boolean", default: false },
    strict: { type: "boolean", default: false },
    cpu: { type: "boolean", default: false },
    "no-build": { type: "boolean", default: false }
  })
  return {
    values,
    chosen: chosenOf("rows", values.rows, rows),
    only: values.only === undefined ? undefined : namesOf("only", values.only, contenders),
    rounds: values.rounds === undefined ? undefined : countOf("rounds", values.rounds)
  }
}

const { chosen, only, rounds, values } = asked(read)

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(0)} s`

const usual = values.quick ? Effort.quick : Effort.full
const effort = {
  ...usual,
  rounds: rounds ?? usual.rounds,
  starts: rounds ?? usual.starts,
  only: only === undefined ? usual.only : ["floor", ...only]
}

const measured = async (row: Row): Promise<Done> => {
  const started = performance.now()
  const done = { row, measured: await row.measure(effort) }
  const [, , ...cells] = Table.lineOf(row, done.measured)
  console.error(`${row.id}: ${cells.join(" | ")} (${seconds(started)})`)
  return done
}

const print = (all: ReadonlyArray<Done>): void => {
  const lines = all.map(({ measured, row }) => Table.lineOf(row, measured))
  console.log(Table.format(Table.withoutAbsent([Table.header, ...lines])))
  const clock = all.flatMap(({ measured, row }) => {
    const line = Table.clockLineOf(row, measured)
    return line === undefined ? [] : [line]
  })
  if (clock.length > 0) console.log(`\n${Table.format(Table.withoutAbsent([Table.clockHeader, ...clock]))}`)
  console.log("")
  for (const note of Table.notesOf(all, effort.only)) console.log(note)
  if (values.quick) console.log(`A quick run has ${Effort.leftOut.join("; ")}.`)
}

const started = performance.now()
if (!values["no-build"]) await buildAsPublished()
await compile()
const file = resolve(values.json ?? join(out(), "results.json"))
mkdirSync(dirname(file), { recursive: true })
const all: Array<Done> = []
for (const row of chosen) all.push(await measured(row))
print(all)
writeFileSync(file, resultsOf(machine(root), { quick: values.quick, effort, at: new Date() }, all))
console.log(`Every sample is in ${file}. It took ${seconds(started)}.`)
const missed = all.some(({ measured, row }) => Table.isMet(row, measured) === false)
process.exitCode = values.strict && missed ? 1 : 0

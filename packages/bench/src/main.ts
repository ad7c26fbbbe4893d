/**
 * `npm run bench`: mcpfx beside its peers, on the work of the budget table.
 *
 * - `--rows stdio,heap` measures the rows whose ids start with one of these
 * - `--quick` takes fewer and shorter rounds
 * - `--only mcpfx,sdk1` leaves out other contenders; the floor always runs
 * - `--rounds 15` takes that many rounds
 * - `--stage final` judges by the final budgets
 * - `--strict` ends with code 1 when a budget is missed
 * - `--cpu` takes processor time for the cold start
 */
import { spawnSync } from "node:child_process"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { compile } from "./contenders.ts"
import { efforts } from "./rounds.ts"
import type { Row } from "./row.ts"
import { httpRows } from "./rows/http.ts"
import { memoryRows } from "./rows/memory.ts"
import { startRows } from "./rows/start.ts"
import { stdioRows } from "./rows/stdio.ts"
import { format, header, lineOf } from "./table.ts"

const { values } = parseArgs({
  options: {
    rows: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string" },
    quick: { type: "boolean", default: false },
    stage: { type: "string", default: "first" },
    strict: { type: "boolean", default: false },
    cpu: { type: "boolean", default: false },
    "no-build": { type: "boolean", default: false }
  }
})

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")

const buildPackages = (): void => {
  const { status } = spawnSync(process.execPath, [join(root, "packages/tooling/src/build.ts")], { stdio: "inherit" })
  if (status !== 0) throw new Error("the packages do not compile")
}

const split = (text: string | undefined): ReadonlyArray<string> | undefined => text?.split(",")

const wanted = split(values.rows)

const rows = [...stdioRows, ...httpRows, ...memoryRows, ...startRows]
  .filter(({ id }) => wanted === undefined || wanted.some((start) => id.startsWith(start)))

const usual = efforts[values.quick ? "quick" : "full"]
const effort = { ...usual, rounds: Number(values.rounds ?? usual.rounds), only: split(values.only) }
const stage = values.stage === "final" ? "final" : "first"

const measured = async (row: Row): Promise<ReturnType<typeof lineOf>> => {
  const started = performance.now()
  const line = lineOf(row, await row.measure(effort), stage)
  const seconds = ((performance.now() - started) / 1000).toFixed(0)
  console.error(`${row.id}: ${line.cells.slice(1).join(" | ")} (${seconds} s)`)
  return line
}

if (!values["no-build"]) buildPackages()
await compile()
const lines: Array<ReturnType<typeof lineOf>> = []
for (const row of rows) lines.push(await measured(row))
console.log(format([header, ...lines.map(({ cells }) => cells)]))
for (const note of lines.flatMap(({ notes }) => notes)) console.log(note)
process.exitCode = values.strict && lines.some(({ met }) => !met) ? 1 : 0

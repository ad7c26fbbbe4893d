/**
 * The whole test run: `npm test`. Prints the time of each stage, the output of what failed, the table of suites by
 * revision and transport, what could not be run here, and as its last line the sum.
 *
 * `npm test -- --only types,lint` runs some stages only; arguments after that go to the test runner.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { matrixTable, readExpected, readRows } from "./matrixTable.ts"
import { root } from "./root.ts"
import { docs } from "./stages/docs.ts"
import { format } from "./stages/format.ts"
import { house } from "./stages/house.ts"
import { lint } from "./stages/lint.ts"
import type { Outcome, Run, Stage } from "./stages/stage.ts"
import { traceStage } from "./stages/traceStage.ts"
import { typeCheck } from "./stages/typeCheck.ts"
import { typeTests } from "./stages/typeTests.ts"
import { unitTests } from "./stages/unitTests.ts"
import { chooseStages } from "./testArguments.ts"
import { readCatalogue } from "./trace/catalogue.ts"
import { summary, trace } from "./trace/trace.ts"
import { passedTitles, readReport } from "./vitestReport.ts"

const stages: ReadonlyArray<Stage> = [typeCheck, lint, format, house, traceStage, unitTests, typeTests, docs]

const say = (line: string): void => void process.stdout.write(`${line}\n`)

const verdict = ({ failed, passed }: Outcome): string => {
  if (failed > 0) return "FAILED"
  return passed === 0 ? "none" : "ok"
}

const runStage = async (stage: Stage, run: Run): Promise<Outcome> => {
  const start = performance.now()
  const outcome = await stage.run(run).catch((error: unknown): Outcome => ({
    passed: 0,
    failed: 1,
    output: `${String(error)}\n`
  }))
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  if (outcome.failed > 0 || outcome.show === true) process.stdout.write(outcome.output)
  say(`${stage.name.padEnd(12)} ${verdict(outcome).padEnd(6)} ${seconds.padStart(6)} s`)
  return outcome
}

const linesOf = (file: string): Array<string> =>
  existsSync(file) ? readFileSync(file, "utf8").split("\n").filter((line) => line !== "") : []

/** Prints the table; answers how many required squares nobody filled in a run of all tests. */
const printMatrix = ({ args, scratch }: Run): number => {
  const { absent, lines } = matrixTable(readExpected(root), readRows(join(scratch, "matrix")))
  say("\nsuites by revision and transport")
  for (const line of lines) say(line)
  if (args.length > 0) return 0
  for (const line of absent) say(`required, and missing: ${line}`)
  return absent.length
}

/** Prints how many ids are named by a test that passed. */
const printTrace = ({ scratch }: Run): void => {
  const report = join(scratch, "vitest.json")
  if (!existsSync(report)) return
  const titles = passedTitles(readReport(report)).filter(({ place }) => !place.includes("packages/tooling/"))
  say(`\nby passing tests: ${summary(trace(readCatalogue(root), titles))}`)
}

const main = async (scratch: string): Promise<number> => {
  const { args, chosen } = chooseStages(stages, process.argv.slice(2))
  const run: Run = { root, scratch, args }
  const outcomes: Array<Outcome> = []
  for (const stage of chosen) outcomes.push(await runStage(stage, run))
  const absent = chosen.includes(unitTests) ? printMatrix(run) : 0
  if (chosen.includes(unitTests)) printTrace(run)
  const told = [...outcomes.flatMap((outcome) => outcome.leftOut ?? []), ...linesOf(join(scratch, "left-out.txt"))]
  for (const line of new Set(told)) say(`left out: ${line}`)
  const sum = (part: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + part(outcome), 0)
  const failed = sum((outcome) => outcome.failed) + absent
  say(`${sum((outcome) => outcome.passed)} passed, ${failed} failed`)
  return failed === 0 ? 0 : 1
}

const scratch = mkdtempSync(join(tmpdir(), "mcpfx-test-"))
try {
  process.exitCode = await main(scratch)
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

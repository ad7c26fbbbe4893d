/**
 * Runs the official conformance suite against the fixtures: a line a scenario, and a closing `N passed, N failed`.
 *
 * Without arguments the sets that 2025-11-25 and 2026-07-28 require are run, on both sides. `--full` runs every scenario of
 * the current suite and of the older one. `--suite V`, `--leg server|client`, `--revision R` (`default`: the suite's own
 * choice) and `--scenario NAME` narrow the run; `--verbose` prints what failing scenarios said.
 */
import { parseArgs } from "node:util"
import { isWell, judge, type Verdict } from "./baseline.ts"
import { runTask } from "./runTask.ts"
import { startServer } from "./server.ts"
import { all, current, type Leg, older, required, revisions, type Task } from "./suite.ts"

const { values } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
    suite: { type: "string" },
    leg: { type: "string" },
    revision: { type: "string" },
    scenario: { type: "string" }
  }
})

const legs: ReadonlyArray<Leg> = ["server", "client"]
const lanes = 2

const plan = async (): Promise<Array<Task>> => {
  const tasks = values.full
    ? (await Promise.all([current, older].flatMap((suite) => legs.map((leg) => all(suite, leg))))).flat()
    : revisions.flatMap((revision) => legs.flatMap((leg) => required(leg, revision)))
  return tasks.filter((task) =>
    (values.suite === undefined || task.suite.version === values.suite) &&
    (values.leg === undefined || task.leg === values.leg) &&
    (values.revision === undefined || (task.revision ?? "default") === values.revision) &&
    (values.scenario === undefined || task.scenario === values.scenario)
  )
}

const lineOf = (task: Task, verdict: Verdict): string =>
  `${isWell(verdict) ? "ok  " : "FAIL"} ${task.suite.version} ${task.leg} ${
    task.revision ?? "default"
  } ${task.scenario}` +
  (verdict === "passed" ? "" : ` (${verdict})`)

const main = async (): Promise<void> => {
  const tasks = await plan()
  const server = await startServer()
  const counts = { passed: 0, failed: 0 }
  const queue = [...tasks]
  const lane = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      const { output, passed } = await runTask(task, server.url)
      const verdict = judge(task, passed)
      counts[isWell(verdict) ? "passed" : "failed"]++
      console.log(lineOf(task, verdict))
      if (!isWell(verdict) && (values.verbose || process.env["CI"] !== undefined)) console.log(output)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  await server.stop()
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed === 0 && tasks.length > 0 ? 0 : 1
}

await main()

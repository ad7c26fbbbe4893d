/**
 * Runs the official conformance suite against the fixtures: a line a scenario, and a closing `N passed, N failed`.
 *
 * Without arguments the sets that 2025-11-25 and 2026-07-28 require are run, on both sides, with all that both versions of
 * the suite have on authorization, for clients and for authorization servers. `--full` runs every scenario of the current
 * suite and of the older one. `--suite V`, `--leg server|client|authorization`, `--revision R` (`default`: the suite's own
 * choice) and `--scenario NAME` (`auth/`: all that begin so) narrow the run; `--verbose` prints what failing scenarios said;
 * `--listener` has the server behind the listener of the package node.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { onSignal } from "../exec.ts"
import { packed } from "../packed.ts"
import { root } from "../root.ts"
import { runAuthorization } from "./authorization.ts"
import { isWell, judge, type Verdict } from "./baseline.ts"
import { type Outcome, runTask } from "./runTask.ts"
import { startServer } from "./server.ts"
import { all, authorization, current, isOfAuth, older, required, revisions, type Task } from "./suite.ts"

const { values } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
    listener: { type: "boolean", default: false },
    suite: { type: "string" },
    leg: { type: "string" },
    revision: { type: "string" },
    scenario: { type: "string" }
  }
})

const legs = ["server", "client"] as const
/** Scenarios wait for more than half of their time. */
const lanes = 4

const keyOf = ({ leg, revision, scenario, suite }: Task): string =>
  [suite.version, leg, revision ?? "default", scenario].join(" ")

const isAsked = (scenario: string, asked: string | undefined): boolean =>
  asked === undefined || scenario === asked || (asked.endsWith("/") && scenario.startsWith(asked))

const plan = async (): Promise<Array<Task>> => {
  const asked = values.full ? legs : ["client"] as const
  const every = (await Promise.all([current, older].flatMap((suite) => asked.map((leg) => all(suite, leg))))).flat()
  const usual = revisions.flatMap((revision) => legs.flatMap((leg) => required(leg, revision)))
  const tasks = [...values.full ? every : [...usual, ...every.filter(isOfAuth)], ...authorization]
  return [...new Map(tasks.map((task) => [keyOf(task), task])).values()].filter((task) =>
    (values.suite === undefined || task.suite.version === values.suite) &&
    (values.leg === undefined || task.leg === values.leg) &&
    (values.revision === undefined || (task.revision ?? "default") === values.revision) &&
    isAsked(task.scenario, values.scenario)
  )
}

const lineOf = (task: Task, verdict: Verdict): string =>
  `${isWell(verdict) ? "ok  " : "FAIL"} ${keyOf(task)}` + (verdict === "passed" ? "" : ` (${verdict})`)

/** The client under test; each scenario starts it anew. */
const client = (): Promise<string> => packed(join(root, "packages/tooling/src/conformance/fixtureClient.ts"))

/** What several scenarios share: a server, and what is run all at once. Each is made when it is needed. */
const makeRunner = () => {
  let server: ReturnType<typeof startServer> | undefined
  let outcomes: ReturnType<typeof runAuthorization> | undefined
  return {
    run: async (task: Task): Promise<Outcome> => {
      if (task.leg === "client") return runTask(task, { client: await client() })
      if (task.leg === "server") {
        return runTask(task, { server: (await (server ??= startServer({ listener: values.listener }))).url })
      }
      return (await (outcomes ??= runAuthorization())).get(task.scenario) ?? { passed: false, output: "it did not run" }
    },
    stop: async (): Promise<void> => (await server)?.stop()
  }
}

const main = async (): Promise<void> => {
  const folder = mkdtempSync(join(tmpdir(), "mcpfx-conformance-"))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  process.once("exit", remove)
  onSignal(remove)
  // The same few programs are started over and over: they compile once.
  process.env["NODE_COMPILE_CACHE"] = join(folder, "compiled")
  const tasks = await plan()
  const runner = makeRunner()
  const counts = { passed: 0, failed: 0 }
  const queue = [...tasks]
  const lane = async (): Promise<void> => {
    for (let task = queue.shift(); task !== undefined; task = queue.shift()) {
      const { output, passed } = await runner.run(task)
      const verdict = judge(task, passed)
      counts[isWell(verdict) ? "passed" : "failed"]++
      console.log(lineOf(task, verdict))
      if (!isWell(verdict) && (values.verbose || process.env["CI"] !== undefined)) console.log(output)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  await runner.stop()
  console.log(`${counts.passed} passed, ${counts.failed} failed`)
  process.exitCode = counts.failed === 0 && tasks.length > 0 ? 0 : 1
}

await main()

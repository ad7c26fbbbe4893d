/** Runs one scenario in a process of its own, with a limit on its time; what it leaves running is killed with it. */
import { spawn } from "node:child_process"
import { program, type Task } from "./suite.ts"

/** How a scenario ended. */
export interface Outcome {
  readonly passed: boolean
  readonly output: string
}

const limit = 60_000

/** What a scenario is run against: the program of a client, or the address of a server. */
export type Subject = { readonly client: string } | { readonly server: string }

const argumentsOf = async ({ leg, revision, scenario, suite }: Task, subject: Subject): Promise<Array<string>> => [
  await program(suite),
  leg,
  ...("server" in subject ? ["--url", subject.server] : ["--command", `"${process.execPath}" "${subject.client}"`]),
  "--scenario",
  scenario,
  ...(revision === undefined ? [] : ["--spec-version", revision])
]

/** Kills a process and all of its group. */
const kill = (pid: number | undefined): void => {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // The group is gone already.
  }
}

/** Warnings are the suite's word for what it only recommends: they fail a client scenario and no server scenario. */
export const runTask = async (task: Task, subject: Subject): Promise<Outcome> => {
  const args = await argumentsOf(task, subject)
  return new Promise((settle) => {
    const child = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "pipe", "pipe"] })
    const chunks: Array<Buffer> = []
    const timer = setTimeout(() => {
      chunks.push(Buffer.from(`\ngave up after ${limit / 1000} s\n`))
      kill(child.pid)
    }, limit)
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.on("close", (code) => {
      clearTimeout(timer)
      kill(child.pid)
      settle({ passed: code === 0, output: Buffer.concat(chunks).toString("utf8") })
    })
  })
}

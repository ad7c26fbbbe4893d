/** Runs a command to its end. */
import { spawn } from "node:child_process"

export interface Ended {
  readonly code: number
  readonly output: string
}

/** Milliseconds after which a command is ended. */
const patience = 240_000

/** The groups of commands that run now: a signal to this process does not reach them. */
const groups = new Set<number>()

export const endAll = (): void => {
  for (const pid of groups) process.kill(-pid, "SIGKILL")
}

/** Never rejects: a command that cannot start ends with code 127. */
export const run = (command: string, args: ReadonlyArray<string>, cwd: string): Promise<Ended> =>
  new Promise((settle) => {
    // A group of its own, so that what it started can be ended with it.
    const child = spawn(command, [...args], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] })
    const { pid } = child
    if (pid !== undefined) groups.add(pid)
    const timer = setTimeout(() => {
      if (pid !== undefined) process.kill(-pid, "SIGKILL")
    }, patience)
    const chunks: Array<Buffer> = []
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.on("error", (error) => {
      clearTimeout(timer)
      settle({ code: 127, output: error.message })
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (pid !== undefined) groups.delete(pid)
      settle({ code: code ?? 1, output: Buffer.concat(chunks).toString("utf8").trim() })
    })
  })

/** Runs a command that has to succeed. */
export const must = async (command: string, args: ReadonlyArray<string>, cwd: string): Promise<void> => {
  const { code, output } = await run(command, args, cwd)
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}: ${output.slice(-2000)}`)
}

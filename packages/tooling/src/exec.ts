import { spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

/** How a command ended. `output` has both streams in the order of arrival; it is empty when they were inherited. */
export interface Ended {
  readonly code: number
  readonly output: string
}

export interface ExecOptions {
  readonly cwd?: string | undefined
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** Shows the output as it comes, rather than keeping it. */
  readonly inherit?: boolean | undefined
  /**
   * Milliseconds after which the command is killed, with all that it started, which its output then says. Without one it
   * may take for ever.
   */
  readonly timeout?: number | undefined
}

/** The groups of commands that run now: a signal to this process does not reach them. */
const groups = new Set<number>()

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const

/** Has a signal end what still runs, clean up and leave with code 1, where it would leave everything behind. */
export const onSignal = (cleanUp: () => void): void => {
  for (const signal of signals) {
    process.once(signal, () => {
      for (const pid of groups) process.kill(-pid, "SIGKILL")
      cleanUp()
      process.exit(1)
    })
  }
}

/** Runs a command to its end; never rejects: a command that cannot start ends with code 127. */
export const exec = (command: string, args: ReadonlyArray<string>, options: ExecOptions = {}): Promise<Ended> =>
  new Promise((settle) => {
    // A group of its own, so that what it started can be killed with it.
    const isGroup = options.timeout !== undefined && process.platform !== "win32"
    const child = spawn(command, args, {
      cwd: options.cwd,
      detached: isGroup,
      env: { ...process.env, ...options.env },
      stdio: ["ignore", options.inherit === true ? "inherit" : "pipe", options.inherit === true ? "inherit" : "pipe"]
    })
    const { pid } = child
    if (isGroup && pid !== undefined) groups.add(pid)
    const chunks: Array<Buffer> = []
    child.stdout?.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.stderr?.on("data", (chunk: Buffer) => chunks.push(chunk))
    child.on("error", (error) => settle({ code: 127, output: `${error.message}\n` }))
    const timer = options.timeout === undefined ? undefined : setTimeout(() => {
      chunks.push(Buffer.from(`killed after ${options.timeout} ms\n`))
      if (isGroup && pid !== undefined) process.kill(-pid, "SIGKILL")
      else child.kill("SIGKILL")
    }, options.timeout)
    child.on("close", (code) => {
      clearTimeout(timer)
      if (pid !== undefined) groups.delete(pid)
      settle({ code: code ?? 1, output: Buffer.concat(chunks).toString("utf8") })
    })
  })

const entryOf = (folder: string): string => {
  const manifest: unknown = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const bin = typeof manifest === "object" && manifest !== null && "bin" in manifest ? manifest.bin : undefined
  const entry: unknown = typeof bin === "object" && bin !== null ? Object.values(bin)[0] : bin
  if (typeof entry !== "string") throw new Error(`${folder} has no command`)
  return join(folder, entry)
}

/** Runs the command of a package that is installed at the root, with this Node. */
export const execBin = (
  root: string,
  name: string,
  args: ReadonlyArray<string>,
  options: ExecOptions = {}
): Promise<Ended> =>
  exec(process.execPath, [entryOf(join(root, "node_modules", name)), ...args], { cwd: root, ...options })

/** A process of its own for every program that is measured. */
import { type ChildProcess, spawn } from "node:child_process"
import type { Readable, Writable } from "node:stream"
import { probe, type Served, serverFile } from "./contenders.ts"

export interface Child {
  readonly process: ChildProcess
  readonly stdin: Writable
  readonly stdout: Readable
  readonly pid: number
  /** What it wrote to standard error; the end of it. */
  readonly errors: () => string
  /** Ends it and waits until it is gone. */
  readonly stop: () => Promise<void>
}

export interface StartOptions {
  readonly ipc: boolean
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts Node on a file. */
export const start = (file: string, args: ReadonlyArray<string>, options: StartOptions): Child => {
  const child = spawn(process.execPath, args.length === 0 ? [file] : [...args], {
    env: { ...process.env, ...options.env },
    stdio: ["pipe", "pipe", "pipe", ...(options.ipc ? ["ipc" as const] : [])]
  })
  const { pid, stderr, stdin, stdout } = child
  if (pid === undefined || stdin === null || stdout === null || stderr === null) throw new Error("it did not start")
  let errors = ""
  stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString("utf8")).slice(-4000)
  })
  stdin.on("error", () => {})
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  return {
    process: child,
    stdin,
    stdout,
    pid,
    errors: () => errors,
    stop: async () => {
      child.kill("SIGKILL")
      await gone
    }
  }
}

/** Starts a compiled program, with the probe in it. */
export const startProgram = (file: string, args: ReadonlyArray<string>): Child =>
  start(file, ["--conditions=mcpfx-dist", "--expose-gc", "--import", probe(), file, ...args], { ipc: true })

export interface ServerOptions {
  readonly transport: "stdio" | "http"
  readonly fillers?: number
  readonly depth?: number
  readonly stream?: boolean
  readonly extras?: boolean
}

/** Starts the server of a contender. */
export const startServer = (served: Served, options: ServerOptions): Child =>
  startProgram(serverFile(served), [
    options.transport,
    "0",
    `--fillers=${options.fillers ?? 0}`,
    `--depth=${options.depth ?? 0}`,
    ...(options.stream === true ? ["--stream"] : []),
    ...(options.extras === true ? ["--extras"] : [])
  ])

/** The next message of a process that has this member. */
export const told = (child: Child, member: string): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      if (typeof message !== "object" || message === null || !(member in message)) return
      child.process.off("message", onMessage)
      child.process.off("exit", onExit)
      resolve(Object.entries(message).find(([key]) => key === member)?.[1])
    }
    const onExit = () => reject(new Error(`the program ended: ${child.errors()}`))
    child.process.on("message", onMessage)
    child.process.once("exit", onExit)
  })

/** Where a server that was just started listens. */
export const portOf = async (child: Child): Promise<number> => Number(await told(child, "port"))

/** Bytes that are alive in the heap of a server. */
export const heapOf = async (child: Child): Promise<number> => {
  const answer = told(child, "heap")
  child.process.send("heap")
  return Number(await answer)
}

/** The error, with what the process said before it. */
export const failed = (child: Child, error: unknown): Error =>
  new Error(`${error instanceof Error ? error.message : String(error)} ${child.errors()}`)

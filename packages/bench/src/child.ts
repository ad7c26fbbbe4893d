/** A server in a process of its own, and what the system knows about that process. */
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import type { Readable, Writable } from "node:stream"
import { type Contender, probe, serverFile } from "./contenders.ts"

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

/** Starts Node on a file. */
export const start = (file: string, args: ReadonlyArray<string>, options: { readonly ipc: boolean }): Child => {
  const child = spawn(process.execPath, args.length === 0 ? [file] : [...args], {
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

export interface ServerOptions {
  readonly transport: "stdio" | "http"
  readonly fillers?: number
  readonly stream?: boolean
}

/** Starts the server of a contender, with the probe in it. */
export const startServer = (contender: Contender, options: ServerOptions): Child =>
  start(serverFile(contender), [
    "--conditions=mcpfx-dist",
    "--expose-gc",
    "--import",
    probe,
    serverFile(contender),
    options.transport,
    "0",
    `--fillers=${options.fillers ?? 0}`,
    ...(options.stream === true ? ["--stream"] : [])
  ], { ipc: true })

/** The next message of a process that has this member. */
export const told = (child: Child, member: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      if (typeof message !== "object" || message === null || !(member in message)) return
      child.process.off("message", onMessage)
      child.process.off("exit", onExit)
      resolve(Number(Object.entries(message).find(([key]) => key === member)?.[1]))
    }
    const onExit = () => reject(new Error(`the server ended: ${child.errors()}`))
    child.process.on("message", onMessage)
    child.process.once("exit", onExit)
  })

/** Bytes that are alive in the heap of a server. */
export const heapOf = (child: Child): Promise<number> => {
  const answer = told(child, "heap")
  child.process.send("heap")
  return answer
}

/** The fields of `/proc/<pid>/stat` after the name of the program, which may hold spaces. */
const statFields = (stat: string): ReadonlyArray<string> => stat.slice(stat.lastIndexOf(")") + 2).split(" ")

/** Milliseconds in one tick of the fields of `/proc/<pid>/stat`: Linux shows hundredths of a second, whatever it counts. */
export const tick = 10

/** Processor time in a line of `/proc/<pid>/stat`, user and system, all threads, in milliseconds. */
export const cpuIn = (stat: string): number => {
  const fields = statFields(stat)
  return (Number(fields[11]) + Number(fields[12])) * tick
}

export const cpuOf = (pid: number): number => cpuIn(readFileSync(`/proc/${pid}/stat`, "utf8"))

/** Memory of a process that is not swapped out, in bytes. */
export const rssOf = (pid: number): number => {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))
  return Number(line?.[1]) * 1024
}

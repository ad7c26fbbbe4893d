/**
 * What servers use of the processor by the word of the system, message by message: from one that does nothing up to the whole.
 * What the in-process figures leave out (sockets, pipes, the loop, the collector, caches gone cold) is in here.
 */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Http from "../../load/http.ts"
import { head, openSession, post } from "../../load/request.ts"
import * as Stdio from "../../load/stdio.ts"
import * as Messages from "../../messages.ts"

export interface Rung {
  readonly name: string
  /** What it has that the one before has not. */
  readonly adds: string
  readonly transport: "stdio" | "http"
  readonly version: Messages.Version
  /** The program and its arguments, below the sources of this package. */
  readonly program: ReadonlyArray<string>
  /** Whether it knows sessions. */
  readonly greets: boolean
}

export interface OsEffort {
  readonly rounds: number
  /** Messages of a round. */
  readonly count: number
  readonly warmUp: number
}

export const osEfforts = {
  full: { stdio: { rounds: 40, count: 4000, warmUp: 150_000 }, http: { rounds: 80, count: 300, warmUp: 15_000 } },
  quick: { stdio: { rounds: 20, count: 3000, warmUp: 80_000 }, http: { rounds: 30, count: 200, warmUp: 8000 } },
  once: { stdio: { rounds: 1, count: 64, warmUp: 64 }, http: { rounds: 1, count: 32, warmUp: 32 } }
} as const satisfies Record<string, Record<Rung["transport"], OsEffort>>

const answer = "{\"jsonrpc\":\"2.0\",\"id\":12345,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"12346\"}]}}"
const result = "{\"content\":[{\"type\":\"text\",\"text\":\"12346\"}]}"
const onNode = "profile/os/nodeServers.ts"
const onEffect = "profile/os/effectServers.ts"
const ours = "profile/os/ourServers.ts"

const legacy = "2025-11-25"
const modern = "2026-07-28"

const rung = (
  transport: Rung["transport"],
  version: Messages.Version,
  name: string,
  adds: string,
  program: ReadonlyArray<string>,
  greets = false
): Rung => ({ name, adds, transport, version, program, greets: greets && version === legacy })

const floor = (transport: Rung["transport"], version: Messages.Version): Rung =>
  rung(transport, version, "floor", "parse, look up, call, stringify", ["servers/floor.ts", transport, "0"], true)

const stdioRungs = (version: Messages.Version): ReadonlyArray<Rung> => [
  rung("stdio", version, "Node", "a line for a line", [onNode, "stdio-node", answer]),
  rung("stdio", version, "Node, again", "the same: the noise", [onNode, "stdio-node", answer]),
  rung("stdio", version, "Effect", "Effect's Stdio, stream and sink", [onEffect, "stdio-effect", answer]),
  floor("stdio", version),
  rung("stdio", version, "transport", "lines, JSON, envelope, bounds; one answer for all", [
    ours,
    "stdio-transport",
    result
  ]),
  rung("stdio", version, "server", "everything else", [ours, "stdio-server"], true)
]

const httpRungs = (version: Messages.Version): ReadonlyArray<Rung> => [
  rung("http", version, "node:http", "body read, one answer for all", [onNode, "http-node", answer]),
  rung("http", version, "node:http, again", "the same: the noise", [onNode, "http-node", answer]),
  floor("http", version),
  rung("http", version, "HttpRouter", "Effect's server and router, body read as above", [
    onEffect,
    "http-router",
    answer
  ]),
  rung("http", version, "HttpRouter, request.text", "body read by Effect", [onEffect, "http-router-text", answer]),
  rung("http", version, "transport", "guard, body, JSON, classified; one answer for all", [
    ours,
    "http-transport",
    result
  ]),
  rung("http", version, "server", "everything else", [ours, "http-server"], true),
  rung("http", version, "server, NodeListener", "without Effect's HTTP server", [ours, "http-listener"], true)
]

export const ladders: ReadonlyArray<
  { readonly id: string; readonly title: string; readonly rungs: ReadonlyArray<Rung> }
> = [
  { id: "os-stdio", title: "stdio, 64 in flight, 2025-11-25", rungs: stdioRungs(legacy) },
  { id: "os-stdio-modern", title: "stdio, 64 in flight, 2026-07-28", rungs: stdioRungs(modern) },
  { id: "os-http", title: "HTTP, 32 connections, 2025-11-25, JSON", rungs: httpRungs(legacy) },
  { id: "os-http-modern", title: "HTTP, 32 connections, 2026-07-28, JSON", rungs: httpRungs(modern) }
]

export interface Usage {
  /** Microseconds of the processor, user and system, all threads. */
  readonly micros: number
  /** Microseconds in the collector, by the clock on the wall. */
  readonly collecting: number
}

interface Running {
  readonly usage: () => Promise<Usage>
  readonly run: (count: number) => Promise<unknown>
  readonly stop: () => void
}

const source = fileURLToPath(new URL("../..", import.meta.url))

const member = (message: unknown, name: string): number | undefined =>
  typeof message === "object" && message !== null && name in message
    ? Number(Object.entries(message).find(([key]) => key === name)?.[1])
    : undefined

const begin = ([file = "", ...args]: ReadonlyArray<string>) => {
  const child = spawn(process.execPath, [
    "--disable-warning=ExperimentalWarning",
    "--import",
    join(source, "profile/os/probe.ts"),
    join(source, file),
    ...args
  ], { stdio: ["pipe", "pipe", "inherit", "ipc"] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error(`${file} did not start`)
  const told = <A>(read: (message: unknown) => A | undefined): Promise<A> =>
    new Promise((resolve, reject) => {
      const onMessage = (message: unknown) => {
        const value = read(message)
        if (value === undefined) return
        child.off("message", onMessage)
        child.off("exit", onExit)
        resolve(value)
      }
      const onExit = () => reject(new Error(`${file} ended`))
      child.on("message", onMessage)
      child.once("exit", onExit)
    })
  const usage = (): Promise<Usage> => {
    const answered = told((message) => {
      const used = member(message, "micros")
      return used === undefined ? undefined : { micros: used, collecting: member(message, "collecting") ?? 0 }
    })
    child.send("usage")
    return answered
  }
  return { pipe: { stdin, stdout }, told, usage, stop: () => void child.kill("SIGKILL") }
}

const startStdio = async ({ greets, program, version }: Rung): Promise<Running> => {
  const { pipe, stop, usage } = begin(program)
  const template = Messages.add(version)
  if (greets) {
    await Stdio.exchange(pipe, Messages.initialize)
    pipe.stdin.write(`${Messages.initialized}\n`)
  }
  let next = 1
  const run = (count: number) => {
    const first = next
    next += count
    return Stdio.run(pipe, { body: template.body, first, count, window: 64, least: 2 })
  }
  return { usage, run, stop }
}

const startHttp = async ({ greets, program, version }: Rung): Promise<Running> => {
  const { stop, told, usage } = begin(program)
  const template = Messages.add(version)
  const port = await told((message) => member(message, "port"))
  const connections = Array.from({ length: 32 }, () => new Http.Connection(port))
  const heads: Array<string> = []
  for (const connection of connections) {
    heads.push(head(port, template, greets ? await openSession(connection, port) : undefined))
  }
  let next = 1
  const request = (connection: number, id: number) => post(heads[connection] ?? "", template.body(id))
  const run = (count: number) => {
    const first = next
    next += count
    return Http.run({ connections, request, first, count })
  }
  return {
    usage,
    run,
    stop: () => {
      for (const connection of connections) connection.close()
      stop()
    }
  }
}

export interface Used {
  readonly rung: Rung
  /** Microseconds of the processor for one message: the least of all rounds. */
  readonly micros: number
  /** The middle of all rounds. */
  readonly median: number
  /** Microseconds in the collector for one message: over all rounds. */
  readonly collecting: number
}

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

/** Runs all of them in turn, in short rounds. */
export const climb = async (
  rungs: ReadonlyArray<Rung>,
  efforts: Record<Rung["transport"], OsEffort>
): Promise<ReadonlyArray<Used>> => {
  const running: Array<Running & { readonly rung: Rung; readonly rounds: Array<number>; collecting: number }> = []
  try {
    // Together, which a machine with cores to spare does sooner.
    await Promise.all(rungs.map(async (rung) => {
      const started = await (rung.transport === "http" ? startHttp(rung) : startStdio(rung))
      running.push({ ...started, rung, rounds: [], collecting: 0 })
      await started.run(efforts[rung.transport].warmUp)
    }))
    running.sort((a, b) => rungs.indexOf(a.rung) - rungs.indexOf(b.rung))
    const most = Math.max(...rungs.map(({ transport }) => efforts[transport].rounds))
    for (let round = 0; round < most; round++) {
      for (const one of running) {
        const { count } = efforts[one.rung.transport]
        const before = await one.usage()
        await one.run(count)
        const after = await one.usage()
        one.rounds.push((after.micros - before.micros) / count)
        one.collecting += (after.collecting - before.collecting) / count / most
      }
    }
    return running.map(({ collecting, rounds, rung }) => ({
      rung,
      micros: Math.min(...rounds),
      median: median(rounds),
      collecting
    }))
  } finally {
    for (const { stop } of running) stop()
  }
}

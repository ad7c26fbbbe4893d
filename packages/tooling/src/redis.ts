/**
 * Redis servers for tests: each on a free port of the loopback interface, with a folder of its own, and gone with its scope.
 * They can be killed and started again, on the same port and with what they had written down.
 */
import { NodeRedis } from "@effect/platform-node"
import { Data, Effect, Layer, Logger, type Scope } from "effect"
import type { Redis } from "effect/persistence"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:net"
import { leftOut } from "./leftOut.ts"
import { owned, stop, temporaryFolder } from "./ownedProcess.ts"

/** The server could not be started; what it said. */
export class RedisNotStarted extends Data.TaggedError("RedisNotStarted")<{ readonly output: string }> {}

export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Ends the process at once, as a crash would. */
  readonly kill: Effect.Effect<void>
  /** Stops the process where it is: it answers nothing until `thaw`. */
  readonly freeze: Effect.Effect<void>
  readonly thaw: Effect.Effect<void>
  /** Starts it again after `kill`. */
  readonly start: Effect.Effect<void, RedisNotStarted>
}

const program = process.env["MCPFX_REDIS_SERVER"] ?? "redis-server"
const patience = 10_000

const find = (): boolean => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0

let known: boolean | undefined

/** Whether there is a Redis server to start; says in one line what is left out where there is none. */
export const hasRedis = (): boolean => {
  if (known !== undefined) return known
  known = find()
  if (!known) leftOut(`what is kept in Redis: there is no ${program} on the path`)
  return known
}

const freePort = Effect.promise(() =>
  new Promise<number>((settle, fail) => {
    const probe = createServer()
    probe.on("error", fail)
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address()
      probe.close(() => settle(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
)

const argumentsOf = (port: number, folder: string): Array<string> =>
  [
    "--bind 127.0.0.1",
    `--port ${port}`,
    `--dir ${folder}`,
    "--save ''",
    // What was acknowledged is on disk.
    "--appendonly yes",
    "--appendfsync always",
    "--loglevel notice",
    "--logfile ''",
    "--daemonize no"
  ].flatMap((option) => {
    const [name = "", value = ""] = option.split(" ")
    return [name, value === "''" ? "" : value]
  })

/** Resolves when the server takes connections; fails when it ends before, or takes too long. */
const launch = async (port: number, folder: string): Promise<ChildProcess> => {
  const child = owned(spawn(program, argumentsOf(port, folder), { stdio: ["ignore", "pipe", "pipe"] }))
  let output = ""
  let ready: () => void = () => {}
  const listening = new Promise<void>((settle) => {
    ready = settle
  })
  const hear = (chunk: Buffer) => {
    output = (output + chunk.toString("utf8")).slice(-8192)
    if (output.includes("Ready to accept connections")) ready()
  }
  child.stdout.on("data", hear)
  child.stderr.on("data", hear)
  const failed = once(child, "exit").then(() => Promise.reject(new Error(output)), (error) => Promise.reject(error))
  const late = new Promise<never>((_, fail) =>
    setTimeout(() => fail(new Error(`too slow: ${output}`)), patience).unref()
  )
  failed.catch(() => {})
  late.catch(() => {})
  try {
    await Promise.race([listening, failed, late])
    return child
  } catch (error) {
    child.kill("SIGKILL")
    throw error
  }
}

/** A server that runs as long as the scope is open. */
export const redisServer: Effect.Effect<RedisServer, RedisNotStarted, Scope.Scope> = Effect.gen(function*() {
  const folder = yield* temporaryFolder("redis")
  const port = yield* freePort
  let child: ChildProcess | undefined
  const kill = Effect.promise(() => stop(child))
  const start = Effect.map(
    Effect.tryPromise({
      try: () => launch(port, folder),
      catch: (error) => new RedisNotStarted({ output: String(error) })
    }),
    (started) => {
      child = started
    }
  )
  yield* Effect.acquireRelease(start, () => kill)
  const signal = (name: NodeJS.Signals) => Effect.sync(() => void child?.kill(name))
  return { port, url: `redis://127.0.0.1:${port}`, kill, freeze: signal("SIGSTOP"), thaw: signal("SIGCONT"), start }
})

/** A connection to a server, which fails what it is asked while there is none. */
export const layerRedis = (
  server: Pick<RedisServer, "url">
): Layer.Layer<Redis.Redis | NodeRedis.NodeRedis, Redis.RedisError> =>
  NodeRedis.layer({
    url: server.url,
    disableOfflineQueue: true,
    socket: { connectTimeout: 2000, reconnectStrategy: (retries) => Math.min(20 * 2 ** retries, 200) }
  }).pipe(
    // Tests break connections on purpose.
    Layer.provide(Logger.layer([]))
  )

/** A server of its own and a connection to it. */
export const layerRedisServer: Layer.Layer<Redis.Redis | NodeRedis.NodeRedis, Redis.RedisError | RedisNotStarted> =
  Layer
    .unwrap(Effect.map(redisServer, layerRedis))

/** The real thing: a server, and clients that do what they are told and note what they hear. */
import { JsonRpc } from "@mcpfx/schema"
import { type McpServer, TaskStore } from "@mcpfx/server"
import { SessionStore } from "@mcpfx/session"
import { EventStore, type Link, McpHeaders, Memory } from "@mcpfx/transport"
import { type Context, Duration, Effect, Exit, Layer, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { at, type Json } from "../wire.ts"
import type { Setup } from "./model.ts"
import { Seen } from "./seen.ts"
import { type By, Names, type Send } from "./send.ts"
import { type Server, start } from "./server.ts"
import { Bench, registrations } from "./tools.ts"

/** Lets everything that can go on go on; takes no time of any clock. */
export const turn: Effect.Effect<void> = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))

const url = "http://localhost/mcp"

const options: McpServer.Options = {
  name: "machine",
  version: "0.0.0",
  capabilities: { resources: { subscribe: true } },
  limits: { taskTtl: Duration.hours(24) }
}

const serve = (bench: Bench, stores: Context.Context<never>) =>
  start({ registrations: registrations(bench), options, running: () => bench.running, stores })

interface Connection {
  readonly link: Link.Link
  readonly scope: Scope.Closeable
}

const messageOf = (body: Json): JsonRpc.Message => {
  const parsed = JsonRpc.parse(body)
  if (Result.isFailure(parsed)) throw new Error(parsed.failure.reason)
  return parsed.success
}

const modernHeaders = (body: Json): Readonly<Record<string, string>> => {
  const version = at(body, "params", "_meta", "io.modelcontextprotocol/protocolVersion")
  const message = messageOf(body)
  return typeof version === "string" && JsonRpc.isRequest(message) ? McpHeaders.mirror(message, version) : {}
}

export class World {
  readonly setup: Setup
  readonly bench: Bench
  readonly names = new Names()
  readonly pipes = new Map<string, Seen>()
  private readonly stores: Context.Context<never>
  private readonly scope: Scope.Scope
  private readonly connections = new Map<string, Connection>()
  server: Server

  constructor(setup: Setup, stores: Context.Context<never>, scope: Scope.Scope, server: Server, bench: Bench) {
    this.setup = setup
    this.stores = stores
    this.scope = scope
    this.server = server
    this.bench = bench
  }

  seen(name: string): Seen {
    const known = this.pipes.get(name)
    if (known !== undefined) return known
    const seen = new Seen(this.names, name)
    this.pipes.set(name, seen)
    return seen
  }

  /** Does as it is told. */
  do(send: Send): Effect.Effect<void> {
    switch (send._tag) {
      case "Message":
        return this.setup.transport === "http"
          ? Effect.sync(() => this.post(send.pipe, send.by, send.body(this.names)))
          : this.say(send.pipe, send.body(this.names))
      case "Attach":
        return Effect.sync(() => this.attach(send.pipe, send.by, send.resumes))
      case "Delete":
        return Effect.sync(() => this.request(send.pipe, send.by, { method: "DELETE" }))
      case "Connect":
        return this.connect(send.pipe)
      case "Cut":
        return this.cut(send.pipe)
      case "Release":
        return this.bench.latch(send.key).open
      case "Change":
        return Effect.suspend(() => this.bench.announce(send.change))
      case "Advance":
        return TestClock.adjust(send.millis)
      case "Drain":
        return Effect.asVoid(Effect.forkIn(this.server.self.shutdown, this.scope))
      case "Restart":
        return this.restart
    }
  }

  private post(pipe: string, by: By, body: Json): void {
    const json = { accept: "application/json, text/event-stream", "content-type": "application/json" }
    this.request(pipe, by, { method: "POST", body: JSON.stringify(body) }, { ...json, ...modernHeaders(body) })
  }

  private attach(pipe: string, by: By, resumes: string | undefined): void {
    const last = resumes === undefined ? undefined : this.seen(resumes).lastEventId
    this.seen(pipe).lastEventId = last
    const place: Readonly<Record<string, string>> = last === undefined ? {} : { "last-event-id": last }
    this.request(pipe, by, { method: "GET" }, { accept: "text/event-stream", ...place })
  }

  private request(pipe: string, by: By, init: RequestInit, headers: Readonly<Record<string, string>> = {}): void {
    const session = by.session === undefined ? undefined : this.names.sessions.get(by.session)
    const request = new Request(url, {
      ...init,
      headers: {
        host: "localhost",
        "x-user": by.principal,
        ...(session === undefined ? {} : { "mcp-session-id": session }),
        ...(by.version === undefined ? {} : { "mcp-protocol-version": by.version }),
        ...headers
      }
    })
    const seen = this.seen(pipe)
    seen.conversation = by.session ?? pipe
    // What becomes of it is noted where it is read.
    void seen.read(this.server.handler, request, (response) => {
      const id = response.headers.get("mcp-session-id")
      if (id !== null) this.names.sessions.set(pipe, id)
    })
  }

  private connect(pipe: string): Effect.Effect<void> {
    const seen = this.seen(pipe)
    const client = {
      handle: ({ message }: { readonly message: JsonRpc.Message }) => {
        seen.hear(message)
        return Effect.succeed({})
      },
      admitBatch: () => Effect.void,
      attach: () => Effect.void,
      terminate: () => Effect.void
    }
    return Effect.gen({ self: this }, function*() {
      const scope = yield* Scope.fork(this.scope)
      const transport = Memory.transport(this.server.endpoint)
      const link = yield* Effect.orDie(Scope.provide(transport.connect(client), scope))
      this.connections.set(pipe, { link, scope })
    })
  }

  private say(pipe: string, body: Json): Effect.Effect<void> {
    const connection = this.connections.get(pipe)
    return connection === undefined ? Effect.void : Effect.ignore(connection.link.send(messageOf(body)))
  }

  private cut(pipe: string): Effect.Effect<void> {
    const connection = this.connections.get(pipe)
    this.seen(pipe).cut()
    return connection === undefined ? Effect.void : Scope.close(connection.scope, Exit.void)
  }

  private get restart(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      yield* this.server.close
      for (const pipe of this.connections.keys()) yield* this.cut(pipe)
      yield* turn
      this.server = yield* serve(this.bench, this.stores)
    })
  }

  /** Everything ends. */
  get close(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      for (const pipe of this.connections.keys()) yield* this.cut(pipe)
      yield* this.server.close
      for (const seen of this.pipes.values()) seen.cut()
    })
  }
}

const stores = (setup: Setup) => {
  const kept = Layer.merge(SessionStore.layerMemory, TaskStore.layerMemory)
  return setup.events ? Layer.merge(kept, EventStore.layerMemory) : kept
}

/** A server and the stores it is built over, as long as the scope is open. */
export const make = Effect.fnUntraced(function*(setup: Setup) {
  const bench = new Bench()
  const scope = yield* Effect.scope
  const kept = yield* Layer.build(stores(setup))
  const server = yield* serve(bench, kept)
  return new World(setup, kept, scope, server, bench)
})

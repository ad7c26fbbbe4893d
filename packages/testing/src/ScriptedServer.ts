/**
 * A server of a few lines, for tests of clients: it answers what its script says, or not, or ends.
 *
 * It need not follow the protocol, so that a test can show a client what no good server would.
 *
 * @since 0.1.0
 */
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import type { Link } from "@mcpfx/transport/Link"
import * as Memory from "@mcpfx/transport/Memory"
import { TransportClosed, type TransportError } from "@mcpfx/transport/TransportError"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import { Inbox } from "./internal/inbox.ts"
import type { Unexpected } from "./TestError.ts"

/**
 * What a server does about one request.
 *
 * @category models
 * @since 0.1.0
 */
export type Reply =
  | { readonly _tag: "Result"; readonly result: JsonRpc.JsonObject }
  | { readonly _tag: "Error"; readonly error: JsonRpc.WireError }
  /** Nothing. */
  | { readonly _tag: "Silence" }
  /** The end of the connection, as of a process that exits. */
  | { readonly _tag: "HangUp" }

/**
 * What a server does about requests, by method; `other` is for all that are not named, -32601 where it is left out.
 *
 * @category models
 * @since 0.1.0
 */
export interface Script {
  readonly [method: string]:
    | Reply
    | ((request: JsonRpc.Request, server: ScriptedServer) => Reply | Effect.Effect<Reply>)
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ScriptedServer {
  /** What a client connects with. */
  readonly transport: ClientTransport["Service"]
  /** What clients have sent, in order, over all connections. */
  readonly received: () => ReadonlyArray<JsonRpc.Message>
  /** The methods of what clients have sent. */
  readonly methods: () => ReadonlyArray<string>
  /** Waits for a message that clients send, or have sent and nobody expected yet. */
  readonly expect: (method: string) => Effect.Effect<JsonRpc.Message, Unexpected>
  /** Waits for a message that `wanted` accepts. */
  readonly expectMessage: (
    what: string,
    wanted: (message: JsonRpc.Message) => boolean
  ) => Effect.Effect<JsonRpc.Message, Unexpected>
  /** Sends over the latest connection. */
  readonly send: (message: JsonRpc.Outgoing) => Effect.Effect<void, TransportError>
  readonly notify: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void, TransportError>
  /** Ends the latest connection. */
  readonly hangUp: Effect.Effect<void>
  /** How many connections there have been, and how many are open. */
  readonly connections: () => { readonly made: number; readonly open: number }
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What the client takes its transport for; `memory` by default. */
  readonly kind?: "memory" | "stdio" | "http" | undefined
  /** What the client takes the server for; `scripted` by default. */
  readonly target?: string | undefined
  /** How often connecting fails before it succeeds. */
  readonly refuseConnections?: number | undefined
}

/**
 * @category replies
 * @since 0.1.0
 */
export const result = (result: JsonRpc.JsonObject): Reply => ({ _tag: "Result", result })

/**
 * @category replies
 * @since 0.1.0
 */
export const error = (code: number, message = "Refused", data?: unknown): Reply => ({
  _tag: "Error",
  error: data === undefined ? { code, message } : { code, message, data }
})

/**
 * @category replies
 * @since 0.1.0
 */
export const silence: Reply = { _tag: "Silence" }

/**
 * @category replies
 * @since 0.1.0
 */
export const hangUp: Reply = { _tag: "HangUp" }

const info = { name: "scripted", version: "0.0.0" }

/**
 * The answer to `initialize` of a server that offers these capabilities.
 *
 * @category replies
 * @since 0.1.0
 */
export const initialized = (protocolVersion: string, capabilities: JsonRpc.JsonObject = {}): Reply =>
  result({ protocolVersion, capabilities, serverInfo: info })

/**
 * The answer to `server/discover` of a server that offers these capabilities.
 *
 * @category replies
 * @since 0.1.0
 */
export const discovered = (
  capabilities: JsonRpc.JsonObject = {},
  supportedVersions: ReadonlyArray<string> = ["2026-07-28"]
): Reply =>
  result({
    resultType: "complete",
    supportedVersions,
    capabilities,
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": info }
  })

const unknown = (request: JsonRpc.Request): Reply => error(Codes.methodNotFound, `Method not found: ${request.method}`)

/**
 * A server that follows `script`. Its connections end with the scopes of their clients.
 *
 * **Example** (A server that refuses every tool)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { ScriptedServer } from "@mcpfx/testing"
 * import { ClientTransport } from "@mcpfx/transport"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ScriptedServer.make({
 *     initialize: ScriptedServer.initialized("2025-11-25", { tools: {} }),
 *     "tools/call": ScriptedServer.error(-32602, "Unknown tool")
 *   })
 *   const client = yield* Effect.provideService(McpClient.make(), ClientTransport.ClientTransport, server.transport)
 *   const error = yield* Effect.flip(client.callTool("any"))
 *   return error.message
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => "tools/call: the server refused: Unknown tool (-32602)"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (script: Script, options: Options = {}): Effect.Effect<ScriptedServer, never, Scope.Scope> =>
  Effect.map(Effect.scope, (scope) => new Scripted(new Map(Object.entries(script)), options, scope))

/**
 * The transport to a server that follows `script`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (script: Script, options?: Options): Layer.Layer<ClientTransport> =>
  Layer.effect(ClientTransport, Effect.map(make(script, options), ({ transport }) => transport))

interface Connection {
  link: Link | undefined
  readonly scope: Scope.Closeable
}

class Scripted implements ScriptedServer {
  readonly transport: ClientTransport["Service"]
  private readonly script: ReadonlyMap<string, Script[string]>
  private readonly all: Array<JsonRpc.Message> = []
  private readonly inbox = new Inbox()
  private readonly open = new Set<Connection>()
  private latest: Connection | undefined = undefined
  private made = 0
  private refusals: number
  private readonly owner: Scope.Scope

  constructor(script: ReadonlyMap<string, Script[string]>, options: Options, owner: Scope.Scope) {
    this.script = script
    this.owner = owner
    this.refusals = options.refuseConnections ?? 0
    this.transport = {
      kind: options.kind ?? "memory",
      target: options.target ?? "scripted",
      connect: (client) => this.connect(client)
    }
  }

  readonly received = (): ReadonlyArray<JsonRpc.Message> => [...this.all]

  readonly methods = (): ReadonlyArray<string> =>
    this.all.flatMap((message) => "method" in message ? [message.method] : [])

  readonly expectMessage: ScriptedServer["expectMessage"] = (what, wanted) => this.inbox.expect(what, wanted)

  readonly expect = (method: string): Effect.Effect<JsonRpc.Message, Unexpected> =>
    this.inbox.expect(method, (message) => "method" in message && message.method === method)

  readonly send = (message: JsonRpc.Outgoing): Effect.Effect<void, TransportError> =>
    Effect.suspend((): Effect.Effect<void, TransportError> =>
      this.latest?.link?.send(message) ?? Effect.fail(new TransportClosed({ reason: "Nobody is connected" }))
    )

  readonly notify = (method: string, params?: JsonRpc.JsonObject): Effect.Effect<void, TransportError> =>
    this.send(JsonRpc.notification(method, params))

  readonly hangUp: Effect.Effect<void> = Effect.suspend(() =>
    this.latest === undefined ? Effect.void : Scope.close(this.latest.scope, Exit.void)
  )

  readonly connections = (): { readonly made: number; readonly open: number } => ({
    made: this.made,
    open: this.open.size
  })

  private connect(client: Endpoint["Service"]): Effect.Effect<Link, TransportError, Scope.Scope> {
    return Effect.gen({ self: this }, function*() {
      if (this.refusals > 0) {
        this.refusals--
        return yield* new TransportClosed({ reason: "Refused to connect" })
      }
      const outer = yield* Effect.scope
      const connection: Connection = { link: undefined, scope: yield* Scope.fork(outer) }
      this.made++
      this.open.add(connection)
      this.latest = connection
      const links = yield* Scope.provide(Memory.pair(client, this.endpoint(connection)), connection.scope)
      yield* Scope.addFinalizer(connection.scope, Effect.sync(() => this.open.delete(connection)))
      connection.link = links.server
      return links.client
    })
  }

  private endpoint(connection: Connection): Endpoint["Service"] {
    return {
      handle: ({ message }) => {
        this.all.push(message)
        this.inbox.offer(message)
        return JsonRpc.isRequest(message)
          ? Effect.as(Effect.forkIn(this.answer(message, connection), connection.scope, { startImmediately: true }), {})
          : Effect.succeed({})
      },
      admitBatch: () => Effect.void,
      attach: () => Effect.void,
      terminate: () => Effect.void
    }
  }

  private answer(request: JsonRpc.Request, connection: Connection): Effect.Effect<void> {
    const entry = this.script.get(request.method) ?? this.script.get("other") ?? unknown
    const reply = typeof entry === "function" ? entry(request, this) : entry
    return Effect.flatMap(Effect.isEffect(reply) ? reply : Effect.succeed(reply), (reply) => {
      switch (reply._tag) {
        case "Result":
          return this.write(connection, JsonRpc.success(request.id, reply.result))
        case "Error":
          return this.write(connection, JsonRpc.failure(request.id, reply.error))
        case "Silence":
          return Effect.void
        case "HangUp":
          // In a fiber of its own, since this one ends with the connection.
          return Effect.asVoid(Effect.forkIn(Scope.close(connection.scope, Exit.void), this.owner))
      }
    })
  }

  private write(connection: Connection, message: JsonRpc.Outgoing): Effect.Effect<void> {
    return connection.link === undefined ? Effect.void : Effect.ignore(connection.link.send(message))
  }
}

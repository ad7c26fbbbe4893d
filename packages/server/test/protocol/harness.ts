/** Talks to an endpoint in messages, as a transport would, and keeps everything that comes back. */
import { JsonRpc } from "@mcpfx/schema"
import { McpEndpoint } from "@mcpfx/server/McpEndpoint"
import * as McpServer from "@mcpfx/server/McpServer"
import type { Exchange, Link, Principal, TransportError } from "@mcpfx/transport"
import { Rejected } from "@mcpfx/transport/Endpoint"
import { TransportClosed } from "@mcpfx/transport/TransportError"
import { Context, Deferred, Effect, Exit, Layer, Option } from "effect"
import { Headers } from "effect/http"

export type Json = { readonly [key: string]: unknown }

/** As it would arrive: text and back. */
const wire = (message: JsonRpc.Outgoing): Json => JSON.parse(JsonRpc.stringify(message))

/** Whatever a path leads to. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown => {
  let current = value
  for (const key of path) {
    if (typeof current !== "object" || current === null) return undefined
    current = Reflect.get(current, key)
  }
  return current
}

/** One message that was sent, and what became of it. */
export class Sent {
  readonly pushed: Array<Json> = []
  readonly done = Deferred.makeUnsafe<Json | undefined>()
  answer: Json | undefined = undefined
  ended = false
  rejected: Rejected | undefined = undefined
  sessionId: string | undefined = undefined
  /** Tells the endpoint that the peer has gone. */
  disconnect: () => void = () => {}
  /** What may come on the stream of this request before it stands still; the rest waits for {@link resume}. */
  room = Number.POSITIVE_INFINITY
  private waiting: Array<() => void> = []

  readonly outlet: Exchange.Outlet = {
    answer: (message) => {
      if (this.closed) return
      this.answer = wire(message)
      Deferred.doneUnsafe(this.done, Exit.succeed(this.answer))
    },
    end: () => {
      if (this.closed) return
      this.ended = true
      Deferred.doneUnsafe(this.done, Exit.succeed(undefined))
    },
    push: (message) =>
      Effect.suspend(() => {
        if (this.closed) return Effect.void
        if (this.pushed.length < this.room) {
          this.pushed.push(wire(message))
          return Effect.void
        }
        return Effect.callback<void>((resume) => {
          this.waiting.push(() => {
            if (!this.closed) this.pushed.push(wire(message))
            resume(Effect.void)
          })
        })
      })
  }

  get closed(): boolean {
    return this.answer !== undefined || this.ended
  }

  resume(): void {
    this.room = Number.POSITIVE_INFINITY
    for (const go of this.waiting.splice(0)) go()
  }

  /** The answer, whichever way it came: by the outlet or as a refusal. */
  get error(): unknown {
    return this.rejected?.error ?? at(this.answer, "error")
  }

  get code(): unknown {
    return at(this.error, "code")
  }

  get result(): unknown {
    return at(this.answer, "result")
  }
}

export class Wire {
  readonly unsolicited: Array<Json> = []
  readonly agreed: Array<Link.Agreement> = []
  private readonly gone = Deferred.makeUnsafe<TransportError.TransportError>()
  readonly link: Link.Link = {
    id: `test-${Math.random()}`,
    send: (message) => Effect.sync(() => void this.unsolicited.push(wire(message))),
    closed: Deferred.await(this.gone),
    agreed: (agreement) => Effect.sync(() => void this.agreed.push(agreement))
  }

  close(): void {
    Deferred.doneUnsafe(this.gone, Exit.succeed(new TransportClosed({ reason: "test" })))
  }
}

export interface HttpFacts {
  readonly sessionId?: string | undefined
  readonly protocolVersion?: string | undefined
  readonly headers?: Record<string, string> | undefined
  readonly principal?: Principal.Principal | undefined
}

const meta = (version: string): Json => ({
  "io.modelcontextprotocol/protocolVersion": version,
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "probe", version: "0" }
})

export const envelope = (more: Json = {}): Json => ({ _meta: { ...meta("2026-07-28"), ...more } })

export const legacyVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const
export const allVersions = [...legacyVersions, "2026-07-28"] as const
export type Version = typeof allVersions[number]

/** A client of one revision, over a connection or over HTTP. */
export class Client {
  readonly endpoint: McpEndpoint["Service"]
  readonly version: Version
  readonly wire: Wire | undefined
  readonly http: HttpFacts
  transport: "memory" | "stdio" | "http"
  sessionId: string | undefined = undefined
  private last = 0

  constructor(
    endpoint: McpEndpoint["Service"],
    version: Version,
    wire: Wire | undefined,
    http: HttpFacts = {}
  ) {
    this.endpoint = endpoint
    this.version = version
    this.wire = wire
    this.http = http
    this.transport = wire === undefined ? "http" : "stdio"
  }

  get modern(): boolean {
    return this.version === "2026-07-28"
  }

  facts(): Exchange.Facts {
    return {
      transport: this.transport,
      connection: this.wire?.link,
      sessionId: this.http.sessionId ?? this.sessionId,
      protocolVersion: this.http.protocolVersion,
      headers: this.transport === "http" ? Headers.fromInput(this.http.headers ?? {}) : undefined,
      principal: Option.fromUndefinedOr(this.http.principal)
    }
  }

  /** Hands one message over. */
  raw(message: Json, room = Number.POSITIVE_INFINITY): Sent {
    const sent = new Sent()
    sent.room = room
    const parsed = JsonRpc.parse(message)
    if (parsed._tag === "Failure") throw new Error(parsed.failure.reason)
    const exit = Effect.runSyncExit(this.endpoint.endpoint.handle({
      message: parsed.success,
      facts: this.facts(),
      outlet: sent.outlet
    }))
    if (Exit.isSuccess(exit)) {
      sent.sessionId = exit.value.sessionId
      sent.disconnect = exit.value.disconnected ?? (() => {})
    } else {
      const rejected = Exit.findErrorOption(exit)
      if (Option.isNone(rejected) || !(rejected.value instanceof Rejected)) throw new Error(String(exit.cause))
      sent.rejected = rejected.value
      Deferred.doneUnsafe(sent.done, Exit.succeed(undefined))
    }
    return sent
  }

  /** Sends a request without waiting for its answer; `room` is what its stream takes before it stands still. */
  start(method: string, params: Json = {}, id: string | number = ++this.last + 100, room?: number): Sent {
    const own = at(params, "_meta")
    const full = this.modern ? { ...params, ...envelope(typeof own === "object" ? { ...own } : {}) } : params
    return this.raw({ jsonrpc: "2.0", id, method, params: full }, room)
  }

  /** Sends a request and waits until it is over. */
  request(method: string, params: Json = {}): Effect.Effect<Sent> {
    return Effect.suspend(() => {
      const sent = this.start(method, params)
      return Effect.as(Deferred.await(sent.done), sent)
    })
  }

  /** As {@link request}, where the admission itself has to wait. */
  later(method: string, params: Json = {}): Promise<Sent> {
    const sent = new Sent()
    const parsed = JsonRpc.parse({ jsonrpc: "2.0", id: ++this.last + 100, method, params })
    if (parsed._tag === "Failure") throw new Error(parsed.failure.reason)
    const exchange = { message: parsed.success, facts: this.facts(), outlet: sent.outlet }
    return Effect.runPromise(Effect.as(
      Effect.andThen(this.endpoint.endpoint.handle(exchange), Deferred.await(sent.done)),
      sent
    ))
  }

  notify(method: string, params: Json = {}): Sent {
    return this.raw({ jsonrpc: "2.0", method, params })
  }

  /** The handshake, on the revisions that have one. */
  hello(capabilities: Json = {}): Sent | undefined {
    if (this.modern) return undefined
    const sent = this.start("initialize", {
      protocolVersion: this.version,
      capabilities,
      clientInfo: { name: "probe", version: "0" }
    })
    this.sessionId = sent.sessionId
    this.notify("notifications/initialized")
    return sent
  }
}

export const connect = (endpoint: McpEndpoint["Service"], version: Version): Client => {
  const client = new Client(endpoint, version, new Wire())
  client.hello()
  return client
}

export const overHttp = (endpoint: McpEndpoint["Service"], version: Version, http: HttpFacts = {}): Client =>
  new Client(endpoint, version, undefined, http)

/** An endpoint of its own over these registrations, as long as the scope is open. */
export const serve = <A, E>(
  registrations: Layer.Layer<A, E, McpServer.Provided>,
  options: Partial<McpServer.Options> = {}
) =>
  Effect.map(
    Layer.build(McpServer.layer(registrations, { name: "tester", version: "1.2.3", ...options })),
    (context) => Context.get(context, McpEndpoint)
  )

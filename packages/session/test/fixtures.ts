/** Peers, streams and handlers that the tests hold in their hands. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { McpError } from "@mcpfx/schema/McpError"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Handler } from "@mcpfx/session/Handler"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Session from "@mcpfx/session/Session"
import type { Rejected } from "@mcpfx/transport/Endpoint"
import { type Exchange, type Facts, noOutlet, type Outlet } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import { TransportClosed, type TransportError } from "@mcpfx/transport/TransportError"
import { Cause, Deferred, Effect, Exit, Option, Result, type Scope } from "effect"

export const legacy = Revisions.newestLegacy
export const modern = Revisions.newest
export const clientInfo = { name: "tester", version: "1.0.0" }

export const facts: Facts = {
  transport: "memory",
  connection: undefined,
  sessionId: undefined,
  protocolVersion: undefined,
  headers: undefined,
  principal: Option.none()
}

/** An outlet that remembers what happened to it. */
export class Stream implements Outlet {
  readonly pushed: Array<unknown> = []
  readonly answers: Array<unknown> = []
  ends = 0
  /** Why the request was not let in. */
  rejected: Rejected | undefined = undefined
  /** As on a stream that drops what is too large. */
  maxBytes: number | undefined = undefined
  /** What a push waits for, besides being noted. */
  gate: Effect.Effect<void> = Effect.void

  readonly answer = (message: JsonRpc.Outgoing): void => {
    // What a transport writes, read again: messages must survive the way.
    this.answers.push(JSON.parse(JsonRpc.stringify(message)))
  }
  readonly end = (): void => {
    this.ends += 1
  }
  readonly push = (message: JsonRpc.Outgoing): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (this.ends + this.answers.length > 0) return Effect.void
      this.pushed.push(JSON.parse(JsonRpc.stringify(message)))
      return this.gate
    })

  /** The one answer, and proof that there is no other. */
  get only(): unknown {
    return this.answers.length === 1 ? this.answers[0] : { answers: this.answers }
  }

  /** How often the outlet was closed: a request's is closed once (ends that follow an end do not count). */
  get closings(): number {
    return this.answers.length + Math.min(this.ends, 1)
  }
}

export const request = (id: JsonRpc.RequestId, method: string, params?: JsonRpc.JsonObject): JsonRpc.Request =>
  JsonRpc.request(id, method, params)

export const initialize = (
  version: unknown = legacy.version,
  capabilities: JsonRpc.JsonObject = {}
): JsonRpc.JsonObject => ({
  protocolVersion: version,
  capabilities,
  clientInfo
})

type Handle = (
  request: JsonRpc.Request,
  context: RequestContext["Service"]
) => Effect.Effect<JsonRpc.ResultBody, McpError>

/** A handler that answers everything with what it was asked, unless told otherwise by method. */
export const handler = (
  methods: Readonly<Record<string, Handle>> = {},
  notification: Handler["Service"]["notification"] = () => Effect.void
): Handler["Service"] => ({
  request: (message, context) =>
    methods[message.method]?.(message, context) ??
      Effect.succeed({ method: message.method, revision: context.revision.version }),
  notification
})

/** A session and the ways in. */
export class Bench {
  readonly session: Session.Session
  constructor(session: Session.Session) {
    this.session = session
  }

  accept(
    message: JsonRpc.Message,
    outlet: Outlet = noOutlet,
    more: Partial<Facts> = {},
    fault?: Exchange["fault"]
  ): ReturnType<Session.Session["accept"]> {
    const exchange: Exchange = { message, facts: { ...facts, ...more }, outlet, fault }
    return this.session.accept(exchange)
  }

  ask(id: JsonRpc.RequestId, method: string, params?: JsonRpc.JsonObject, more?: Partial<Facts>): Stream {
    const stream = new Stream()
    const exit = this.accept(request(id, method, params), stream, more)
    if (Exit.isFailure(exit)) {
      stream.rejected = rejection(exit)
      stream.answers.push(stream.rejected)
    }
    return stream
  }

  tell(method: string, params?: JsonRpc.JsonObject): void {
    this.accept(JsonRpc.notification(method, params))
  }

  shake(capabilities?: JsonRpc.JsonObject): void {
    this.ask("shake", "initialize", initialize(legacy.version, capabilities))
    this.tell("notifications/initialized")
  }
}

export const rejection = (exit: Exit.Exit<unknown, Rejected>): Rejected | undefined => {
  if (Exit.isSuccess(exit)) return undefined
  const found = Cause.findError(exit.cause)
  return Result.isSuccess(found) ? found.success : undefined
}

export const server = (
  options: Partial<Session.Options> = {}
): Effect.Effect<Bench, never, Scope.Scope> =>
  Effect.map(
    Session.make({ id: "s1", role: "server", handler: handler(), revisions: Revisions.all, ...options }),
    (session) => new Bench(session)
  )

/** A server whose handshake is done. */
export const readyServer = (
  options: Partial<Session.Options> = {}
): Effect.Effect<Bench, never, Scope.Scope> => Effect.tap(server(options), (bench) => Effect.sync(() => bench.shake()))

/** A connection to nowhere, that remembers what was sent. */
export class Wire implements Link {
  readonly id = "wire"
  readonly sent: Array<JsonRpc.JsonObject> = []
  readonly options: Array<unknown> = []
  readonly over = Deferred.makeUnsafe<TransportError>()
  /** What a send waits for, besides being noted. */
  gate: (message: JsonRpc.JsonObject) => Effect.Effect<void, TransportError> = () => Effect.void
  readonly closed = Deferred.await(this.over)
  readonly agreed = () => Effect.void
  readonly send: Link["send"] = (message, options) =>
    Effect.suspend(() => {
      const written: JsonRpc.JsonObject = JSON.parse(JsonRpc.stringify(message))
      this.sent.push(written)
      this.options.push(options)
      return this.gate(written)
    })

  cut(): void {
    Deferred.doneUnsafe(this.over, Exit.succeed(new TransportClosed({ reason: "cut" })))
  }

  get methods(): ReadonlyArray<unknown> {
    return this.sent.map((message) => message["method"])
  }
}

export const established = (revision = legacy): Session.Established => ({
  revision,
  clientInfo,
  clientCapabilities: {}
})

export const client = (
  wire: Wire,
  options: Partial<Session.Options> = {}
): Effect.Effect<Bench, never, Scope.Scope> =>
  Effect.map(
    Session.make({
      id: "c1",
      role: "client",
      handler: handler(),
      revisions: Revisions.all,
      link: wire,
      established: established(),
      ...options
    }),
    (session) => new Bench(session)
  )

/** Nothing runs, waits or ticks any more. */
export const nothing: Session.Load = { serving: 0, waiting: 0, fibers: 0, streams: 0, timer: false }

/** What lies at the end of a path in JSON, `undefined` where the path ends early. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, key) => JsonRpc.isJsonObject(inner) ? inner[key] : undefined, value)

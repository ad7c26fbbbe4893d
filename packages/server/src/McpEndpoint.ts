/**
 * The inward door of a server, and the one place where the eras part: a request that says who sends it is served by itself,
 * `initialize` and what belongs to a session go to a session. Both may come over one connection.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Meta from "@mcpfx/schema/Meta"
import type { Revision } from "@mcpfx/schema/Revision"
import * as InFlight from "@mcpfx/session/InFlight"
import * as Lifecycle from "@mcpfx/session/Lifecycle"
import * as SessionModule from "@mcpfx/session/Session"
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import * as Sessions from "@mcpfx/session/Sessions"
import { type Admission, Endpoint, type Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange, Facts } from "@mcpfx/transport/Exchange"
import * as Limits from "@mcpfx/transport/Limits"
import * as Principal from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { ChangeBus } from "./ChangeBus.ts"
import { Dispatcher, make as makeDispatcher } from "./Dispatcher.ts"
import * as Health from "./Health.ts"
import { rejected } from "./internal/admission.ts"
import { closeTable, Connections, lacksEnvelope } from "./internal/connections.ts"
import { fallback, type Gateway, modernOf, shuttingDown } from "./internal/gateway.ts"
import { HttpSessions } from "./internal/httpSessions.ts"
import type { Settings } from "./internal/settings.ts"
import type { Client } from "./internal/single.ts"
import * as Listen from "./Listen.ts"
import * as LogBridge from "./LogBridge.ts"
import * as Modern from "./Modern.ts"
import { Registry } from "./Registry.ts"
import { ServerLimits } from "./ServerLimits.ts"

type Session = SessionModule.Session

/**
 * What can be done with an endpoint from inside the program.
 *
 * @category services
 * @since 0.1.0
 */
export class McpEndpoint extends Context.Service<McpEndpoint, Health.Member & {
  readonly endpoint: Endpoint["Service"]
  /** The versions served, newest first. */
  readonly supported: ReadonlyArray<string>
  /** Ends listen streams, each with its result, and lets everything else go on. */
  readonly endStreams: Effect.Effect<void>
  /** Has `effect` run at the beginning of a shutdown, while the scope is open: for transports that stop admitting. */
  readonly beforeShutdown: (effect: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
}>()("@mcpfx/server/McpEndpoint") {}

/** Tables of callers that have nothing in flight any more are dropped once there are so many. */
const sweepAt = 256

/** Requests of HTTP that stand alone, by caller. */
class Callers {
  private readonly tables = new Map<string, InFlight.InFlight>()
  private readonly limit: number
  private closed = false

  constructor(limit: number) {
    this.limit = limit
  }

  readonly of = (facts: Facts): InFlight.InFlight => {
    const key = Principal.key(facts.principal)
    let table = this.tables.get(key)
    if (table === undefined) {
      if (this.tables.size >= sweepAt) this.sweep()
      table = InFlight.makeUnsafe({ limit: this.limit })
      if (this.closed) table.closeUnsafe()
      this.tables.set(key, table)
    }
    return table
  }

  get size(): number {
    let total = 0
    for (const table of this.tables.values()) total += table.size
    return total
  }

  readonly drain = (deadline: Duration.Input): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.closed = true
      return Effect.forEach(Array.from(this.tables.values()), (table) => table.drain(deadline), {
        concurrency: "unbounded",
        discard: true
      })
    })

  /** Interrupts everything at once. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closed = true
    return Effect.forEach(Array.from(this.tables.values()), closeTable, { concurrency: "unbounded", discard: true })
  })

  private sweep(): void {
    for (const [key, table] of this.tables) if (table.size === 0) this.tables.delete(key)
  }
}

const noClaim = Result.succeed(undefined)

/** What a request says about its sender; a transport that has looked already says so. */
const claimOf = (
  request: JsonRpc.Request,
  facts: Facts
): Result.Result<Meta.Envelope | undefined, Meta.EnvelopeFault> => {
  const { classified } = facts
  if (classified === undefined) return Meta.modernEnvelope(request.params)
  return classified._tag === "Modern" ? Result.succeed(classified.envelope) : noClaim
}

class Door {
  private readonly gateway: Gateway
  readonly connections: Connections
  readonly callers: Callers
  private readonly http: HttpSessions

  constructor(gateway: Gateway, scope: Scope.Scope) {
    this.gateway = gateway
    this.connections = new Connections(gateway, scope)
    this.callers = new Callers(gateway.requestsInFlight)
    this.http = new HttpSessions(gateway)
  }

  readonly handle = (exchange: Exchange): Effect.Effect<Admission, Rejected> => {
    const { facts, message } = exchange
    if (JsonRpc.isRequest(message)) {
      const claim = claimOf(message, facts)
      if (Result.isFailure(claim)) {
        return Exit.fail(rejected(new McpError.InvalidEnvelope({ key: claim.failure.key, reason: claim.failure.reason }), modernOf(this.gateway.settings)))
      }
      if (claim.success !== undefined) return this.modern(exchange, message, claim.success)
      const lacking = lacksEnvelope(this.gateway, message)
      if (lacking !== undefined) return Exit.fail(lacking)
    } else if (facts.classified?._tag === "Modern") {
      // Over HTTP a modern client says nothing but requests: what it sends else is taken and left alone (HTTP-67).
      return Exit.succeed({})
    }
    return facts.connection === undefined
      ? this.http.handle(exchange, this.callers.of)
      : this.connections.legacy(facts.connection, exchange)
  }

  private modern(
    exchange: Exchange,
    request: JsonRpc.Request,
    envelope: Meta.Envelope
  ): Exit.Exit<Admission, Rejected> {
    const { settings } = this.gateway
    const revision = settings.byVersion.get(envelope.protocolVersion)
    if (revision?.era !== "modern") {
      return Exit.fail(rejected(
        new McpError.UnsupportedVersion({ supported: settings.supported, requested: envelope.protocolVersion }),
        modernOf(settings)
      ))
    }
    if (this.gateway.isDraining()) return Exit.fail(shuttingDown(revision))
    const { facts } = exchange
    const client: Client = {
      revision,
      facts,
      clientCapabilities: envelope.clientCapabilities,
      clientInfo: envelope.clientInfo,
      logLevel: settings.declared.logging === false ? undefined : envelope.logLevel
    }
    return facts.connection === undefined
      ? this.gateway.modern.start({ exchange, request, client, inFlight: this.callers.of(facts), key: exchange })
      : this.connections.modern(facts.connection, exchange, request, client)
  }

  readonly admitBatch: Endpoint["Service"]["admitBatch"] = (messages, facts) => {
    const admit = (revision: Revision | undefined): Effect.Effect<void, Rejected> => {
      const modern = messages.some((message) =>
        JsonRpc.isRequest(message) && Result.getOrElse(Meta.modernEnvelope(message.params), () => true) !== undefined
      )
      const refusal = modern
        ? "a batch holds no requests of a revision without batches"
        : Lifecycle.batchRefusal(revision, messages, this.gateway.batchLength)
      return refusal === undefined ? Exit.void : Exit.fail(rejected(
        new McpError.InvalidRequest({ detail: refusal }),
        revision ?? fallback(this.gateway.settings)
      ))
    }
    const { connection } = facts
    return connection === undefined
      ? Effect.flatMap(this.http.batchRevision(facts), admit)
      : admit(this.connections.session(connection)?.agreed()?.revision)
  }

  readonly attach: Endpoint["Service"]["attach"] = (facts, link) => this.http.attach(facts, link)

  readonly terminate: Endpoint["Service"]["terminate"] = (facts) => this.http.terminate(facts)
}

/** The sessions of this process that are open. */
class OpenSessions extends Context.Service<OpenSessions, Set<Session>>()("@mcpfx/server/OpenSessions") {}

/** What requests run with: all that the endpoint was built with, but for what belongs to the building itself. */
const serving = (settings: Settings): Effect.Effect<Context.Context<never>> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const { declared, forwardLogs, limits } = settings
    const flat = new Map(Context.add(context, ServerLimits, limits).mapUnsafe)
    for (const key of [Scope.Scope.key, Tracer.ParentSpan.key, Layer.CurrentMemoMap.key]) flat.delete(key)
    const own = Context.makeUnsafe<never>(flat)
    return Effect.succeed(forwardLogs && declared.logging !== false ? LogBridge.install(own) : own)
  })

/** Makes the sessions of the revisions that have them, and tells them of changes. */
const layerFactory = (
  settings: Settings
): Layer.Layer<Sessions.SessionFactory, never, Dispatcher | OpenSessions> =>
  Layer.effect(
    Sessions.SessionFactory,
    Effect.gen(function*() {
      const dispatcher = yield* Dispatcher
      const open = yield* OpenSessions
      const services = yield* serving(settings)
      // Sessions are opened by requests, whose context need not have the endpoint's limits.
      const limits = yield* SessionLimits.SessionLimits
      const defaultLogLevel = settings.declared.logging === false ? undefined : settings.logLevel

      const follow = (session: Session) =>
        dispatcher.listen.follow({
          hears: (kind) => {
            const agreed = session.agreed()
            return agreed?.initialized === true && dispatcher.offer(agreed.revision, true).announces[kind]
          },
          uris: session.subscriptions,
          caller: () => dispatcher.callers.get(session.id),
          tell: Listen.teller((method, params) => Effect.ignore(session.peer.notify(method, params)))
        })

      const make = Effect.fnUntraced(function*(seed: Sessions.Seed) {
        let made: Session | undefined
        const session = yield* SessionModule.make({
          ...seed,
          role: "server",
          handler: dispatcher,
          revisions: settings.revisions,
          defaultLogLevel,
          limits,
          services,
          onClosed: (reason) => {
            if (made !== undefined) open.delete(made)
            dispatcher.callers.delete(seed.id)
            seed.onClosed(reason)
          }
        })
        made = session
        open.add(session)
        yield* follow(session)
        return session
      })
      return { make }
    })
  )

/**
 * @category constructors
 * @since 0.1.0
 */
const make = (
  settings: Settings
): Effect.Effect<
  McpEndpoint["Service"],
  never,
  Dispatcher | Registry | Sessions.Sessions | OpenSessions | Scope.Scope
> =>
  Effect.gen(function*() {
    const dispatcher = yield* Dispatcher
    const registry = yield* Registry
    const sessions = yield* Sessions.Sessions
    const open = yield* OpenSessions
    const sessionLimits = yield* SessionLimits.SessionLimits
    const { drain } = yield* Limits.Limits
    const scope = yield* Effect.scope
    const context = yield* serving(settings)
    let draining = false
    const door = new Door({
      settings,
      registry,
      dispatcher,
      sessions,
      modern: Modern.make({ dispatcher, registry, context }),
      context,
      requestsInFlight: sessionLimits.requestsInFlight,
      batchLength: sessionLimits.batchLength,
      isDraining: () => draining
    }, scope)
    yield* Effect.addFinalizer(() => Effect.andThen(door.connections.close, door.callers.close))

    const before = new Set<Effect.Effect<void>>()
    const stop = Effect.suspend(() => {
      draining = true
      const first = Effect.forEach([...before, dispatcher.listen.end], (effect) => effect, { discard: true })
      return Effect.andThen(
        first,
        Effect.andThen(
          Effect.all([sessions.drain(drain), door.connections.drain(drain), door.callers.drain(drain)], {
            concurrency: "unbounded",
            discard: true
          }),
          sessions.closeAll("shutdown")
        )
      )
    })
    // Whoever asks for it, it is done once, and to its end.
    const shutdown = yield* Effect.cached(Effect.uninterruptible(stop))

    const member: Health.Member = {
      shutdown,
      health: () => ({
        name: settings.info.name,
        version: settings.info.version,
        status: draining ? "draining" : "serving",
        inFlight: Array.from(open, (session) => session.load().serving).reduce((a, b) => a + b, 0) +
          door.connections.inFlight + door.callers.size,
        listening: dispatcher.listen.open(),
        sessions: open.size
      })
    }
    const members = yield* Health.CurrentMembers
    yield* members.join(member)
    return {
      ...member,
      supported: settings.supported,
      endStreams: dispatcher.listen.end,
      beforeShutdown: (effect) =>
        Effect.acquireRelease(
          Effect.sync(() => void before.add(effect)),
          () => Effect.sync(() => before.delete(effect))
        ),
      endpoint: { handle: door.handle, admitBatch: door.admitBatch, attach: door.attach, terminate: door.terminate }
    }
  })

/**
 * Where an endpoint keeps its sessions.
 *
 * @category models
 * @since 0.1.0
 */
export type Directory<E = never, R = never> = Layer.Layer<
  Sessions.Sessions,
  E,
  Sessions.SessionFactory | SecureRandom.SecureRandom | R
>

/**
 * An endpoint over what is registered. It needs its own `Registry` and `ChangeBus`; sessions are kept in `directory`, by
 * default in the memory of this process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E = never, R = never>(
  settings: Settings,
  directory: Directory<E, R>
): Layer.Layer<McpEndpoint | Endpoint, E, Registry | ChangeBus | SecureRandom.SecureRandom | R> => {
  const dispatcher = Layer.effect(Dispatcher, makeDispatcher(settings))
  const open = Layer.sync(OpenSessions, () => new Set<Session>())
  const kept = Layer.provide(directory, Layer.provide(layerFactory(settings), [dispatcher, open]))
  const own = Layer.provide(Layer.effect(McpEndpoint, make(settings)), [kept, dispatcher, open])
  return Layer.provideMerge(Layer.effect(Endpoint, Effect.map(McpEndpoint, (self) => self.endpoint)), own)
}

/**
 * The inward door of a server, and the one place where the eras part: a request that says who sends it is served by itself,
 * `initialize` and what belongs to a session go to a session. Both may come over one connection.
 *
 * @since 0.1.0
 */
import * as SessionModule from "@mcpfx/session/Session"
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import * as Sessions from "@mcpfx/session/Sessions"
import { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Limits from "@mcpfx/transport/Limits"
import * as Context from "effect/Context"
import type { SecureRandom } from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import type { ChangeBus } from "./ChangeBus.ts"
import { Dispatcher, make as makeDispatcher } from "./Dispatcher.ts"
import * as Health from "./Health.ts"
import { asksOf } from "./internal/asking.ts"
import { Door } from "./internal/door.ts"
import type { Http } from "./internal/http.ts"
import * as Modern from "./internal/modern.ts"
import { type Common, ServedSession } from "./internal/servedSession.ts"
import type { Settings } from "./internal/settings.ts"
import * as LogBridge from "./LogBridge.ts"
import { Registry } from "./Registry.ts"
import type { InvalidOptions } from "./ServerError.ts"
import { ServerLimits } from "./ServerLimits.ts"

type Session = SessionModule.Session

/**
 * What can be done with an endpoint from inside the program.
 *
 * **Example** (Looking at an endpoint)
 *
 * ```ts
 * import { McpEndpoint, McpServer } from "@mcpfx/server"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.map(McpEndpoint.McpEndpoint, (self) => [self.health().status, self.supported[0]])
 * const server = McpServer.layer(Layer.empty, { name: "empty", version: "1.0.0" })
 * await Effect.runPromise(Effect.provide(program, server)) // => ["serving", "2026-07-28"]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class McpEndpoint extends Context.Service<
  McpEndpoint,
  Health.Member & {
    readonly endpoint: Endpoint["Service"]
    /** The versions served, newest first. */
    readonly supported: ReadonlyArray<string>
    /** Ends listen streams, each with its result, and lets everything else go on. */
    readonly endStreams: Effect.Effect<void>
    /** Has `effect` run at the beginning of a shutdown, while the scope is open: for transports that stop admitting. */
    readonly beforeShutdown: (effect: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
  }
>()("@mcpfx/server/McpEndpoint") {}

/** The sessions of this process that are open. */
class OpenSessions extends Context.Service<OpenSessions, Map<string, Session>>()("@mcpfx/server/OpenSessions") {}

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
      const { tasks } = dispatcher
      if (tasks !== undefined) tasks.peers.of = (id) => open.get(id)?.peer
      const services = yield* serving(settings)
      // Sessions are opened by requests, whose context need not have the endpoint's limits.
      const limits = yield* SessionLimits.SessionLimits
      const common: Common = {
        dispatcher,
        open,
        revisions: settings.revisions,
        defaultLogLevel: settings.declared.logging === false ? undefined : settings.logLevel,
        limits,
        services,
        pingEvery: settings.heartbeat
      }
      const make = Effect.fnUntraced(function*(seed: Sessions.Seed) {
        const served = new ServedSession(common, seed)
        const session = yield* SessionModule.make(served)
        served.begin(session, yield* Effect.scope)
        return session
      })
      return { make }
    })
  )

const make = (
  settings: Settings,
  http: Http
): Effect.Effect<
  McpEndpoint["Service"],
  InvalidOptions,
  Dispatcher | Registry | Sessions.Sessions | OpenSessions | Scope.Scope
> =>
  Effect.gen(function*() {
    const dispatcher = yield* Dispatcher
    const registry = yield* Registry
    const sessions = yield* Sessions.Sessions
    const open = yield* OpenSessions
    const sessionLimits = yield* SessionLimits.SessionLimits
    const { batch, drain } = yield* Limits.Limits
    const scope = yield* Effect.scope
    const context = yield* serving(settings)
    const asks = yield* asksOf(settings)
    let draining = false
    const door = new Door(
      {
        settings,
        registry,
        dispatcher,
        sessions,
        modern: Modern.make({ dispatcher, registry, context, asks, refusal: http.refusal }),
        context,
        requestsInFlight: sessionLimits.requestsInFlight,
        batchLength: batch,
        isDraining: () => draining,
        isOpen: (session) => open.has(session.id)
      },
      http,
      scope
    )
    const { callers } = door.http
    yield* Effect.addFinalizer(() => Effect.andThen(door.connections.close, callers.close))

    const before = new Set<Effect.Effect<void>>()
    const stop = Effect.suspend(() => {
      draining = true
      const first = Effect.forEach([...before, dispatcher.listen.end], (effect) => effect, { discard: true })
      return Effect.andThen(
        first,
        Effect.andThen(
          Effect.forEach(
            [sessions, door.connections, callers, ...(dispatcher.tasks === undefined ? [] : [dispatcher.tasks])],
            (each) => each.drain(drain),
            { concurrency: "unbounded", discard: true }
          ),
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
        inFlight: Array.from(open.values(), (session) => session.load().serving).reduce((a, b) => a + b, 0) +
          door.connections.inFlight + callers.size,
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
      endpoint: door.endpoint
    }
  })

/**
 * An endpoint over what is registered, with a `Registry` and a `ChangeBus` of its own. Its sessions are kept in `directory`,
 * which makes them with the endpoint's `SessionFactory`; `http` is how it is reached beside connections.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  settings: Settings,
  directory: Layer.Layer<Sessions.Sessions, E, R>,
  http: Http
): Layer.Layer<
  McpEndpoint | Endpoint,
  E | InvalidOptions,
  Registry | ChangeBus | SecureRandom | Exclude<R, Sessions.SessionFactory>
> => {
  const dispatcher = Layer.effect(Dispatcher, makeDispatcher(settings))
  const open = Layer.sync(OpenSessions, () => new Map<string, Session>())
  const factory = Layer.provide(layerFactory(settings), [dispatcher, open])
  const own = Layer.provide(Layer.effect(McpEndpoint, make(settings, http)), [
    Layer.provide(directory, factory),
    dispatcher,
    open
  ])
  return Layer.provideMerge(Layer.effect(Endpoint, Effect.map(McpEndpoint, (self) => self.endpoint)), own)
}

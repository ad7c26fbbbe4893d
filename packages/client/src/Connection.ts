/**
 * Owns the way to the server: connects, agrees on a revision, and connects anew when the connection is lost.
 *
 * One connection is made at a time, for all who wait for it. A request whose session the server has forgotten is sent once
 * more on a new session (HTTP-40); any other lost request is the caller's, since it may have had its effect.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Codes from "@mcpfx/schema/Codes"
import type * as Implementation from "@mcpfx/schema/Implementation"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type * as Handler from "@mcpfx/session/Handler"
import type { PeerFailure } from "@mcpfx/session/Peer"
import type * as Session from "@mcpfx/session/Session"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import type { Link } from "@mcpfx/transport/Link"
import * as Patience from "@mcpfx/transport/Patience"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import type { ClientOptions } from "./ClientOptions.ts"
import * as Attempt from "./internal/attempt.ts"
import * as Handshake from "./internal/handshake.ts"
import * as Heartbeat from "./internal/heartbeat.ts"
import { identity } from "./internal/identity.ts"
import { isPassing } from "./internal/passing.ts"
import { ConnectionLost, fail, fromPeer, mapPeer, type McpClientError, TimedOut } from "./McpClientError.ts"
import * as Negotiation from "./Negotiation.ts"

/**
 * What the server said about itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerFacts {
  readonly revision: Revision
  /** How the server calls itself: for display, never for decisions (META-10). */
  readonly info: Implementation.Implementation | undefined
  readonly capabilities: Capabilities.Server
  readonly instructions: string | undefined
}

/**
 * A connection that is open, or was.
 *
 * @category models
 * @since 0.1.0
 */
export interface Live extends ServerFacts {
  readonly session: Session.Session
  readonly link: Link
  /** Whether it has ended. */
  readonly over: () => boolean
  /** Why it has. */
  readonly lost: () => ConnectionLost
  /** Closes with the connection. */
  readonly scope: Scope.Scope
  /** Counts the connections of this client, from 1. */
  readonly generation: number
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Connection {
  readonly target: string
  readonly transport: "memory" | "stdio" | "http"
  /** Whether a connection that was lost is made anew. */
  readonly renews: boolean
  /** Whether its scope is closed: nothing is sent any more. */
  readonly isClosed: () => boolean
  /** The open connection, made if there is none. */
  readonly live: Effect.Effect<Live, McpClientError>
  /** Runs one request; on a session that the server forgot, once more on a new one. */
  readonly use: Use
  /** The same, looked at when it is called: for effects that are under way. */
  readonly useNow: Use
}

/**
 * @category models
 * @since 0.1.0
 */
export type Use = <A>(
  method: string,
  run: (live: Live) => Effect.Effect<A, PeerFailure>
) => Effect.Effect<A, McpClientError>

/**
 * What a connection is made from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parts {
  readonly transport: ClientTransport["Service"]
  readonly handler: Handler.Handler["Service"]
  /** What the client says it can do. */
  readonly declared: Capabilities.Client
  /** What of it, and what more, is said on a revision; all of it by default. */
  readonly declaredOn?: ((declared: Capabilities.Client, revision: Revision) => Capabilities.Client) | undefined
  readonly options: ClientOptions
  /** Run on each new connection before anything else is. */
  readonly prepare?: ((live: Live) => Effect.Effect<void>) | undefined
}

/** Between attempts to get a lost connection back. */
const attempts = Schedule.exponential("100 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 5 }))

/** How long requests may still run on a connection that was given up. */
const grace = "5 seconds"

const isIdle = ({ session }: Live): boolean => session.load().waiting === 0

/**
 * A connection that is made on first use; closing the scope ends it, and all that waits for it fails at once.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  parts: Parts
): Effect.fn.Return<Connection, never, Scope.Scope> {
  const { options, prepare = () => Effect.void, transport } = parts
  const scope = yield* Effect.scope
  const context = yield* Effect.context<never>()
  const handshake = yield* handshakeOf(parts)
  const { patience } = handshake
  const renews = options.reconnect ?? transport.kind === "http"
  const { connectTimeout, eras } = handshake
  const isClosed = () => scope.state._tag === "Closed"
  let generation = 0
  let current: { readonly live: Live; readonly scope: Scope.Closeable } | undefined
  const retired = new WeakMap<Live, Effect.Effect<void>>()

  const agree = (own: Scope.Closeable): Effect.Effect<Live, McpClientError> =>
    Handshake.agree(handshake).pipe(
      Effect.map((agreed): Live => ({ ...agreed, scope: own, generation: generation + 1 })),
      Effect.tap(prepare),
      Effect.tap((live) => Heartbeat.start(live, options.heartbeat)),
      Scope.provide(own),
      (agreed) =>
        Patience.timeoutOrElse(agreed, {
          patience,
          duration: connectTimeout,
          orElse: () => Effect.fail(fail(new TimedOut({ millis: Duration.toMillis(connectTimeout) })))
        })
    )

  const open = Effect.uninterruptibleMask((restore) =>
    Effect.suspend(() => {
      const own = Scope.forkUnsafe(scope)
      return restore(agree(own)).pipe(
        Effect.onExit((exit) => Exit.isFailure(exit) ? Scope.close(own, exit) : Effect.void),
        Effect.map((live) => {
          generation = live.generation
          current = { live, scope: own }
          return live
        })
      )
    })
  )

  const drop = Effect.suspend(() => {
    if (current === undefined) return Effect.void
    const { scope: own } = current
    current = undefined
    return Scope.close(own, Exit.void)
  })

  /**
   * Gives up a connection that no longer stands for anything. Requests that are still under way on it hear for themselves
   * whether they were carried out, and those that were not are sent again: the last of them closes it, or the time.
   */
  const retire = (old: Live): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (current?.live === old) {
        const { scope: own } = current
        current = undefined
        const close = Scope.close(own, Exit.void)
        retired.set(old, close)
        if (!isIdle(old)) return Effect.asVoid(Effect.forkIn(Effect.andThen(Effect.sleep(grace), close), scope))
      }
      return isIdle(old) ? retired.get(old) ?? Effect.void : Effect.void
    })

  const again = Effect.retry(open, { schedule: attempts, while: ({ reason }) => isPassing(reason) })
  const attempt = Attempt.shared(
    Effect.andThen(drop, Effect.suspend(() => generation > 0 && renews ? again : open)),
    scope,
    context
  )

  const live: Effect.Effect<Live, McpClientError> = Effect.suspend(() => {
    if (current !== undefined) {
      const known = current.live
      if (!known.over()) return Effect.succeed(known)
      if (!renews) return Effect.fail(fail(known.lost()))
    }
    return isClosed() ? clientClosed : Effect.flatMap(attempt, outcomeOf)
  })

  const uses = usedBy({
    live,
    open: () => current === undefined || current.live.over() ? undefined : current.live,
    replace: retire,
    disproved: () => eras.forget(transport.target)
  })

  return { target: transport.target, transport: transport.kind, renews, isClosed, live, ...uses }
})

const handshakeOf = Effect.fnUntraced(function*({ declared, declaredOn, handler, options, transport }: Parts) {
  const spoken = Negotiation.revisionsOf(Revisions.all, options)
  const revisions = spoken === undefined || !options.tasks ? spoken : Arr.map(spoken, Revisions.withTasks)
  if (revisions === undefined) return yield* Effect.die(new Error("ClientOptions.revisions names no revision"))
  const connectTimeout = Duration.fromInputUnsafe(options.connectTimeout ?? "30 seconds")
  const parts: Handshake.Options = {
    transport,
    handler,
    revisions,
    declared,
    declaredOn,
    info: options.info ?? identity,
    connectTimeout,
    // HTTP answers, if only with a status: silence there is no sign of anything. Nor is it where nothing else would be tried.
    probeTimeout: transport.kind === "http" || revisions.every(({ era }) => era === "modern")
      ? connectTimeout
      : Duration.fromInputUnsafe(options.probeTimeout ?? "5 seconds"),
    eras: yield* Negotiation.CurrentEraCache,
    patience: yield* Patience.CurrentPatience
  }
  return parts
})

/** How requests are run on whatever connection there is. */
const usedBy = (ways: {
  readonly live: Effect.Effect<Live, McpClientError>
  /** The connection, where it is open already. */
  readonly open: () => Live | undefined
  /** Gives up a connection that the server does not know any more. */
  readonly replace: (stale: Live) => Effect.Effect<void>
  /** The server no longer speaks the revision. */
  readonly disproved: () => void
}): Pick<Connection, "use" | "useNow"> => {
  const useNow: Use = (method, run) => {
    const again = () => Effect.flatMap(ways.live, (second) => mapPeer(method)(run(second)))
    const runOn = (first: Live) =>
      Effect.catch(run(first), (failure) => {
        if (!isStale(failure)) return Effect.fail(fromPeer(failure, method))
        if (failure._tag !== "SessionLost") ways.disproved()
        return Effect.flatMap(ways.replace(first), again)
      })
    const open = ways.open()
    return open === undefined ? Effect.flatMap(ways.live, runOn) : runOn(open)
  }
  return { use: (method, run) => Effect.suspend(() => useNow(method, run)), useNow }
}

const clientClosed = Effect.fail(fail(new ConnectionLost({ detail: "the client is closed" })))

/** An attempt is interrupted only when the client is closed. */
const outcomeOf = <A>(exit: Exit.Exit<A, McpClientError>): Effect.Effect<A, McpClientError> =>
  Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? clientClosed : exit

/** The server forgot the session, or no longer speaks the revision: both are mended by a new connection. */
const isStale = (failure: PeerFailure): boolean => {
  switch (failure._tag) {
    case "SessionLost":
      return true
    case "PeerError":
      return failure.code === Codes.unsupportedVersion
    case "HttpFailure":
      return failure.error?.code === Codes.unsupportedVersion
    default:
      return false
  }
}

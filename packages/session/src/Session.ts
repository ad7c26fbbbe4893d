/**
 * The session of a stateful revision, for servers and clients alike.
 *
 * A session is the one owner of its state: what was agreed, the level of log messages, the subscriptions, the requests it
 * serves and the requests it sent. Messages are taken in synchronously, so its state never changes in the middle of one.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Admission, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import type { Handler } from "./Handler.ts"
import { Actor } from "./internal/actor.ts"
import { keepAlive } from "./internal/keepAlive.ts"
import { revivedIds } from "./internal/revivedIds.ts"
import type { Peer } from "./Peer.ts"
import type { IdFormat } from "./Pending.ts"
import type { CloseReason } from "./SessionError.ts"
import { type Limits, SessionLimits } from "./SessionLimits.ts"
import type { SessionRecord } from "./SessionStore.ts"

/**
 * What was agreed with `initialize`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agreed {
  readonly revision: Revision
  readonly clientInfo: Implementation.Implementation
  readonly clientCapabilities: Capabilities.Client
  /** Whether `notifications/initialized` has come (LIF-06). */
  readonly initialized: boolean
}

/**
 * The state of a session that began elsewhere: a client's own handshake, another process, or a request that says it all.
 *
 * @category models
 * @since 0.1.0
 */
export interface Established {
  readonly revision: Revision
  readonly clientInfo: Implementation.Implementation
  readonly clientCapabilities: Capabilities.Client
  /** `true` by default. */
  readonly initialized?: boolean | undefined
  readonly logLevel?: Logging.Level | undefined
  readonly subscriptions?: Iterable<string> | undefined
  /** On a client of 2026-07-28: what the `_meta` of every request carries (META-07). */
  readonly envelope?: JsonRpc.JsonObject | undefined
}

/**
 * One owner of its state, its own scope, supervised fibers: closing it interrupts every request it serves, fails every
 * request it sent and ends its streams.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session {
  readonly id: string
  readonly role: "server" | "client"
  /** Whom the session belongs to: nobody else may use it. */
  readonly principalKey: string
  /** Takes one message in, synchronously: it is served, or the reason why not is given. */
  readonly accept: (exchange: Exchange) => Exit.Exit<Admission, Rejected>
  /** Sends to the other side over the attached link. */
  readonly peer: Peer
  /** Makes `link` a way for what answers nothing, while the scope is open (HTTP-20, HTTP-24): the newest one is used. */
  readonly attach: (link: Link) => Effect.Effect<void, Rejected, Scope.Scope>
  /** Says how a client's handshake ended; also when its terms change. Does nothing once the session is over. */
  readonly establish: (established: Established) => void
  /** `undefined` before `initialize` was answered. */
  readonly agreed: () => Agreed | undefined
  /** The level the client asked for with `logging/setLevel`, or the server's default (LOG-02). */
  readonly logLevel: () => Logging.Level | undefined
  /** The resources the client is subscribed to. */
  readonly subscriptions: () => ReadonlySet<string>
  /** Ends the session. Idempotent; succeeds when every fiber of it has ended. */
  readonly close: (reason: CloseReason) => Effect.Effect<void>
  /** Takes no new requests, and succeeds when those that run have ended; at the deadline they are interrupted. */
  readonly drain: (deadline: Duration.Input) => Effect.Effect<void>
  /** Completes with the reason once the session is over. */
  readonly closed: Effect.Effect<CloseReason>
  /** Whether a request runs, a stream is open or an ask waits: busy sessions never idle out. */
  readonly busy: () => boolean
  /** What is alive in it: for tests and for health. */
  readonly load: () => Load
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Load {
  /** Requests being served that have suspended. */
  readonly serving: number
  /** Requests sent and not answered. */
  readonly waiting: number
  /** Other fibers: notifications being handled, messages being written. */
  readonly fibers: number
  /** Streams that are attached. */
  readonly streams: number
  /** Whether the timer of the sent requests runs. */
  readonly timer: boolean
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly id: string
  readonly role: "server" | "client"
  readonly handler: Handler["Service"]
  /** The revisions this side speaks. */
  readonly revisions: ReadonlyArray<Revision>
  /** The connection, where there is one: the session ends with it. */
  readonly link?: Link | undefined
  /** Whom the session belongs to; the anonymous caller by default. */
  readonly principalKey?: string | undefined
  /** Overrides of the limits in force. */
  readonly limits?: Partial<Limits> | undefined
  /** The level of log messages until the client asks for one; `undefined` for none. */
  readonly defaultLogLevel?: Logging.Level | undefined
  /** What handlers run with; the context of `make` by default. */
  readonly services?: Context.Context<never> | undefined
  /** The session begins where another one stands. */
  readonly established?: Established | undefined
  /** The same, as a `SessionStore` keeps it; a record of a revision that is not spoken here any more is left alone. */
  readonly record?: SessionRecord | undefined
  /** The session lives for one exchange: it shows no id, and cannot ask its client anything. */
  readonly stateless?: boolean | undefined
  /**
   * How ids of sent requests look: integers by default, from 1 in a new session, from a number that was not used before in
   * one that a `record` revives (RPC-03, RPC-18 of field practice).
   */
  readonly idFormat?: IdFormat | undefined
  /**
   * How often to ask the other side whether it is there; never by default. A ping that is not answered within the request
   * timeout ends the session as `disconnected` (PNG-02). Revisions without pings have none.
   */
  readonly pingEvery?: Duration.Input | undefined
  /** Keeps the session elsewhere; called whenever what it keeps has changed, and before `initialize` is answered. */
  readonly save?: ((session: Session) => Effect.Effect<void>) | undefined
  /** Called, synchronously, when a link was attached: what could not be sent before can be now. */
  readonly onAttached?: (() => void) | undefined
  /** Called, synchronously, when the peer has begun to watch a resource, or has stopped: not for those of a `record`. */
  readonly onWatched?: ((uri: string, watched: boolean) => void) | undefined
  /** Called once, when the session begins to end. */
  readonly onClosed?: ((reason: CloseReason) => void) | undefined
}

const merged = new WeakMap<Partial<Limits>, { readonly base: Limits; readonly limits: Limits }>()

/** One table for all sessions that are made with the same limits. */
const limitsOf = (base: Limits, overrides: Partial<Limits> | undefined): Limits => {
  if (overrides === undefined) return base
  const known = merged.get(overrides)
  if (known?.base === base) return known.limits
  const limits = { ...base, ...overrides }
  merged.set(overrides, { base, limits })
  return limits
}

/**
 * A session. Its scope closes it with the reason `shutdown`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: Options): Effect.fn.Return<Session, never, Scope.Scope> {
  const context = yield* Effect.context<never>()
  const limits = limitsOf(Context.get(context, SessionLimits), options.limits)
  const ids = options.idFormat ?? (options.record === undefined ? undefined : revivedIds())
  const actor = new Actor(options, limits, options.services ?? context, ids)
  yield* Scope.addFinalizerExit(yield* Effect.scope, actor.close.bind(actor, "shutdown"))
  if (options.link !== undefined) {
    yield* Effect.forkScoped(Effect.flatMap(options.link.closed, (error) => actor.lost(error)))
  }
  if (options.pingEvery !== undefined) yield* Effect.forkScoped(keepAlive(actor, options.pingEvery))
  return actor.session
})

/**
 * The limits of sessions and of what is sent over them: one table, each row an option.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Requests of one session, or of one connection, that run at the same time; 1,024. Past it, that one is refused. */
  readonly requestsInFlight: number
  /** Sessions of one directory; 10,000. Past it, opening one fails with `TooManySessions`. */
  readonly sessions: number
  /** Sessions of one authenticated caller; 100. Anonymous callers cannot be told apart and share only `sessions`. */
  readonly sessionsPerPrincipal: number
  /** How long a session may stay unused; 30 minutes. Busy and streaming sessions never idle out. */
  readonly idle: Duration.Duration
  /** How long a request waits for its answer; 60 seconds (LIF-14). */
  readonly requestTimeout: Duration.Duration
  /** How far progress may move that deadline; 10 minutes after the request was sent. */
  readonly maxRequestTimeout: Duration.Duration
  /** How long the other side may take over a request that a handler asks; 10 minutes: a human may be in between. */
  readonly askTimeout: Duration.Duration
  /** How long closing waits for handlers that will not end; 10 seconds. */
  readonly closeGrace: Duration.Duration
  /**
   * How long it may take to take something back: a notice about a request may wait so long for room on its stream, the end of
   * a subscription for its answer; 5 seconds.
   */
  readonly cancelGrace: Duration.Duration
  /** Progress of one request that waits for a slow reader; 1,024. Past it, the oldest goes. */
  readonly progressBacklog: number
  /** Resources one session may be subscribed to; 10,000. */
  readonly subscriptions: number
}

/**
 * What holds where nothing is said.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaults: Limits = {
  requestsInFlight: 1024,
  sessions: 10_000,
  sessionsPerPrincipal: 100,
  idle: Duration.minutes(30),
  requestTimeout: Duration.seconds(60),
  maxRequestTimeout: Duration.minutes(10),
  askTimeout: Duration.minutes(10),
  closeGrace: Duration.seconds(10),
  cancelGrace: Duration.seconds(5),
  progressBacklog: 1024,
  subscriptions: 10_000
}

/**
 * The limits in force; the defaults where no layer says otherwise.
 *
 * @category references
 * @since 0.1.0
 */
export const SessionLimits = Context.Reference<Limits>("@mcpfx/session/SessionLimits", {
  defaultValue: () => defaults
})

/**
 * Sets some limits and keeps the rest.
 *
 * **Example** (A small server)
 *
 * ```ts
 * import { SessionLimits } from "@mcpfx/session"
 * import { Effect } from "effect"
 *
 * const program = Effect.map(SessionLimits.SessionLimits, (limits) => [limits.sessions, limits.requestsInFlight])
 * Effect.runSync(Effect.provide(program, SessionLimits.layer({ sessions: 50 }))) // => [50, 1024]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (limits: Partial<Limits>): Layer.Layer<never> =>
  Layer.effect(SessionLimits, Effect.map(SessionLimits, (current) => ({ ...current, ...limits })))

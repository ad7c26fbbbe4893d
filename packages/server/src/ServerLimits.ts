/**
 * The bounds of a server, in one table; those of its transports are in `@mcpfx/transport/Limits`.
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
export interface ServerLimits {
  /** Requests in flight on one connection, or of one principal where requests stand alone. Default 1,024. */
  readonly inFlight: number
  /** Handlers that run at the same time in one endpoint; the others wait in their own fibers. Default: no bound. */
  readonly concurrency: number
  /** Open `subscriptions/listen` streams of one principal. Default 100. */
  readonly listenStreams: number
  /** Resource URIs one listen stream or session may subscribe to. Default 1,000. */
  readonly subscriptions: number
  /** How long changes are gathered after one was announced. Default 100 milliseconds. */
  readonly coalesce: Duration.Duration
  /** Entries on one page of a list. Default 100. */
  readonly pageSize: number
  /** Log messages one request may send at once. Default 100. */
  readonly logBurst: number
  /** Log messages a second one request may send after its burst. Default 50. */
  readonly logRate: number
  /** Characters of the data of one log message; longer data is cut. Default 16,384. */
  readonly logLength: number
}

/**
 * @category constants
 * @since 0.1.0
 */
export const defaults: ServerLimits = {
  inFlight: 1024,
  concurrency: Number.POSITIVE_INFINITY,
  listenStreams: 100,
  subscriptions: 1000,
  coalesce: Duration.millis(100),
  pageSize: 100,
  logBurst: 100,
  logRate: 50,
  logLength: 16_384
}

/**
 * The limits in force: the defaults, unless a layer or an endpoint's options say otherwise.
 *
 * @category references
 * @since 0.1.0
 */
export const ServerLimits = Context.Reference<ServerLimits>("@mcpfx/server/ServerLimits", {
  defaultValue: () => defaults
})

/**
 * Changes some limits and leaves the others as they were.
 *
 * **Example** (Fewer requests at a time)
 *
 * ```ts
 * import { ServerLimits } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * const program = Effect.map(ServerLimits.ServerLimits, (limits) => [limits.inFlight, limits.pageSize])
 * Effect.runSync(Effect.provide(program, ServerLimits.layer({ inFlight: 16 }))) // => [16, 100]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (overrides: Partial<ServerLimits>): Layer.Layer<never> =>
  Layer.effect(ServerLimits, Effect.map(ServerLimits, (limits) => ({ ...limits, ...overrides })))

/**
 * The bounds of a server, in one table; those of its sessions are in `@mcpfx/session/SessionLimits`, those of its transports in
 * `@mcpfx/transport/Limits`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * The bounds, each with what is past it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServerLimits {
  /** Handlers that run at the same time in one endpoint; the others wait in their own fibers. Default: no bound. */
  readonly concurrency: number
  /** Open `subscriptions/listen` streams of one principal; callers that nobody authenticated count as one. Default 100. */
  readonly listenStreams: number
  /** Resources one listen stream may watch; the rest is not acknowledged. Default 10,000. */
  readonly watched: number
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
  /** Rounds that one request may take (2026-07-28). Past it, it fails. Default 32. */
  readonly rounds: number
  /** Bytes of the state that travels with a round; one in a `StateStore` does not travel. Default 65,536. */
  readonly stateBytes: number
  /** Bytes of one state in a `StateStore`. Default 1 MiB. */
  readonly keptStateBytes: number
  /** How long a client has to come back with the answers of a round. Default 10 minutes. */
  readonly stateLife: Duration.Duration
  /** How long the other fibers of a handler may go on once one of them waits for an answer. Default 10 milliseconds. */
  readonly roundGrace: Duration.Duration
  /** How long a `StepStore` remembers a step. Default 24 hours. */
  readonly stepLife: Duration.Duration
  /** How long a store of states or steps may take over one operation. Default 10 seconds. */
  readonly storeTimeout: Duration.Duration
  /** Tasks that are kept, finished ones until their time is over. Default 1,000. */
  readonly tasks: number
  /** Tasks of one principal that run at the same time; callers that nobody authenticated count as one. Default 100. */
  readonly tasksPerPrincipal: number
  /** How long a task is kept from its creation where nobody says otherwise; one that still runs then ends. Default 1 hour. */
  readonly taskTtl: Duration.Duration
  /** The longest time that a client may ask for. Default 24 hours. */
  readonly maxTaskTtl: Duration.Duration
  /** How long clients are told to wait between two looks at a task. Default 1 second. */
  readonly taskPollInterval: Duration.Duration
  /** How long the handler of a cancelled task may take to end before the log says that it does not. Default 10 seconds. */
  readonly taskGrace: Duration.Duration
}

/**
 * The bounds where nobody says otherwise.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaults: ServerLimits = {
  concurrency: Number.POSITIVE_INFINITY,
  listenStreams: 100,
  watched: 10_000,
  coalesce: Duration.millis(100),
  pageSize: 100,
  logBurst: 100,
  logRate: 50,
  logLength: 16_384,
  rounds: 32,
  stateBytes: 65_536,
  keptStateBytes: 2 ** 20,
  stateLife: Duration.minutes(10),
  roundGrace: Duration.millis(10),
  stepLife: Duration.hours(24),
  storeTimeout: Duration.seconds(10),
  tasks: 1000,
  tasksPerPrincipal: 100,
  taskTtl: Duration.hours(1),
  maxTaskTtl: Duration.hours(24),
  taskPollInterval: Duration.seconds(1),
  taskGrace: Duration.seconds(10)
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
 * **Example** (Fewer streams)
 *
 * ```ts
 * import { ServerLimits } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * const program = Effect.map(ServerLimits.ServerLimits, (limits) => [limits.listenStreams, limits.pageSize])
 * Effect.runSync(Effect.provide(program, ServerLimits.layer({ listenStreams: 16 }))) // => [16, 100]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (overrides: Partial<ServerLimits>): Layer.Layer<never> =>
  Layer.effect(ServerLimits, Effect.map(ServerLimits, (limits) => ({ ...limits, ...overrides })))

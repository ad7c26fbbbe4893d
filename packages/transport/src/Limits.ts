/**
 * The bounds of the transports, in one table.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

const MiB = 1024 * 1024

/**
 * Sizes are bytes unless their name says messages or events.
 *
 * @category models
 * @since 0.1.0
 */
export interface Limits {
  /** Longest line a stdio server reads; a longer one is answered with -32600 and skipped. Default 16 MiB. */
  readonly stdioMessageIn: number
  /** Longest line a stdio server writes; a longer answer becomes -32603. Default 16 MiB. */
  readonly stdioMessageOut: number
  /** Largest body an HTTP server reads; a larger one is refused with 413. Default 4 MiB. */
  readonly httpBodyIn: number
  /** Largest message an HTTP server writes; a larger answer becomes -32603. Default 32 MiB. */
  readonly httpMessageOut: number
  /** Largest message a client reads, on every transport. Default 32 MiB. */
  readonly clientMessageIn: number
  /** How deep the arrays and objects of a message may nest. Default 128. */
  readonly depth: number
  /** Most messages of one batch (2025-03-26). Default 100. */
  readonly batch: number
  /**
   * Messages that may wait on one outgoing stream before its writers have to; with as many answers waiting, no more
   * requests are read. Default 1,024.
   */
  readonly outgoingMessages: number
  /** The same in bytes. Default 16 MiB. */
  readonly outgoingBytes: number
  /** How long a full outgoing stream may make no progress before its reader counts as dead. Default 60 seconds. */
  readonly deadReader: Duration.Duration
  /** Request bodies an endpoint holds at a time, in total. Default 64 MiB. */
  readonly bufferedBodies: number
  /** Time between the comments that keep an idle stream open. Default 15 seconds. */
  readonly keepAlive: Duration.Duration
  /** How long a POST waits for its answer before it becomes an event stream. Default 1 second. */
  readonly streamAfter: Duration.Duration
  /** How long a server waits at its end for the answers in flight. Default 10 seconds. */
  readonly drain: Duration.Duration
  /** How long a child process gets after its stdin was closed, and again after the TERM signal. Default 2 seconds. */
  readonly childGrace: Duration.Duration
  /** What is kept of a child's stderr to explain its end. Default 16 KiB. */
  readonly stderrTail: number
}

/**
 * @category constants
 * @since 0.1.0
 */
export const defaults: Limits = {
  stdioMessageIn: 16 * MiB,
  stdioMessageOut: 16 * MiB,
  httpBodyIn: 4 * MiB,
  httpMessageOut: 32 * MiB,
  clientMessageIn: 32 * MiB,
  depth: 128,
  batch: 100,
  outgoingMessages: 1024,
  outgoingBytes: 16 * MiB,
  deadReader: Duration.seconds(60),
  bufferedBodies: 64 * MiB,
  keepAlive: Duration.seconds(15),
  streamAfter: Duration.seconds(1),
  drain: Duration.seconds(10),
  childGrace: Duration.seconds(2),
  stderrTail: 16 * 1024
}

/**
 * The limits in force: the defaults, unless a layer says otherwise.
 *
 * @category references
 * @since 0.1.0
 */
export const Limits = Context.Reference<Limits>("@mcpfx/transport/Limits", { defaultValue: () => defaults })

/**
 * Changes some limits and leaves the others as they were.
 *
 * **Example** (Smaller messages)
 *
 * ```ts
 * import { Limits } from "@mcpfx/transport"
 * import { Effect } from "effect"
 *
 * const program = Effect.map(Limits.Limits, (limits) => [limits.httpBodyIn, limits.batch])
 * Effect.runSync(Effect.provide(program, Limits.layer({ httpBodyIn: 65_536 }))) // => [65536, 100]
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (overrides: Partial<Limits>): Layer.Layer<never> =>
  Layer.effect(Limits, Effect.map(Limits, (limits) => ({ ...limits, ...overrides })))

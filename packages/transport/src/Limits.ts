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
  /** Streams of HTTP+SSE that may be open at a time. Default 10,000. */
  readonly sseStreams: number
  /** The same for one principal; anonymous callers cannot be told apart and are not counted. Default 100. */
  readonly sseStreamsPerPrincipal: number
  /** Time between the comments that keep an idle stream open. Default 15 seconds. */
  readonly keepAlive: Duration.Duration
  /** How long a POST waits for its answer before it becomes an event stream. Default 1 second. */
  readonly streamAfter: Duration.Duration
  /** How long a server waits at its end for the answers in flight. Default 10 seconds. */
  readonly drain: Duration.Duration
  /** How long a stdio server that is interrupted may take to write the answers it has. Default 1 second. */
  readonly lastWrite: Duration.Duration
  /** How long a child process gets after its stdin was closed, and again after the TERM signal. Default 2 seconds. */
  readonly childGrace: Duration.Duration
  /** What is kept of a child's stderr to explain its end. Default 16 KiB. */
  readonly stderrTail: number
  /** Events an event store keeps of one stream; the oldest go first. Default 1,000. */
  readonly eventsPerStream: number
  /** How long an event store keeps a stream after its last event or reader. Default 5 minutes. */
  readonly eventLife: Duration.Duration
  /** What an event store keeps for one session; the oldest events go first. Default 4 MiB. */
  readonly eventBytesPerSession: number
  /** What an event store in memory keeps in all, and what may wait to be stored; then nothing more is kept. Default 256 MiB. */
  readonly eventBytes: number
  /** How long an event store may take for one operation. Default 5 seconds. */
  readonly eventStoreTimeout: Duration.Duration
  /** What clients of resumable streams are told to wait before they come back. Default 1 second. */
  readonly reconnectAfter: Duration.Duration
  /** Time between two looks for events of a stream that lives in another process. Default 1 second. */
  readonly eventPoll: Duration.Duration
  /** How long one connection looks for them; then the client has to come back. Default 60 seconds. */
  readonly eventWait: Duration.Duration
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
  sseStreams: 10_000,
  sseStreamsPerPrincipal: 100,
  keepAlive: Duration.seconds(15),
  streamAfter: Duration.seconds(1),
  drain: Duration.seconds(10),
  lastWrite: Duration.seconds(1),
  childGrace: Duration.seconds(2),
  stderrTail: 16 * 1024,
  eventsPerStream: 1000,
  eventLife: Duration.minutes(5),
  eventBytesPerSession: 4 * MiB,
  eventBytes: 256 * MiB,
  eventStoreTimeout: Duration.seconds(5),
  reconnectAfter: Duration.seconds(1),
  eventPoll: Duration.seconds(1),
  eventWait: Duration.seconds(60)
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

/**
 * Keeps the events of streams for a while, so that a client whose connection broke can have the rest (HTTP-33).
 *
 * With a store in the context an HTTP server gives the events of sessions ids (HTTP-31); without one it does not, and
 * nothing can be resumed. Events of 2026-07-28 never have ids.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Memory from "./internal/eventMemory.ts"
import { Limits } from "./Limits.ts"
import type { EventStoreFull, EventStoreUnavailable } from "./TransportError.ts"

/**
 * Names one stream of one session.
 *
 * @category models
 * @since 0.1.0
 */
export interface StreamKey {
  /** The session and whose it is, from {@link ownerOf}. Secret, as it holds the id of a session. */
  readonly owner: string
  /** The stream: unguessable, and free of what a header may not hold. */
  readonly stream: string
}

/**
 * One event of a stream.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredEvent {
  /** Its place in the stream, without gaps. */
  readonly seq: number
  /** The message as JSON; empty for the event a stream starts with (HTTP-28). */
  readonly data: string
}

/**
 * What is kept of a stream.
 *
 * @category models
 * @since 0.1.0
 */
export interface Replay {
  /** The events after the one that was asked for, in order; some may be missing where too many were kept. */
  readonly events: ReadonlyArray<StoredEvent>
  /** The place of the last event there was, kept or not. */
  readonly last: number
  /** Whether no more will come. */
  readonly ended: boolean
}

/**
 * The owner of the streams of a session. A store is asked only for streams of the owner who asks, so nobody reads events of
 * another session or another principal, whatever id they send.
 *
 * @category models
 * @since 0.1.0
 */
export const ownerOf = (sessionId: string, principalKey: string): string => `${sessionId} ${principalKey}`

/**
 * Where the events of streams are kept, for a while.
 *
 * @category services
 * @since 0.1.0
 */
export class EventStore extends Context.Service<EventStore, {
  /**
   * Keeps events, which come in order, and makes the stream with the first of them. Events that are kept already are left
   * alone: after a failure the same ones come again.
   */
  readonly append: (
    key: StreamKey,
    events: ReadonlyArray<StoredEvent>
  ) => Effect.Effect<void, EventStoreUnavailable | EventStoreFull>
  /** The events after one, and that somebody still reads the stream; `None` for a stream that is not kept. */
  readonly read: (key: StreamKey, after: number) => Effect.Effect<Option.Option<Replay>, EventStoreUnavailable>
  /** No more will come; what there is stays for as long as any stream. */
  readonly end: (key: StreamKey) => Effect.Effect<void, EventStoreUnavailable>
  /** Forgets all streams of a session that its client has ended (HTTP-41); those of others go with their time. */
  readonly remove: (owner: string) => Effect.Effect<void, EventStoreUnavailable>
}>()("@mcpfx/transport/EventStore") {}

/**
 * Keeps events in this process, within `eventsPerStream`, `eventLife`, `eventBytesPerSession` and `eventBytes` of `Limits`.
 *
 * **Example** (What was missed)
 *
 * ```ts
 * import { EventStore } from "@mcpfx/transport"
 * import { Effect, Option } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* EventStore.EventStore
 *   const key = { owner: EventStore.ownerOf("session", ""), stream: "a" }
 *   yield* store.append(key, [{ seq: 1, data: "{}" }, { seq: 2, data: "[]" }])
 *   return Option.map(yield* store.read(key, 1), ({ events }) => events.map(({ data }) => data))
 * })
 * Effect.runSync(Effect.provide(program, EventStore.layerMemory)) // => Option.some(["[]"])
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<EventStore> = Layer.effect(
  EventStore,
  Effect.flatMap(Limits, Memory.make)
)

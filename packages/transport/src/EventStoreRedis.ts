/**
 * An event store in Redis: a client may come back to another process than the one it left, within `Limits.eventLife`.
 *
 * Apart from `EventStore`, so that only those who use Redis load what it takes.
 *
 * @since 0.1.0
 */
import * as Digest from "effect/crypto/Digest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"
import { EventStore, type Replay, type StoredEvent, type StreamKey } from "./EventStore.ts"
import * as Scripts from "./internal/eventRedis.ts"
import { Limits } from "./Limits.ts"
import { EventStoreFull, EventStoreUnavailable } from "./TransportError.ts"

/**
 * What {@link layer} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What the names of all keys begin with. Default `mcp-events/`. */
  readonly prefix?: string | undefined
}

const encoder = new TextEncoder()
const decodeReply = Schema.decodeUnknownOption(Schema.Array(Schema.String))

const replayOf = (reply: ReadonlyArray<string>): Replay => {
  const [last = "0", ended, ...fields] = reply
  const events: Array<StoredEvent> = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    events.push({ seq: Number(fields[at]), data: fields[at + 1] ?? "" })
  }
  return { events, last: Number(last), ended: ended === "1" }
}

const make = Effect.fnUntraced(function*(options: Options) {
  const redis = yield* Redis.Redis
  const limits = yield* Limits
  const digest = yield* Digest.Digest
  const prefix = options.prefix ?? "mcp-events/"
  const bounds: Scripts.Bounds = {
    life: Duration.toMillis(limits.eventLife),
    perStream: limits.eventsPerStream,
    perOwner: limits.eventBytesPerSession
  }
  const append = redis.eval(Scripts.append)
  const read = redis.eval(Scripts.read)
  const end = redis.eval(Scripts.end)
  const remove = redis.eval(Scripts.remove)

  // An owner holds the id of a session, which is a secret; keys are not.
  const keysOf = (owner: string) =>
    Effect.map(digest.digestHex(Digest.sha256, encoder.encode(owner)), (hash) => `${prefix}{${hash}}`)
  const unavailable = (operation: EventStoreUnavailable["operation"]) => (cause: unknown) =>
    new EventStoreUnavailable({ operation, cause })

  return EventStore.of({
    append: (key: StreamKey, events: ReadonlyArray<StoredEvent>) =>
      Effect.flatMap(keysOf(key.owner), (keys) => append(keys, key.stream, bounds, events)).pipe(
        Effect.mapError(unavailable("append")),
        Effect.flatMap((full) =>
          Number(full) === 0 ? Effect.void : Effect.fail(new EventStoreFull({ limit: "eventBytesPerSession" }))
        )
      ),
    read: (key: StreamKey, after: number) =>
      Effect.flatMap(keysOf(key.owner), (keys) => read(keys, key.stream, bounds, after)).pipe(
        Effect.mapError(unavailable("read")),
        Effect.map((reply) => Option.map(decodeReply(reply), replayOf))
      ),
    end: (key: StreamKey) =>
      Effect.flatMap(keysOf(key.owner), (keys) => end(keys, key.stream, bounds)).pipe(
        Effect.mapError(unavailable("end")),
        Effect.asVoid
      ),
    remove: (owner: string) =>
      Effect.flatMap(keysOf(owner), (keys) => remove(keys)).pipe(
        Effect.mapError(unavailable("remove")),
        Effect.asVoid
      )
  })
})

/**
 * Keeps events in Redis 5 or later, within `eventsPerStream`, `eventLife` and `eventBytesPerSession` of `Limits`; what all of
 * them may take together is for Redis to say (`maxmemory`).
 *
 * Each operation is one script, so events neither double nor mix when it is repeated. While Redis does not answer, what is
 * to be stored waits in the process within `Limits.eventBytes`; commands should then fail rather than wait
 * (`disableOfflineQueue` of node-redis).
 *
 * **Example** (A store that several servers share)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { EventStoreRedis } from "@mcpfx/transport"
 * import { Layer } from "effect"
 *
 * const Events = EventStoreRedis.layer().pipe(
 *   Layer.provide(NodeRedis.layer({ url: "redis://localhost:6379", disableOfflineQueue: true }))
 * )
 * Layer.isLayer(Events) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<EventStore, never, Redis.Redis> =>
  Layer.effect(EventStore, make(options)).pipe(Layer.provide(Digest.layerWebCrypto))

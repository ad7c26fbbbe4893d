/**
 * Kept sessions in Redis: any process of a server can go on with a session that another one opened.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import * as Schema from "effect/Schema"
import { SessionRecord, SessionStore } from "./internal/sessionRecord.ts"
import { SessionStoreUnavailable } from "./SessionError.ts"
import { SessionLimits } from "./SessionLimits.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** What the names of all keys begin with. Default `mcp-session/`. */
  readonly prefix?: string | undefined
}

const Stored = Schema.fromJsonString(SessionRecord)
const encode = Schema.encodeEffect(Stored)
const decode = Schema.decodeUnknownEffect(Stored)

/**
 * Keeps records until their sessions have been idle for `SessionLimits.idle`. The ids of sessions are in the names of keys:
 * who can read the keys of this Redis can act for every session.
 *
 * **Example** (Sessions that several processes share)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { SessionStoreRedis } from "@mcpfx/session"
 * import { Layer } from "effect"
 *
 * const Sessions = SessionStoreRedis.layer().pipe(Layer.provide(NodeRedis.layer({ url: "redis://localhost:6379" })))
 * Layer.isLayer(Sessions) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = ({ prefix = "mcp-session/" }: Options = {}): Layer.Layer<SessionStore, never, Redis.Redis> =>
  Layer.effect(
    SessionStore,
    Effect.gen(function*() {
      const redis = yield* Redis.Redis
      const { idle } = yield* SessionLimits
      const life = String(Math.max(Math.ceil(Duration.toMillis(idle)), 1))
      const unavailable = (operation: SessionStoreUnavailable["operation"]) => (cause: unknown) =>
        new SessionStoreUnavailable({ operation, cause })
      const store: SessionStore["Service"] = {
        load: (id) =>
          Effect.flatMap(
            redis.send("GET", prefix + id),
            (reply) =>
              typeof reply === "string" ? Effect.asSome(decode(reply)) : Effect.succeed(Option.none<SessionRecord>())
          ).pipe(
            Effect.mapError(unavailable("load"))
          ),
        save: (record) =>
          Effect.flatMap(encode(record), (text) => redis.send("SET", prefix + record.id, text, "PX", life)).pipe(
            Effect.mapError(unavailable("save")),
            Effect.asVoid
          ),
        remove: (id) => Effect.asVoid(Effect.mapError(redis.send("DEL", prefix + id), unavailable("remove")))
      }
      return store
    })
  )

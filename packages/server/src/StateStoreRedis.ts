/**
 * States of rounds in Redis: any process of a server can go on with a round that another one began.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redis from "effect/persistence/Redis"
import { StoreUnavailable } from "./AskError.ts"
import { millis, type Options, textOf } from "./internal/redis.ts"
import { StateStore } from "./StateStore.ts"

/**
 * Keeps states under `mcp-state/`, each for its life. They are sealed before they come here, and Redis cannot read them.
 *
 * **Example** (States that several processes share)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { StateStoreRedis } from "@mcpfx/server"
 * import { Layer } from "effect"
 *
 * const States = StateStoreRedis.layer().pipe(Layer.provide(NodeRedis.layer({ url: "redis://localhost:6379" })))
 * Layer.isLayer(States) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<StateStore, never, Redis.Redis> =>
  Layer.effect(
    StateStore,
    Effect.map(Redis.Redis, (redis) => {
      const { prefix = "mcp-state/" } = options
      const unavailable = (operation: string) => (cause: unknown) =>
        new StoreUnavailable({ store: "states", operation, cause })
      return {
        put: (handle: string, sealed: string, life: Duration.Input) =>
          redis.send("SET", prefix + handle, sealed, "PX", millis(life)).pipe(
            Effect.mapError(unavailable("put")),
            Effect.asVoid
          ),
        get: (handle: string) =>
          redis.send("GET", prefix + handle).pipe(
            Effect.mapError(unavailable("get")),
            Effect.map((reply) => Option.fromUndefinedOr(textOf(reply)))
          )
      }
    })
  )

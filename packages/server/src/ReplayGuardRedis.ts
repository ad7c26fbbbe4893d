/**
 * Which states of rounds were used, in Redis: none is used twice, by whichever process of a server.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redis from "effect/persistence/Redis"
import { StoreUnavailable } from "./AskError.ts"
import { millis, type Options, textOf } from "./internal/redis.ts"
import { ReplayGuard } from "./ReplayGuard.ts"

/**
 * Keeps what was claimed under `mcp-replay/`, each for its life. A claim whose answer was lost counts as made: nothing is let
 * through twice.
 *
 * **Example** (Claims that several processes share)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { ReplayGuardRedis } from "@mcpfx/server"
 * import { Layer } from "effect"
 *
 * const Claims = ReplayGuardRedis.layer().pipe(Layer.provide(NodeRedis.layer({ url: "redis://localhost:6379" })))
 * Layer.isLayer(Claims) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<ReplayGuard, never, Redis.Redis> =>
  Layer.effect(
    ReplayGuard,
    Effect.map(Redis.Redis, (redis) => {
      const { prefix = "mcp-replay/" } = options
      return {
        claim: (id: string, life: Duration.Input) =>
          redis.send("SET", prefix + id, "1", "NX", "PX", millis(life)).pipe(
            Effect.mapError((cause) => new StoreUnavailable({ store: "claims", operation: "claim", cause })),
            Effect.map((reply) => textOf(reply) === "OK")
          )
      }
    })
  )

/**
 * Steps in Redis: a step that a client sends twice is done once, by whichever process of a server.
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
import { StepStore } from "./StepStore.ts"

const compareAndSet = Redis.script(
  (key: string, expected: Option.Option<string>, next: string, life: string): ReadonlyArray<unknown> => [
    key,
    next,
    life,
    ...Option.toArray(expected)
  ],
  {
    lua: `
if redis.call('GET', KEYS[1]) ~= (ARGV[3] or false) then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`,
    numberOfKeys: 1
  }
).withReturnType<unknown>()

/**
 * Keeps steps under `mcp-step/`, each for its life. A step whose beginning was acknowledged and whose end was not is in doubt
 * for all, as it should be.
 *
 * **Example** (Steps that several processes share)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { StepStoreRedis } from "@mcpfx/server"
 * import { Layer } from "effect"
 *
 * const Steps = StepStoreRedis.layer().pipe(Layer.provide(NodeRedis.layer({ url: "redis://localhost:6379" })))
 * Layer.isLayer(Steps) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options = {}): Layer.Layer<StepStore, never, Redis.Redis> =>
  Layer.effect(
    StepStore,
    Effect.map(Redis.Redis, (redis) => {
      const { prefix = "mcp-step/" } = options
      const swap = redis.eval(compareAndSet)
      const unavailable = (operation: string) => (cause: unknown) =>
        new StoreUnavailable({ store: "steps", operation, cause })
      return {
        get: (key: string) =>
          redis.send("GET", prefix + key).pipe(
            Effect.mapError(unavailable("get")),
            Effect.map((reply) => Option.fromUndefinedOr(textOf(reply)))
          ),
        compareAndSet: (key: string, expected: Option.Option<string>, next: string, life: Duration.Input) =>
          swap(prefix + key, expected, next, millis(life)).pipe(
            Effect.mapError(unavailable("compareAndSet")),
            Effect.map((reply) => Number(reply) === 1)
          )
      }
    })
  )

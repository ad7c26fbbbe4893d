/**
 * Remembers which steps were begun and how they ended, beyond the request and the process: a step that a client sends twice
 * is then done once.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { StoreUnavailable } from "./AskError.ts"
import { Expiring } from "./internal/expiring.ts"

/**
 * A table of texts that change only if they are still what they were thought to be.
 *
 * **Example** (One of two begins)
 *
 * ```ts
 * import { StepStore } from "@mcpfx/server"
 * import { Effect, Option } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* StepStore.StepStore
 *   const begin = store.compareAndSet("step", Option.none(), "begun", "1 hour")
 *   return [yield* begin, yield* begin]
 * })
 * await Effect.runPromise(Effect.provide(program, StepStore.layerMemory())) // => [true, false]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class StepStore extends Context.Service<StepStore, {
  readonly get: (key: string) => Effect.Effect<Option.Option<string>, StoreUnavailable>
  /** Sets `next`, to be kept for `life`, where the key holds `expected`; whether it did. */
  readonly compareAndSet: (
    key: string,
    expected: Option.Option<string>,
    next: string,
    life: Duration.Input
  ) => Effect.Effect<boolean, StoreUnavailable>
}>()("@mcpfx/server/StepStore") {}

/**
 * In this process, at most `entries` (100,000) of them: the oldest go first.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: { readonly entries?: number | undefined }): Layer.Layer<StepStore> =>
  Layer.sync(StepStore, () => {
    const table = new Expiring(options?.entries ?? 100_000)
    return {
      get: (key) => Effect.map(Clock.currentTimeMillis, (now) => Option.fromUndefinedOr(table.get(key, now))),
      compareAndSet: (key, expected, next, life) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (table.get(key, now) !== Option.getOrUndefined(expected)) return false
          table.set(key, next, now + Duration.toMillis(life), now)
          return true
        })
    }
  })

/**
 * A place for the states of rounds. With one, states of any size stay with the server, and a sealed handle travels instead.
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
 * What is put here is sealed already. Entries go when their time is over.
 *
 * **Example** (Large states stay with the server)
 *
 * ```ts
 * import { StateStore } from "@mcpfx/server"
 * import { Effect, Option } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* StateStore.StateStore
 *   yield* store.put("handle", "sealed", "10 minutes")
 *   return Option.getOrNull(yield* store.get("handle"))
 * })
 * await Effect.runPromise(Effect.provide(program, StateStore.layerMemory())) // => "sealed"
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class StateStore extends Context.Service<StateStore, {
  readonly put: (handle: string, sealed: string, life: Duration.Input) => Effect.Effect<void, StoreUnavailable>
  readonly get: (handle: string) => Effect.Effect<Option.Option<string>, StoreUnavailable>
}>()("@mcpfx/server/StateStore") {}

/**
 * In this process, at most `entries` (10,000) of them and `characters` (64 Mi) in all: the oldest go first.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (
  options?: { readonly entries?: number | undefined; readonly characters?: number | undefined }
): Layer.Layer<StateStore> =>
  Layer.sync(StateStore, () => {
    const table = new Expiring(options?.entries ?? 10_000, options?.characters ?? 64 * 2 ** 20)
    return {
      put: (handle, sealed, life) =>
        Effect.map(Clock.currentTimeMillis, (now) => table.set(handle, sealed, now + Duration.toMillis(life), now)),
      get: (handle) => Effect.map(Clock.currentTimeMillis, (now) => Option.fromUndefinedOr(table.get(handle, now)))
    }
  })

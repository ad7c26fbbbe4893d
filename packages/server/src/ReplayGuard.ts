/**
 * Has each state of a round be used once. Without it a client may send a round again while the state lives, which is how it
 * gets over a connection that broke.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreUnavailable } from "./AskError.ts"
import { Expiring } from "./internal/expiring.ts"

/**
 * Remembers the ids of states that were used, until they have expired.
 *
 * **Example** (A state that comes twice)
 *
 * ```ts
 * import { ReplayGuard } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const guard = yield* ReplayGuard.ReplayGuard
 *   return [yield* guard.claim("state", "10 minutes"), yield* guard.claim("state", "10 minutes")]
 * })
 * await Effect.runPromise(Effect.provide(program, ReplayGuard.layerMemory())) // => [true, false]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class ReplayGuard extends Context.Service<ReplayGuard, {
  /** Whether nobody had claimed the id; it is remembered for `life`. One of several claims at once gets it. */
  readonly claim: (id: string, life: Duration.Input) => Effect.Effect<boolean, StoreUnavailable>
}>()("@mcpfx/server/ReplayGuard") {}

/**
 * In this process, at most `entries` (100,000) ids: past it, states are refused rather than let through twice.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: { readonly entries?: number | undefined }): Layer.Layer<ReplayGuard> =>
  Layer.sync(ReplayGuard, () => {
    const limit = options?.entries ?? 100_000
    const table = new Expiring(Number.POSITIVE_INFINITY)
    return {
      claim: (id, life) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          if (table.get(id, now) !== undefined) return false
          if (table.size >= limit) table.sweep(now)
          if (table.size >= limit) return false
          table.set(id, "", now + Duration.toMillis(life), now)
          return true
        })
    }
  })

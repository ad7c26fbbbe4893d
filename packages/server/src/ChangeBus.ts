/**
 * Tells every session and listen stream of an endpoint what changed.
 *
 * One subscription per listener: nothing two of them could take from each other.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"

/**
 * A list that changed, or one resource whose contents did. Many in a row are told as one.
 *
 * @category models
 * @since 0.1.0
 */
export type Update =
  | { readonly kind: "tools" | "prompts" | "resources" }
  | { readonly kind: "resource"; readonly uri: string }

/**
 * A notification that is not the protocol's own, for all who want it. Each is told.
 *
 * @category models
 * @since 0.1.0
 */
export interface Announcement {
  readonly kind: "announcement"
  readonly method: string
  /** The params as they are sent. */
  readonly params: JsonObject
  /** What it is about, where listeners name what they want to hear of. */
  readonly topic: string | undefined
  /** The key of the one principal it is for; everybody where there is none. */
  readonly principal: string | undefined
}

/**
 * Everything that is told to clients that did not just ask.
 *
 * @category models
 * @since 0.1.0
 */
export type Change = Update | Announcement

/**
 * @category services
 * @since 0.1.0
 */
export class ChangeBus extends Context.Service<ChangeBus, {
  readonly publish: (change: Change) => Effect.Effect<void>
  /** Calls `listener`, synchronously, with each change while the scope is open. Listeners coalesce for themselves. */
  readonly subscribe: (listener: (change: Change) => void) => Effect.Effect<void, never, Scope.Scope>
}>()("@mcpfx/server/ChangeBus") {}

/**
 * A bus inside this process. It keeps nothing: a change reaches those who listen at that moment.
 *
 * A listener that throws is logged, and keeps neither the publisher nor the other listeners from their work.
 *
 * **Example** (Hearing of changes)
 *
 * ```ts
 * import { ChangeBus } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const bus = yield* ChangeBus.make
 *   const heard: Array<string> = []
 *   yield* Effect.scoped(Effect.andThen(
 *     bus.subscribe((change) => heard.push(change.kind)),
 *     bus.publish({ kind: "tools" })
 *   ))
 *   yield* bus.publish({ kind: "prompts" }) // nobody listens any more
 *   return heard
 * })
 * Effect.runSync(program) // => ["tools"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make: Effect.Effect<ChangeBus["Service"]> = Effect.sync(() => {
  const listeners = new Set<{ readonly hear: (change: Change) => void }>()
  return {
    // A copy, since hearing may end or open subscriptions.
    publish: (change) =>
      Effect.suspend(() =>
        Effect.forEach(
          Array.from(listeners),
          (listener) =>
            Effect.catchCause(
              Effect.sync(() => listener.hear(change)),
              (cause) => Effect.logError("A listener of changes failed", cause)
            ),
          { discard: true }
        )
      ),
    subscribe: (hear) => {
      const listener = { hear }
      return Effect.acquireRelease(
        Effect.sync(() => void listeners.add(listener)),
        () => Effect.sync(() => listeners.delete(listener))
      )
    }
  }
})

/**
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<ChangeBus> = Layer.effect(ChangeBus, make)

/** The port of sealed states, apart from what seals them: a program that asks nothing should not load the ciphers. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"

/**
 * A secret of at least 32 characters, the same on every instance that serves the same clients.
 *
 * @category models
 * @since 0.1.0
 */
export type Key = Redacted.Redacted<string> | string

/**
 * A state that was opened.
 *
 * @category models
 * @since 0.1.0
 */
export interface Opened {
  readonly text: string
  /** Told apart from every other state that was ever sealed; the same whenever this one is opened. */
  readonly id: string
}

/**
 * Seals what travels with a round. What it gives out says nothing to others, and nothing that was changed, or sealed by
 * anyone else, is ever opened.
 *
 * **Example** (There and back)
 *
 * ```ts
 * import { RequestState } from "@mcpfx/server"
 * import { Effect, Option } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const state = yield* RequestState.RequestState
 *   const opened = yield* state.unseal(yield* state.seal("answers so far"))
 *   return [Option.getOrThrow(opened).text, Option.isNone(yield* state.unseal("something else"))]
 * })
 * await Effect.runPromise(Effect.provide(program, RequestState.layerRandom)) // => ["answers so far", true]
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export class RequestState extends Context.Service<RequestState, {
  readonly seal: (text: string) => Effect.Effect<string>
  /** `None` for everything that was not sealed by a key of the ring, whatever is the matter with it. */
  readonly unseal: (sealed: string) => Effect.Effect<Option.Option<Opened>>
}>()("@mcpfx/server/RequestState") {}

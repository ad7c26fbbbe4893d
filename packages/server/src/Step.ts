/**
 * Parts of a handler that are done once, however often the handler runs.
 *
 * @since 0.1.0
 */
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Asking } from "./Entry.ts"
import { bring } from "./internal/asking.ts"
import { CurrentStep } from "./internal/interaction.ts"
import { makeAsks } from "./internal/makeAsks.ts"
import { interactionOf } from "./internal/wayToAsk.ts"
import type { StepInDoubt } from "./ServerError.ts"

bring(makeAsks)

/**
 * What a step is told about itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Facts {
  /** The same however often the step of this call is begun: for systems that do one thing once under one key. */
  readonly idempotencyKey: string
}

/**
 * Runs an effect and keeps what it gives, so that a later pass over the handler has it without running the effect again. On
 * revisions with one pass it runs, once.
 *
 * **When to use**
 *
 * For everything before a question that must not be repeated, and for what the questions themselves depend on: the time,
 * chance, the outside world.
 *
 * **Details**
 *
 * - The result travels sealed with the state of the request; `schema` is how it is written.
 * - Only results are kept: an effect that fails runs again in the next pass.
 * - It is not exactly once. A client that sends a round twice, or dies with it, has the step done again, under the same
 *   `idempotencyKey`. With a `StepStore` the second run has the first one's result, or fails with `StepInDoubt`.
 * - A question inside of a step is a defect, and so are, on 2026-07-28, two steps of one name.
 *
 * **Example** (Starting something once)
 *
 * ```ts
 * import { Input, Step } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const handler = Effect.gen(function*() {
 *   const ticket = yield* Step.run("ticket", ({ idempotencyKey }) => Effect.succeed(`T-${idempotencyKey}`), Schema.String)
 *   const { close } = yield* Input.elicit(`Close ${ticket}?`, Schema.Struct({ close: Schema.Boolean }))
 *   return close ? `closed ${ticket}` : `kept ${ticket}`
 * })
 * ```
 *
 * @category running
 * @since 0.1.0
 */
export const run = <A, E, R>(
  key: string,
  effect: (facts: Facts) => Effect.Effect<A, E, R>,
  schema: Schema.ConstraintCodec<A, unknown, never, never>
): Effect.Effect<A, E | StepInDoubt, R | RequestContext | Asking> =>
  Effect.contextWith((context: Context.Context<R | RequestContext>) => {
    const codec = JsonSchema.codec(schema)
    const inside = Context.add(context, CurrentStep, key)
    return interactionOf(context).step<A, E>({
      key,
      run: (idempotencyKey) => Effect.provideContext(effect({ idempotencyKey }), inside),
      encode: Schema.encodeSync(codec),
      decode: (json) => Effect.orDie(Schema.decodeUnknownEffect(codec)(json))
    })
  })

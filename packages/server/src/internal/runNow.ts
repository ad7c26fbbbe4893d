/** Runs what mostly ends at once. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

/** The exit of `effect` where it ends on this stack; else an effect that waits for it, and ends it when interrupted. */
export const runNow = <A, E>(
  context: Context.Context<never>,
  effect: Effect.Effect<A, E>
): Exit.Exit<A, E> | Effect.Effect<A, E> => {
  const fiber = Effect.runForkWith(context)(effect)
  return fiber.pollUnsafe() ?? Effect.onInterrupt(Fiber.join(fiber), () => Fiber.interrupt(fiber))
}

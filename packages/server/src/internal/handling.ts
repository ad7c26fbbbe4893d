/** Runs user code in the context that its layer and its request make up. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { RequestServices } from "../Entry.ts"
import type { Captured } from "./capture.ts"

/** Whether an effect has its outcome already. */
export const isDone = <A, E, R>(effect: Effect.Effect<A, E, R>): effect is Exit.Exit<A, E> & Effect.Effect<A, E, R> =>
  Exit.isExit(effect)

/** A handler that has its answer at once needs no context, and is not given one. */
export const running = <A, R>(
  captured: Captured<R>,
  effect: Effect.Effect<A, unknown, R>
): Effect.Effect<A, unknown, RequestServices> => {
  if (isDone(effect)) {
    const done: Exit.Exit<A, unknown> = effect
    return done
  }
  return Effect.updateContext(effect, captured.enter)
}

/** Runs user code in the context that its layer and its request make up. */
import * as Effect from "effect/Effect"
import type { RequestServices } from "../Entry.ts"
import type { Captured } from "./capture.ts"
import { isExit } from "./exit.ts"

/** A handler that has its answer at once needs no context, and is not given one. */
export const running = <A, R>(
  captured: Captured<R>,
  effect: Effect.Effect<A, unknown, R>
): Effect.Effect<A, unknown, RequestServices> => {
  if (isExit(effect)) return effect
  return Effect.updateContext(effect, captured.enter)
}

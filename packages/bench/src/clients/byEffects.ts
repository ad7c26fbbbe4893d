import * as Effect from "effect/Effect"
import { start } from "./drive.ts"

/** Makes calls one by one, some at the same time, in fibers. */
export const byEffects = <E>(call: (a: number) => Effect.Effect<void, E>) => (first: number, count: number) => {
  const numbers = Array.from({ length: count }, (_, index) => first + index)
  return Effect.runPromise(Effect.forEach(numbers, call, { concurrency: start.window, discard: true }))
}

import * as Effect from "effect/Effect"
import { start } from "./drive.ts"

/** Makes calls one by one, some at the same time, each in the fiber of the one before it. */
export const byEffects = <E>(call: (a: number) => Effect.Effect<void, E>) => (first: number, count: number) =>
  Effect.runPromise(Effect.suspend(() => {
    let sent = 0
    const drive = Effect.whileLoop({ while: () => sent < count, body: () => call(first + sent++), step: () => {} })
    return Effect.all(Array.from({ length: start.window }, () => drive), { concurrency: "unbounded", discard: true })
  }))

/** Keeps what is not protocol away from standard output, where a single stray line breaks the conversation (STD-02). */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

const written = ["log", "info", "debug", "table", "dir", "dirxml"] as const

/** As long as the scope is open, the methods of the console that write to standard output write to standard error. */
export const guard: Effect.Effect<void, never, Scope.Scope> = Effect.suspend(() => {
  const console = globalThis.console
  const original = written.map((name) => [name, console[name]] as const)
  return Effect.asVoid(Effect.acquireRelease(
    Effect.sync(() => {
      for (const name of written) console[name] = console.error
    }),
    () =>
      Effect.sync(() => {
        for (const [name, method] of original) console[name] = method
      })
  ))
})

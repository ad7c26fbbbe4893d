/** Waits for what happens by itself, whatever the clock of the test says. */
import { Effect } from "effect"

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))

/** Looks again and again until it is so, by the real clock. */
export const eventually = (what: string, look: () => boolean, millis = 10_000): Effect.Effect<void> =>
  Effect.gen(function*() {
    const until = performance.now() + millis
    while (!look()) {
      if (performance.now() > until) return yield* Effect.die(new Error(`never: ${what}`))
      yield* turn
    }
  })

/** Lets go on whatever can. */
export const settle: Effect.Effect<void> = Effect.gen(function*() {
  for (let turns = 0; turns < 50; turns++) yield* turn
})

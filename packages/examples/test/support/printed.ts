/** What a program prints, as lines. */
import { Console, Effect } from "effect"

/** Runs with what would be printed collected. */
export const printed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const console = yield* Console.Console
    yield* Effect.provideService(effect, Console.Console, {
      ...console,
      log: (...line: ReadonlyArray<unknown>) => {
        lines.push(line.join(" "))
      }
    })
    return lines
  })

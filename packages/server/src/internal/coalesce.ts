/**
 * Gathers changes between two announcements: the first goes out at once, those that follow wait for the end of the
 * window, and the last is never lost.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Change } from "../ChangeBus.ts"

export interface Options {
  readonly window: Duration.Duration
  /** Changes that may wait; past it a resource's change becomes that of what `collapse` gives. */
  readonly capacity: number
  readonly collapse: (change: Change) => Change
  /** Sends one change; may wait for its stream, changes gather meanwhile. */
  readonly send: (change: Change) => Effect.Effect<void>
  /** Runs the pump in a fiber that its owner ends. */
  readonly run: (pump: Effect.Effect<void>) => void
}

const keyOf = (change: Change): string => change.kind === "resource" ? `resource ${change.uri}` : change.kind

/** Takes changes, synchronously. */
export const make = (options: Options): (change: Change) => void => {
  const waiting = new Map<string, Change>()
  let pumping = false
  const pump = Effect.gen(function*() {
    while (waiting.size > 0) {
      const batch = Array.from(waiting.values())
      waiting.clear()
      for (const change of batch) yield* options.send(change)
      yield* Effect.sleep(options.window)
    }
    pumping = false
  })
  return (change) => {
    const kept = waiting.size < options.capacity ? change : options.collapse(change)
    waiting.set(keyOf(kept), kept)
    if (pumping) return
    pumping = true
    options.run(pump)
  }
}

/**
 * Gathers changes between two announcements: the first goes out at once, those that follow wait for the end of the
 * window, and the last is never lost. While there is no stream to send on, they wait for the next one.
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Update } from "../ChangeBus.ts"

export interface Options {
  readonly window: Duration.Duration
  /** Changes that may wait; past it a resource's change becomes that of what `collapse` gives. */
  readonly capacity: number
  readonly collapse: (change: Update) => Update
  /** Sends one change; may wait for its stream, changes gather meanwhile. `false` when there was no stream to send it on. */
  readonly send: (change: Update) => Effect.Effect<boolean>
  /** Runs the pump in a fiber that its owner ends. */
  readonly run: (pump: Effect.Effect<void>) => void
}

export interface Gatherer {
  /** Takes a change, synchronously. */
  readonly offer: (change: Update) => void
  /** Sends what waits, now that there is a stream. */
  readonly resume: () => void
}

const keyOf = (change: Update): string => change.kind === "resource" ? `resource ${change.uri}` : change.kind

export const make = (options: Options): Gatherer => {
  const waiting = new Map<string, Update>()
  let pumping = false
  /** Counts the streams, to see one that came while a change failed on the one before. */
  let streams = 0

  const add = (change: Update): void => {
    const kept = waiting.size < options.capacity ? change : options.collapse(change)
    waiting.set(keyOf(kept), kept)
  }

  /** Sends all that waits; what finds no stream waits on. */
  const flush = Effect.fnUntraced(function*() {
    const batch = Array.from(waiting.values())
    waiting.clear()
    let reached = true
    for (const change of batch) {
      reached = reached && (yield* options.send(change))
      if (!reached) add(change)
    }
    return reached
  })

  const pump = Effect.onError(
    Effect.gen(function*() {
      while (waiting.size > 0) {
        const before = streams
        const reached = yield* flush()
        if (reached) yield* Effect.sleep(options.window)
        else if (streams === before) break
      }
      pumping = false
    }),
    // A pump that fails must not stand in the way of the next.
    () =>
      Effect.sync(() => {
        pumping = false
      })
  )
  const start = (): void => {
    if (pumping) return
    pumping = true
    options.run(pump)
  }

  return {
    offer: (change) => {
      add(change)
      start()
    },
    resume: () => {
      streams++
      if (waiting.size > 0) start()
    }
  }
}

/** Passes announcements on one by one, in order; those for which there is no stream yet wait for it, the oldest go first. */
import * as Effect from "effect/Effect"
import type { Announcement } from "../ChangeBus.ts"

export interface Options {
  /** How many may wait. */
  readonly capacity: number
  /** Sends one; may wait for its stream. `false` when there was no stream to send it on. */
  readonly send: (announcement: Announcement) => Effect.Effect<boolean>
  /** Runs the pump in a fiber that its owner ends. */
  readonly run: (pump: Effect.Effect<void>) => void
}

export interface Forwarder {
  /** Takes an announcement, synchronously. */
  readonly offer: (announcement: Announcement) => void
  /** Sends what waits, now that there is a stream. */
  readonly resume: () => void
}

export const make = ({ capacity, run, send }: Options): Forwarder => {
  const waiting: Array<Announcement> = []
  let pumping = false
  /** Counts the streams, to see one that came while an announcement failed on the one before. */
  let streams = 0

  const pump = Effect.ensuring(
    Effect.gen(function*() {
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        const before = streams
        const sent = yield* send(next)
        if (!sent && streams === before) return
        // It may have been pushed out while it was being sent.
        if (sent && waiting[0] === next) waiting.shift()
      }
    }),
    Effect.sync(() => {
      pumping = false
    })
  )

  const start = (): void => {
    if (pumping || waiting.length === 0) return
    pumping = true
    run(pump)
  }

  return {
    offer: (announcement) => {
      if (waiting.length >= capacity) waiting.shift()
      waiting.push(announcement)
      start()
    },
    resume: () => {
      streams++
      start()
    }
  }
}

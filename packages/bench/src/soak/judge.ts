/** Whether what was counted over the time says that something grows. */
import type { Census } from "./census.ts"

export interface Sample {
  /** Seconds since the start. */
  readonly at: number
  readonly server: Census
  readonly clients: Census
}

/** Growth below this share of the heap is what engines do by themselves. */
const tolerated = 0.05

/** What may just happen to be there at a look, such as a socket that is kept for the next request. */
const chance = 2

const median = (numbers: ReadonlyArray<number>): number => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

const counts = ["fibers", "sockets", "timers", "rows"] as const

/** What has grown from the first third of the samples to the last; the samples are those after the start has settled. */
export const growth = (samples: ReadonlyArray<Sample>): ReadonlyArray<string> => {
  const third = Math.max(Math.floor(samples.length / 3), 1)
  const early = samples.slice(0, third)
  const late = samples.slice(-third)
  return (["server", "clients"] as const).flatMap((side) => {
    const heap = (part: ReadonlyArray<Sample>) => median(part.map((sample) => sample[side].heap))
    const [before, after] = [heap(early), heap(late)]
    const grown = after > before * (1 + tolerated)
      ? [`the heap of the ${side} grew from ${before} to ${after} bytes`]
      : []
    const more = counts.flatMap((name) => {
      const most = (part: ReadonlyArray<Sample>) => Math.max(...part.map((sample) => sample[side][name]))
      return most(late) > most(early) + chance
        ? [`${name} of the ${side} grew from ${most(early)} to ${most(late)}`]
        : []
    })
    return [...grown, ...more]
  })
}

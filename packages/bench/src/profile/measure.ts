/**
 * What a piece of code costs: processor time of this process and bytes on the heap, without the collector.
 *
 * All pieces take turns in short batches, and the least of many batches counts: what else the machine does can only add to
 * one. Two of the pieces are the same, which shows what a difference has to be to mean anything.
 */
import { nothing, type Probe } from "./probe.ts"

export interface Effort {
  /** Batches of each piece. */
  readonly batches: number
  /** Milliseconds of processor time of a batch. */
  readonly batch: number
  /** Milliseconds before the first batch, so that the code is compiled for the work. */
  readonly warmUp: number
  /** Looks at the heap. */
  readonly looks: number
}

export const efforts = {
  full: { batches: 200, batch: 0.6, warmUp: 300, looks: 7 },
  quick: { batches: 30, batch: 0.5, warmUp: 60, looks: 3 },
  once: { batches: 1, batch: 0, warmUp: 0, looks: 1 }
} as const satisfies Record<string, Effort>

export interface Cost {
  /** Nanoseconds, the loop around it taken off. */
  readonly nanos: number
  /** Bytes that it leaves for the collector, or for good. */
  readonly bytes: number
}

/** Microseconds that this process has used. The usage of a thread alone is told in steps of milliseconds by some kernels. */
const used = (): number => {
  const { system, user } = process.cpuUsage()
  return user + system
}

const timed = async ({ run }: Probe, times: number): Promise<number> => {
  const before = used()
  const done = run(times)
  if (done !== undefined) await done
  return used() - before
}

/** Runs it until it is warm; how many times fit in a batch. */
const warm = async (probe: Probe, { batch, warmUp }: Effort): Promise<number> => {
  let times = 1
  let spent = 0
  for (;;) {
    const micros = await timed(probe, times)
    spent += micros
    const enough = batch * 1000
    if (spent >= warmUp * 1000 && micros >= enough / 2) {
      return Math.max(1, Math.round(times * enough / Math.max(micros, 1)))
    }
    if (micros < enough) times *= 2
    if (enough === 0) return 1
  }
}

const most = 4_000_000

/** Bytes that so many runs leave, where the collector did not come in between. */
const grown = async ({ run }: Probe, times: number): Promise<number> => {
  globalThis.gc?.()
  const before = process.memoryUsage().heapUsed
  const done = run(times)
  if (done !== undefined) await done
  return process.memoryUsage().heapUsed - before
}

const median = (numbers: ReadonlyArray<number>): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

/**
 * Bytes of one run: what so many runs leave, less what half as many do, so that what is left once does not count. As many
 * as fit in the young generation.
 */
const bytesOf = async (probe: Probe, times: number, looks: number): Promise<number> => {
  const first = Math.max(await grown(probe, 64), 1) / 64
  const count = 2 * Math.max(32, Math.min(times * 4, Math.round(most / first / 2)))
  const found: Array<number> = []
  for (let look = 0; look < looks; look++) {
    found.push((await grown(probe, count) - await grown(probe, count / 2)) / (count / 2))
  }
  return median(found)
}

/** The cost of each, in the order given. */
export const measure = async (probes: ReadonlyArray<Probe>, effort: Effort): Promise<ReadonlyArray<Cost>> => {
  const all = [nothing, ...probes]
  const counts: Array<number> = []
  for (const probe of all) counts.push(await warm(probe, effort))
  const least = all.map(() => Number.POSITIVE_INFINITY)
  for (let batch = 0; batch < effort.batches; batch++) {
    for (const [index, probe] of all.entries()) {
      const times = counts[index] ?? 1
      least[index] = Math.min(least[index] ?? 0, await timed(probe, times) * 1000 / times)
    }
  }
  const bytes: Array<number> = []
  for (const [index, probe] of all.entries()) bytes.push(await bytesOf(probe, counts[index] ?? 1, effort.looks))
  const [loop = 0, ...nanos] = least
  const [left = 0, ...heap] = bytes
  return nanos.map((one, index) => ({ nanos: one - loop, bytes: (heap[index] ?? 0) - left }))
}

/** A row of sizes at which the same work is measured. */
import { apart, type Point, type Seen, type Shape } from "./judge.ts"

/** The work at one size, ready to be measured. */
export interface Bench {
  /** Does the work so many times. */
  readonly run: (times: number) => Promise<void> | void
  /** Microseconds of processor time used so far, where another process does the work. */
  readonly cpu?: () => number
  readonly stop?: () => Promise<void>
}

export interface Series {
  readonly id: string
  readonly title: string
  readonly shape: Shape
  /** The smallest first. */
  readonly sizes: ReadonlyArray<number>
  readonly make: (size: number) => Promise<Bench>
  /** The same work by the bare server, measured in the same rounds. */
  readonly beside?: (size: number) => Promise<Bench>
  readonly effort: Effort
}

export interface Effort {
  readonly rounds: number
  /** Batches of each size in a round. */
  readonly batches: number
  /** Microseconds of processor time of a batch of the smallest size. */
  readonly batch: number
  /** Microseconds of processor time that each size may use before the first round. */
  readonly warmUp: number
}

/** For work within one process, which takes microseconds. */
export const inProcess: Effort = { rounds: 5, batches: 12, batch: 2000, warmUp: 60_000 }

/** For work that waits for timers between two times: each is a batch. */
export const withTimers: Effort = { rounds: 5, batches: 4, batch: 1, warmUp: 10_000 }

/** For work of another process, which takes longer and is seen less exactly. */
export const acrossProcesses: Effort = { rounds: 5, batches: 4, batch: 30_000, warmUp: 600_000 }

interface Running extends Point {
  readonly bench: Bench
  times: number
  cost: number
}

const ownCpu = (): number => {
  const { system, user } = process.cpuUsage()
  return user + system
}

const timed = async (bench: Bench, times: number): Promise<number> => {
  const cpu = bench.cpu ?? ownCpu
  const before = cpu()
  await bench.run(times)
  return cpu() - before
}

/** Runs until the code is compiled for the work, and says how often the work fits in a batch. */
const warmUp = async (bench: Bench, { batch, warmUp: least }: Effort): Promise<number> => {
  let times = 1
  for (let used = 0; used < least;) {
    const one = await timed(bench, times)
    used += one
    if (one < batch) times = Math.min(times * 2, Math.ceil(times * batch / Math.max(one, 1)))
  }
  return times
}

/**
 * Measures all sizes in turn, and the smallest one twice: each has its batches in each round, and the least
 * that a batch took counts. In microseconds for a unit of work.
 */
export const measure = async (
  { beside, effort, make, sizes }: Omit<Series, "id" | "title" | "shape">
): Promise<Seen> => {
  const running: Array<Running> = []
  const add = async (size: number, make: Series["make"]): Promise<void> =>
    void running.push({ size, bench: await make(size), times: 1, cost: Number.POSITIVE_INFINITY })
  for (const size of [sizes[0] ?? 0, ...sizes]) await add(size, make)
  if (beside !== undefined) { for (const size of sizes) await add(size, beside) }
  // Each size once more when all have run: the code is then compiled for all of them.
  for (let pass = 0; pass < 2; pass++) {
    for (const one of running) one.times = await warmUp(one.bench, effort)
  }
  for (let batch = 0; batch < effort.rounds * effort.batches; batch++) {
    for (let i = 0; i < running.length; i++) {
      const one = running[(i + batch) % running.length]
      if (one === undefined) continue
      one.cost = Math.min(one.cost, await timed(one.bench, one.times) / one.times)
    }
  }
  for (const { bench } of running) await bench.stop?.()
  const [twin, ...all] = running.map(({ cost, size }) => ({ cost, size }))
  const points = all.slice(0, sizes.length)
  const noise = apart(twin?.cost ?? Number.NaN, points[0]?.cost ?? Number.NaN)
  return beside === undefined ? { points, noise } : { points, beside: all.slice(sizes.length), noise }
}

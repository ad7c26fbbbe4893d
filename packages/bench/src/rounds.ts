/** Interleaved rounds: in each, every contender does its share, so that what the machine does besides hits all alike. */
import { within } from "./deadline.ts"
import { type Effort, type Measured, reasonOf, type Sample } from "./effort.ts"
import { quantile } from "./statistics.ts"
import type { Subject } from "./subject.ts"

const verified = 40

/** Milliseconds of processor time below which a count is not believed. */
const believable = 5

/** Warms a program up, so that its code is compiled for the work, and says how many requests fill its share of a round. */
export const calibrate = async (
  subject: Subject,
  { share, warmUp }: Pick<Effort, "share" | "warmUp">
): Promise<number> => {
  await subject.verify(Math.min(verified, subject.least))
  const started = subject.cpu()
  let count = subject.least
  for (;;) {
    const before = subject.cpu()
    await subject.run(count)
    const now = subject.cpu()
    const used = now - before
    const fitting = Math.max(Math.round(count * share / Math.max(used, believable)), subject.least)
    if (now - started >= warmUp && used >= share / 2) return fitting
    count = Math.min(count * 4, fitting)
  }
}

interface Ready<K> {
  readonly key: K
  readonly subject: Subject
  readonly count: number
}

/** How programs are made ready for rounds, and what is taken down of each. */
interface Way {
  readonly countFor: (subject: Subject) => Promise<number>
  readonly sample: (subject: Subject, count: number) => Promise<Sample>
}

const prepare = async <K>(
  keys: ReadonlyArray<K>,
  make: (key: K) => Promise<Subject>,
  { countFor }: Way,
  failures: Map<K, string>
): Promise<ReadonlyArray<Ready<K>>> => {
  const making = keys.map((key) => ({ key, made: within("the start", make(key)) }))
  // Those that fail are looked at in their turn.
  await Promise.allSettled(making.map(({ made }) => made))
  const ready: Array<Ready<K>> = []
  for (const { key, made } of making) {
    let subject: Subject | undefined
    try {
      subject = await made
      ready.push({ key, subject, count: await within("warming up", countFor(subject)) })
    } catch (error) {
      await subject?.stop()
      failures.set(key, reasonOf(error))
    }
  }
  return ready
}

const inRounds = async <K>(
  keys: ReadonlyArray<K>,
  rounds: number,
  make: (key: K) => Promise<Subject>,
  way: Way
): Promise<Measured<K>> => {
  const failures = new Map<K, string>()
  const ready = await prepare(keys, make, way, failures)
  const samples = new Map<K, Array<Sample>>(ready.map(({ key }) => [key, []]))
  try {
    for (let round = 0; round < rounds; round++) {
      for (let i = 0; i < ready.length; i++) {
        const one = ready[(i + round) % ready.length]
        if (one === undefined || failures.has(one.key)) continue
        try {
          samples.get(one.key)?.push(await within("a round", way.sample(one.subject, one.count)))
        } catch (error) {
          samples.delete(one.key)
          failures.set(one.key, reasonOf(error))
        }
      }
    }
  } finally {
    await Promise.all(ready.map(({ subject }) => subject.stop()))
  }
  return { samples, failures }
}

const cpuOfRun = async (subject: Subject, count: number): Promise<Sample> => {
  const before = subject.cpu()
  const started = performance.now()
  const { latencies, units } = await subject.run(count)
  const seconds = (performance.now() - started) / 1000
  const sorted = latencies.toSorted((a, b) => a - b)
  return {
    value: (subject.cpu() - before) / units * 1000,
    units,
    perSecond: units / seconds,
    ...(sorted.length === 0 ? undefined : { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) })
  }
}

/** Milliseconds of processor time for 1,000 requests. */
export const cpuRounds = <K>(
  keys: ReadonlyArray<K>,
  effort: Effort,
  make: (key: K) => Promise<Subject>
): Promise<Measured<K>> =>
  inRounds(keys, effort.rounds, make, { countFor: (subject) => calibrate(subject, effort), sample: cpuOfRun })

const timeOfRun = async (subject: Subject, count: number): Promise<Sample> => {
  const started = performance.now()
  const { units } = await subject.run(count)
  return { value: performance.now() - started, units }
}

/** Milliseconds that pass until that many are done, all at the same time. */
export const timeRounds = <K>(
  keys: ReadonlyArray<K>,
  effort: Effort,
  count: number,
  make: (key: K) => Promise<Subject>
): Promise<Measured<K>> =>
  inRounds(keys, effort.rounds, make, {
    countFor: async (subject) => {
      await subject.verify(1)
      // Twice, so that what is compiled for many at a time is.
      await subject.run(count)
      await subject.run(count)
      return count
    },
    sample: timeOfRun
  })

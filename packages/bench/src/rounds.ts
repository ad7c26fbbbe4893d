/** Interleaved rounds: in each, every contender does its share, so that what the machine does besides hits all alike. */
import { tick } from "./child.ts"
import type { Contender } from "./contenders.ts"
import type { Subject } from "./subject.ts"

/** How much is measured. */
export interface Effort {
  readonly rounds: number
  /** Milliseconds of processor time that a contender is to spend in a round. */
  readonly share: number
  /** Milliseconds of processor time before the first round. */
  readonly warmUp: number
  /** The contenders that take part; the floor always does. */
  readonly only: ReadonlyArray<string> | undefined
}

export const efforts = {
  full: { rounds: 9, share: 400, warmUp: 2000, only: undefined },
  quick: { rounds: 3, share: 200, warmUp: 1000, only: undefined }
} as const satisfies Record<string, Effort>

/** Those of the contenders that are to take part. */
export const partOf = (contenders: ReadonlyArray<Contender>, { only }: Effort): ReadonlyArray<Contender> =>
  contenders.filter((contender) => only === undefined || contender === "floor" || only.includes(contender))

/** One number for each round. */
export type Samples = ReadonlyMap<Contender, ReadonlyArray<number>>

export interface Measured {
  readonly samples: Samples
  /** Why a contender could not take part. */
  readonly failures: ReadonlyMap<Contender, string>
}

const verified = 40
const leastRequests = 50

/** Warms a server up, so that its code is compiled for the work, and says how many requests fill its share of a round. */
const calibrate = async (subject: Subject, { share, warmUp }: Effort): Promise<number> => {
  await subject.verify(verified)
  const started = subject.cpu()
  let count = leastRequests
  for (;;) {
    const before = subject.cpu()
    await subject.run(count)
    const now = subject.cpu()
    const used = now - before
    const fitting = Math.max(Math.round(count * share / Math.max(used, tick)), leastRequests)
    if (now - started >= warmUp && used >= share / 2) return fitting
    count = Math.min(count * 4, fitting)
  }
}

interface Ready {
  readonly contender: Contender
  readonly subject: Subject
  readonly count: number
}

const prepare = async (
  contenders: ReadonlyArray<Contender>,
  make: (contender: Contender) => Promise<Subject>,
  effort: Effort,
  failures: Map<Contender, string>
): Promise<ReadonlyArray<Ready>> => {
  const ready: Array<Ready> = []
  for (const contender of contenders) {
    let subject: Subject | undefined
    try {
      subject = await make(contender)
      ready.push({ contender, subject, count: await calibrate(subject, effort) })
    } catch (error) {
      await subject?.stop()
      failures.set(contender, error instanceof Error ? error.message : String(error))
    }
  }
  return ready
}

/** Milliseconds of processor time for 1,000 requests. */
export const cpuRounds = async (
  contenders: ReadonlyArray<Contender>,
  effort: Effort,
  make: (contender: Contender) => Promise<Subject>
): Promise<Measured> => {
  const failures = new Map<Contender, string>()
  const ready = await prepare(partOf(contenders, effort), make, effort, failures)
  const samples = new Map<Contender, Array<number>>(ready.map(({ contender }) => [contender, []]))
  try {
    for (let round = 0; round < effort.rounds; round++) {
      for (let i = 0; i < ready.length; i++) {
        const one = ready[(i + round) % ready.length]
        if (one === undefined) continue
        const before = one.subject.cpu()
        await one.subject.run(one.count)
        samples.get(one.contender)?.push((one.subject.cpu() - before) / one.count * 1000)
      }
    }
  } finally {
    for (const { subject } of ready) await subject.stop()
  }
  return { samples, failures }
}

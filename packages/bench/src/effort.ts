/** How much is measured, and what comes of it. */
import { within } from "./deadline.ts"

export interface Effort {
  readonly rounds: number
  /** Milliseconds of processor time that a contender is to spend in a round. */
  readonly share: number
  /** Milliseconds of processor time before the first round. */
  readonly warmUp: number
  /** Starts of a program, cold. */
  readonly starts: number
  /** Rounds of what is made anew for each: idle sessions. */
  readonly repeats: number
  /** Idle sessions. */
  readonly sessions: number
  /** Streams that hear of a change. */
  readonly listeners: number
  /** Connections of HTTP, at the most. */
  readonly connections: number
  /** The contenders that take part. */
  readonly only: ReadonlyArray<string> | undefined
}

export const full: Effort = {
  rounds: 9,
  share: 300,
  warmUp: 1500,
  starts: 9,
  repeats: 3,
  sessions: 2000,
  listeners: 1000,
  connections: 32,
  only: undefined
}

export const quick: Effort = {
  rounds: 3,
  share: 100,
  warmUp: 1000,
  starts: 3,
  repeats: 1,
  sessions: 500,
  listeners: 500,
  connections: 32,
  only: ["floor", "mcpfx", "mcpfxNode"]
}

/** What a quick run leaves out of a full one. */
export const leftOut: ReadonlyArray<string> = [
  "no peers unless `--only` names them",
  `${quick.rounds} rounds of ${quick.share} ms of processor time a contender instead of ${full.rounds} of ${full.share}`,
  `${quick.warmUp} ms of warming up instead of ${full.warmUp}`,
  `${quick.starts} cold starts instead of ${full.starts}`,
  `${quick.sessions} idle sessions, once, instead of ${full.sessions}, ${full.repeats} times`,
  `${quick.listeners} listeners instead of ${full.listeners}`
]

/** What one round showed of one contender. */
export interface Sample {
  /** In the unit of the row. */
  readonly value: number
  /** Requests, or whatever was counted, in the round. */
  readonly units?: number
  /** Of these, by the clock. */
  readonly perSecond?: number
  /** Milliseconds from request to answer. */
  readonly p50?: number
  readonly p99?: number
}

/** One sample for each round. */
export type Samples<K> = ReadonlyMap<K, ReadonlyArray<Sample>>

export interface Measured<K> {
  readonly samples: Samples<K>
  /** Why one could not take part. */
  readonly failures: ReadonlyMap<K, string>
  /** What each is compared with, round by round, where that is not the floor. */
  readonly bases?: Samples<K>
}

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Those that are to take part. */
export const partOf = <K extends string>(contenders: ReadonlyArray<K>, { only }: Effort): ReadonlyArray<K> =>
  contenders.filter((contender) => only === undefined || only.includes(contender))

/** The same number from each, in interleaved rounds. */
export const numbers = async <K>(
  keys: ReadonlyArray<K>,
  rounds: number,
  measure: (key: K) => Promise<number>,
  options: { readonly together?: boolean } = {}
): Promise<Measured<K>> => {
  const samples = new Map<K, Array<Sample>>()
  const failures = new Map<K, string>()
  const one = async (key: K): Promise<void> => {
    if (failures.has(key)) return
    try {
      const value = await within("it", measure(key))
      samples.set(key, [...(samples.get(key) ?? []), { value }])
    } catch (error) {
      samples.delete(key)
      failures.set(key, reasonOf(error))
    }
  }
  for (let round = 0; round < rounds; round++) {
    if (options.together === true) await Promise.all(keys.map(one))
    else {for (let i = 0; i < keys.length; i++) {
        const key = keys[(i + round) % keys.length]
        if (key !== undefined) await one(key)
      }}
  }
  return { samples, failures }
}

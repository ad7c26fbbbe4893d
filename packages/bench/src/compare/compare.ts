/** Measures both builds side by side, twice where the first look says slower. */
import { change, type Comparison, comparison, judge, type Samples } from "./verdict.ts"
import type { Runner } from "./works.ts"

/** What starts a process of either build. */
export interface Pair {
  readonly base: () => Promise<Runner>
  readonly head: () => Promise<Runner>
}

export interface Effort {
  readonly rounds: number
  readonly turns: number
}

/** Processes of each build: how much two of them differ says how much a difference means. */
const processes = 2

interface Process {
  readonly side: keyof Pair
  readonly runner: Runner
  readonly samples: Array<number>
}

/** Starts and warms all of them up at the same time; where one fails, none is left. */
const startAll = async (pair: Pair): Promise<ReadonlyArray<Process>> => {
  const sides = Array.from({ length: processes }, () => ["base", "head"] as const).flat()
  const settled = await Promise.allSettled(
    sides.map(async (side): Promise<Process> => ({ side, runner: await pair[side](), samples: [] }))
  )
  const started = settled.flatMap((one) => one.status === "fulfilled" ? [one.value] : [])
  const failed = settled.find((one) => one.status === "rejected")
  if (failed === undefined) return started
  await stopAll(started)
  throw failed.reason
}

const stopAll = async (all: ReadonlyArray<Process>): Promise<void> => {
  for (const { runner } of all) await runner.stop()
}

/** One comparison, from the minima of interleaved rounds; who goes first changes with each turn. */
export const compare = async (pair: Pair, { rounds, turns }: Effort): Promise<Comparison> => {
  const all = await startAll(pair)
  try {
    for (let turn = 0; turn < rounds * turns; turn++) {
      for (let i = 0; i < all.length; i++) {
        const one = all[(i + turn) % all.length]
        one?.samples.push(await one.runner.turn())
      }
    }
  } finally {
    await stopAll(all)
  }
  const samplesOf = (wanted: keyof Pair): Samples =>
    all.filter(({ side }) => side === wanted).map(({ samples }) => samples)
  return comparison(samplesOf("base"), samplesOf("head"))
}

export interface Line {
  readonly cells: ReadonlyArray<string>
  readonly failed: boolean
}

export const header: ReadonlyArray<string> = ["work", "unit", "base", "head", "change", "noise floor", ""]

const number = (value: number): string => value >= 100 ? value.toFixed(0) : value.toFixed(2)
const percent = (part: number): string => `${part > 0 ? "+" : ""}${(part * 100).toFixed(1)} %`

/** What was seen in one comparison or in both, one below the other where there were two. */
export const lineOf = (title: string, unit: string, seen: readonly [Comparison, Comparison?]): Line => {
  const [first, second] = seen
  const verdict = judge(first, second)
  const both = (show: (one: Comparison) => string): string =>
    [first, ...(second === undefined ? [] : [second])].map(show).join(", then ")
  return {
    cells: [
      title,
      unit,
      both(({ base }) => number(base)),
      both(({ head }) => number(head)),
      both((one) => percent(change(one))),
      both(({ noise }) => `${(noise * 100).toFixed(1)} %`),
      verdict === "as before" ? "ok" : "SLOWER"
    ],
    failed: verdict !== "as before"
  }
}

/** Compares; and again, with other processes and for twice as long, where head was slower. */
export const examine = async (pair: Pair, effort: Effort): Promise<readonly [Comparison, Comparison?]> => {
  const first = await compare(pair, effort)
  if (judge(first) !== "measure again") return [first]
  return [first, await compare(pair, { ...effort, rounds: 2 * effort.rounds })]
}

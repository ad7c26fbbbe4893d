/** When a change counts as slower. */

/** What one comparison showed: the least that was measured of either build, and how far equal builds were apart. */
export interface Comparison {
  readonly base: number
  readonly head: number
  /** The noise floor: the larger of the two distances between processes of the same build, as a part of the smaller. */
  readonly noise: number
}

/** Samples of processes of the same build. */
export type Samples = ReadonlyArray<ReadonlyArray<number>>

/** What may be lost in one comparison. */
export const allowance = 0.25

export type Verdict = "as before" | "measure again" | "slower"

const least = (numbers: ReadonlyArray<number>): number => Math.min(...numbers)

const spread = (samples: Samples): number => {
  const minima = samples.map(least)
  return Math.max(...minima) / least(minima) - 1
}

export const comparison = (base: Samples, head: Samples): Comparison => ({
  base: least(base.flat()),
  head: least(head.flat()),
  noise: Math.max(spread(base), spread(head))
})

/** By how much of what it was the cost has changed. */
export const change = ({ base, head }: Comparison): number => head / base - 1

/** What equal builds differ by comes on top of what may be lost. A figure that is none counts against it. */
const isSlower = ({ base, head, noise }: Comparison): boolean => !(head / base <= (1 + allowance) * (1 + noise))

/** Slower once may be chance: it has to be so twice in a row. */
export const judge = (first: Comparison, second?: Comparison): Verdict => {
  if (!isSlower(first)) return "as before"
  if (second === undefined) return "measure again"
  return isSlower(second) ? "slower" : "as before"
}

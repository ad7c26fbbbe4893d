/** What is said about a handful of numbers. */

export interface Summary {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** The value below which that part of the numbers lies, between neighbours where it falls between them. */
export const quantile = (sorted: ReadonlyArray<number>, part: number): number => {
  const at = (sorted.length - 1) * part
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

/** The median, and the quarters around it as the spread. */
export const summarize = (numbers: ReadonlyArray<number>): Summary => {
  const sorted = numbers.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) }
}

/** How many times the floor of the same round. */
export const ratios = (numbers: ReadonlyArray<number>, floor: ReadonlyArray<number>): ReadonlyArray<number> =>
  numbers.map((number, round) => number / (floor[round] ?? Number.NaN))

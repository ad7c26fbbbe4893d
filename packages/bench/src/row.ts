/** One line of the table: what is measured, and what it may cost. */
import { type Contender, contenders } from "./contenders.ts"
import type { Effort, Measured } from "./rounds.ts"
import { ratios, summarize, type Summary } from "./statistics.ts"

/** What a contender showed. */
export interface Figure {
  readonly value: Summary
  /** Against the floor of the same round. */
  readonly ratio: Summary
}

export type Figures = ReadonlyMap<Contender, Figure>

export interface Budget {
  readonly text: string
  readonly met: (figures: Figures, measured: Contender) => boolean
}

export interface Row {
  readonly id: string
  readonly title: string
  readonly unit: string
  readonly contenders: ReadonlyArray<Contender>
  /** Whether figures are shown against the floor. */
  readonly relative: boolean
  readonly budgets: { readonly first: Budget; readonly final: Budget }
  readonly measure: (effort: Effort) => Promise<Measured>
}

export const atMostTimes = (times: number): Budget => ({
  text: `≤ ${times}×`,
  met: (figures, measured) => (figures.get(measured)?.ratio.median ?? Number.POSITIVE_INFINITY) <= times
})

export const atMost = (value: number): Budget => ({
  text: `≤ ${value}`,
  met: (figures, measured) => (figures.get(measured)?.value.median ?? Number.POSITIVE_INFINITY) <= value
})

/** So many where the floor shows as many as when the budget was set; more on a slower machine, fewer on a faster one. */
export const atMostWhere = (value: number, floor: number): Budget => ({
  ...atMostTimes(value / floor),
  text: `≤ ${value} at a floor of ${floor}`
})

export const belowSdk1: Budget = {
  text: "< SDK v1",
  met: (figures, measured) =>
    (figures.get(measured)?.ratio.median ?? Number.POSITIVE_INFINITY)
      < (figures.get("sdk1")?.ratio.median ?? Number.POSITIVE_INFINITY)
}

export const figuresOf = ({ samples }: Measured): Figures => {
  const floor = samples.get("floor") ?? []
  return new Map(
    Array.from(samples, ([contender, numbers]) => [
      contender,
      { value: summarize(numbers), ratio: summarize(ratios(numbers, floor)) }
    ])
  )
}

export const everybody = contenders

/** Those that speak 2026-07-28. */
export const modern: ReadonlyArray<Contender> = contenders.filter((contender) => contender !== "sdk1")

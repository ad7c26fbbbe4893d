/** From what was measured of a path to what is shown of it. Pure. */
import type { Cost } from "./measure.ts"
import type { Path, Step } from "./path.ts"

export interface Line {
  readonly name: string
  readonly nanos: number
  readonly bytes: number
}

export interface Report {
  readonly id: string
  readonly title: string
  readonly reach: string
  readonly steps: ReadonlyArray<Line>
  /** All of the steps. */
  readonly sum: Line
  /** What the whole costs beyond its steps: calls between functions, effects that tie them together, turns of the loop. */
  readonly between: Line
  readonly whole: Line
  /** The same whole, measured as if it were another: how far two equal things lie apart. */
  readonly noise: number
}

/** Everything that has to be measured for some steps, without doubles. */
export const partsOf = (
  steps: ReadonlyArray<Step>
): ReadonlyArray<Step> => [...new Set(steps.flatMap((step) => [...step.less, step]))]

/** What a step costs by itself. */
const own = (step: Step, costs: ReadonlyMap<Step, Cost>): Line => {
  const all = costs.get(step) ?? { nanos: Number.NaN, bytes: Number.NaN }
  return step.less.reduce<Line>((rest, part) => {
    const cost = own(part, costs)
    return { name: step.name, nanos: rest.nanos - cost.nanos, bytes: rest.bytes - cost.bytes }
  }, { name: step.name, ...all })
}

const total = (name: string, lines: ReadonlyArray<Line>): Line => ({
  name,
  nanos: lines.reduce((sum, { nanos }) => sum + nanos, 0),
  bytes: lines.reduce((sum, { bytes }) => sum + bytes, 0)
})

/** `again` is a second look at the whole. */
export const reportOf = (path: Path, costs: ReadonlyMap<Step, Cost>, whole: Cost, again: Cost): Report => {
  const steps = path.steps.map((step) => own(step, costs))
  const sum = total("all steps", steps)
  const nanos = Math.min(whole.nanos, again.nanos)
  const bytes = Math.min(whole.bytes, again.bytes)
  return {
    id: path.id,
    title: path.title,
    reach: path.reach,
    steps,
    sum,
    between: { name: "between the steps", nanos: nanos - sum.nanos, bytes: bytes - sum.bytes },
    whole: { name: "the whole", nanos, bytes },
    noise: Math.abs(whole.nanos - again.nanos) / nanos
  }
}

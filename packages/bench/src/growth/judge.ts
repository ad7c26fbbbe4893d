/** Whether a cost grows as it may. */

/** What was measured at one size: the least of all samples. */
export interface Point {
  readonly size: number
  readonly cost: number
}

export interface Seen {
  /** By size, the smallest first. */
  readonly points: ReadonlyArray<Point>
  /** What the bare server takes for the same, where that is what a cost is held against. */
  readonly beside?: ReadonlyArray<Point>
  /** The noise floor: how far the same size was apart when it was measured twice, as a part of the smaller figure. */
  readonly noise: number
}

export interface Verdict {
  readonly met: boolean
  /** The largest deviation, as a part of what is expected, and the size where it was. */
  readonly worst: number
  readonly at: number
}

/** What a cost may differ by from what is expected of it. */
export const allowance = 0.1

/** How far apart two measurements of one thing are. */
export const apart = (a: number, b: number): number => Math.max(a, b) / Math.min(a, b) - 1

/** A deviation that is no larger than the noise shows nothing. A figure that is none is no figure that was met. */
const verdict = ({ noise, points }: Seen, deviation: (point: Point) => number): Verdict => {
  const deviations = points.map((point) => ({ at: point.size, worst: deviation(point) }))
  const { at, worst } = deviations.find((one) => Number.isNaN(one.worst)) ??
    deviations.reduce((a, b) => b.worst > a.worst ? b : a, { at: points[0]?.size ?? 0, worst: 0 })
  return { met: points.length > 1 && worst <= Math.max(allowance, noise), worst, at }
}

/** The cost is the same at every size as at the smallest; being less is no fault. */
export const flat = (seen: Seen): Verdict => {
  const first = seen.points[0]?.cost ?? Number.NaN
  return verdict(seen, ({ cost }) => cost / first - 1)
}

/** The straight line through the smallest and the largest size: what is fixed, and what each unit costs. */
export const lineThrough = (points: ReadonlyArray<Point>): { readonly fixed: number; readonly each: number } => {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return { fixed: Number.NaN, each: Number.NaN }
  const each = (last.cost - first.cost) / (last.size - first.size)
  return { fixed: first.cost - each * first.size, each }
}

/**
 * The cost grows no faster than a straight line: where each unit costs more than the one before, the sizes in between lie
 * below the line through those at the ends. Lying above it is no fault: the fixed part is then larger than it looks.
 */
export const linear = (seen: Seen): Verdict => {
  const { each, fixed } = lineThrough(seen.points)
  return verdict(seen, ({ cost, size }) => 1 - cost / (fixed + each * size))
}

/** The cost grows no faster than that of the bare server: it is no more times as much than at the smallest size. */
export const asFloor = (seen: Seen): Verdict => {
  const floor = new Map(seen.beside?.map(({ cost, size }) => [size, cost]))
  const times = ({ cost, size }: Point): number => cost / (floor.get(size) ?? Number.NaN)
  return flat({ ...seen, points: seen.points.map((point) => ({ size: point.size, cost: times(point) })) })
}

/** How far a cost is from flat, for what depends on the memory of the machine and not on this code alone. */
export const shown = (seen: Seen): Verdict => ({ ...flat(seen), met: true })

export const shapes = { flat, linear, shown, "as the floor": asFloor } as const
export type Shape = keyof typeof shapes

/** What is said about a series. */
import { lineThrough, type Point, type Seen, shapes } from "./judge.ts"
import type { Series } from "./series.ts"

export interface Line {
  readonly cells: ReadonlyArray<string>
  readonly met: boolean
}

export const header: ReadonlyArray<string> = ["work", "µs at each size", "noise floor", "worst", "each", ""]

const number = (value: number): string =>
  value >= 1000 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toFixed(5)

const sizeOf = (size: number): string => size >= 1024 && size % 1024 === 0 ? `${size / 1024} Ki` : String(size)

const percent = (part: number): string => `${part > 0 ? "+" : ""}${(part * 100).toFixed(1)} %`

const costsOf = (points: ReadonlyArray<Point>): string =>
  points.map(({ cost, size }) => `${sizeOf(size)}: ${number(cost)}`).join(", ")

export const lineOf = ({ shape, title }: Pick<Series, "shape" | "title">, seen: Seen): Line => {
  const { at, met, worst } = shapes[shape](seen)
  const { each } = lineThrough(seen.points)
  return {
    cells: [
      `${title}: ${shape}`,
      costsOf(seen.points) + (seen.beside === undefined ? "" : `; floor ${costsOf(seen.beside)}`),
      percent(seen.noise),
      `${percent(worst)} at ${sizeOf(at)}`,
      shape === "linear" ? number(each) : "",
      !met ? "MISSED" : shape === "shown" ? "shown" : "met"
    ],
    met
  }
}

/** What was not measured is not met. */
export const brokenLine = ({ shape, title }: Pick<Series, "shape" | "title">, error: unknown): Line => ({
  cells: [`${title}: ${shape}`, String(error).slice(0, 100).split("\n")[0] ?? "", "", "", "", "MISSED"],
  met: false
})

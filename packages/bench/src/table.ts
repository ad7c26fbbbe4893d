/** Prints what was measured, with the budgets beside it. */
import { contenders, titles } from "./contenders.ts"
import type { Measured } from "./rounds.ts"
import { figuresOf, type Row } from "./row.ts"
import type { Summary } from "./statistics.ts"

export type Stage = "first" | "final"

export interface Line {
  readonly cells: ReadonlyArray<string>
  readonly met: boolean
  readonly notes: ReadonlyArray<string>
}

const round = (number: number): string =>
  number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2)

const withSpread = ({ high, low, median }: Summary, suffix: string): string =>
  low === high ? `${round(median)}${suffix}` : `${round(median)}${suffix} (${round(low)}–${round(high)})`

export const header: ReadonlyArray<string> = [
  "work",
  "unit",
  ...contenders.map((contender) => titles[contender]),
  "budget",
  ""
]

/** One line: the floor as it is, the others against it. */
export const lineOf = (row: Row, measured: Measured, stage: Stage): Line => {
  const figures = figuresOf(measured)
  const cells = contenders.map((contender) => {
    const figure = figures.get(contender)
    if (figure === undefined) return "–"
    if (!row.relative || contender === "floor") return withSpread(figure.value, "")
    return `${withSpread(figure.ratio, "×")} [${round(figure.value.median)}]`
  })
  const budget = row.budgets[stage]
  const met = budget.met(figures, "mcpfx")
  return {
    cells: [row.title, row.unit, ...cells, budget.text, met ? "met" : "MISSED"],
    met,
    notes: Array.from(measured.failures, ([contender, reason]) => `${row.id}, ${titles[contender]}: ${reason.trim()}`)
  }
}

/** Lines as a table of Markdown, its columns aligned. */
export const format = (lines: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const text = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`
  return [text[0], rule, ...text.slice(1)].join("\n")
}

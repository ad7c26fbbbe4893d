/** Prints what was measured, with the budgets beside it. */
import { type Contender, contenders, titles } from "./contenders.ts"
import type { Measured, Sample } from "./effort.ts"
import { budgetText, type Figures, figuresOf, type Row } from "./row.ts"
import { summarize, type Summary } from "./statistics.ts"

/** Whether what was measured keeps its budgets; `undefined` where nothing with a budget was. */
export const isMet = (row: Row, measured: Measured<Contender>): boolean | undefined => {
  const figures = figuresOf(measured)
  const verdicts = Array.from(row.budgets).flatMap(([contender, budget]) => {
    const figure = figures.get(contender)
    if (figure === undefined) return measured.failures.has(contender) ? [false] : []
    return [budget.met(figure)]
  })
  return verdicts.length === 0 ? undefined : verdicts.every((met) => met)
}

export type Line = ReadonlyArray<string>

const round = (number: number): string =>
  number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2)

const withSpread = ({ high, low, median }: Summary, suffix: string): string =>
  low === high ? `${round(median)}${suffix}` : `${round(median)}${suffix} (${round(low)}–${round(high)})`

const names: Line = contenders.map((contender) => titles[contender])

export const header: Line = ["work", "unit", ...names, "budget", ""]

const cellOf = (row: Row, figures: Figures, contender: Contender): string => {
  const figure = figures.get(contender)
  if (figure === undefined) return "–"
  if (row.against === "nothing" || (row.against === "floor" && contender === "floor")) {
    return withSpread(figure.value, "")
  }
  return `${withSpread(figure.ratio, "×")} [${round(figure.value.median)}]`
}

const verdicts = { true: "met", false: "MISSED", undefined: "" } as const

/** One line: the floor as it is, the others against it, or each against itself. */
export const lineOf = (row: Row, measured: Measured<Contender>): Line => {
  const figures = figuresOf(measured)
  return [
    row.title,
    row.unit,
    ...contenders.map((contender) => cellOf(row, figures, contender)),
    budgetText(row),
    verdicts[`${isMet(row, measured)}`]
  ]
}

export const clockHeader: Line = ["by the clock, per second, p50 and p99 in ms", ...names]

const medianOf = (samples: ReadonlyArray<Sample>, field: "perSecond" | "p50" | "p99"): number | undefined => {
  const numbers = samples.flatMap((sample) => sample[field] ?? [])
  return numbers.length === 0 ? undefined : summarize(numbers).median
}

const clockCell = (samples: ReadonlyArray<Sample> | undefined): string => {
  const [perSecond, p50, p99] = (["perSecond", "p50", "p99"] as const).map((field) => medianOf(samples ?? [], field))
  if (perSecond === undefined) return "–"
  return p50 === undefined || p99 === undefined
    ? round(perSecond)
    : `${round(perSecond)}, ${round(p50)}, ${round(p99)}`
}

/** What passed by the clock, where that was looked at. */
export const clockLineOf = (row: Row, { samples }: Measured<Contender>): Line | undefined => {
  const hasClock = Array.from(samples.values()).some((all) => all.some(({ perSecond }) => perSecond !== undefined))
  return hasClock ? [row.title, ...contenders.map((contender) => clockCell(samples.get(contender)))] : undefined
}

/** A table without the columns of contenders that have nothing in any line. The first line is the header. */
export const withoutAbsent = (lines: ReadonlyArray<Line>): ReadonlyArray<Line> => {
  const [head = [], ...rest] = lines
  const kept = head.map((name, column) => !names.includes(name) || rest.some((line) => line[column] !== "–"))
  return lines.map((line) => line.filter((_, column) => kept[column]))
}

/** Lines as a table of Markdown, its columns aligned. The first line is the header. */
export const format = (lines: ReadonlyArray<Line>): string => {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const text = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`)
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`
  return [text[0], rule, ...text.slice(1)].join("\n")
}

/**
 * Why there is no figure where there is none: one line for each reason of each contender that was to take part, with the rows
 * it is true of.
 */
export const notesOf = (
  all: ReadonlyArray<{ readonly row: Row; readonly measured: Measured<Contender> }>,
  only?: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const rows = new Map<string, Array<string>>()
  const add = (contender: Contender, reason: string, id: string) => {
    if (only?.includes(contender) === false) return
    const note = `${titles[contender]}: ${reason.trim()}`
    rows.set(note, [...(rows.get(note) ?? []), id])
  }
  for (const { measured, row } of all) {
    for (const [contender, reason] of row.absent) add(contender, reason, row.id)
    for (const [contender, reason] of measured.failures) add(contender, reason, row.id)
  }
  return Array.from(rows, ([note, ids]) => `${note} (${ids.join(", ")})`)
}

/** Tables of Markdown of what was measured. Pure. */
import type { Used } from "./os/ladder.ts"
import type { Line, Report } from "./rows.ts"
import type { Mode } from "./schemaModes.ts"

type Cells = ReadonlyArray<string>

/** Columns aligned; all but the first, and those named, hold numbers. */
export const table = (head: Cells, lines: ReadonlyArray<Cells>, words: ReadonlyArray<number> = [0]): string => {
  const widths = head.map((cell, at) => Math.max(cell.length, 3, ...lines.map((line) => line[at]?.length ?? 0)))
  const isWord = (at: number) => words.includes(at)
  const row = (cells: Cells) =>
    `| ${
      head.map((_, at) => {
        const cell = cells[at] ?? ""
        const width = widths[at] ?? 0
        return isWord(at) ? cell.padEnd(width) : cell.padStart(width)
      }).join(" | ")
    } |`
  const rule = `| ${
    widths.map((width, at) => (isWord(at) ? "-".repeat(width) : `${"-".repeat(width - 1)}:`)).join(" | ")
  } |`
  return [row(head), rule, ...lines.map(row)].join("\n")
}

const whole = (number: number): string => number.toFixed(0)
const percent = (part: number): string => `${(part * 100).toFixed(0)} %`

export const reportText = (report: Report): string => {
  const total = report.whole.nanos
  const line = ({ bytes, name, nanos }: Line): Cells => [name, whole(nanos), whole(bytes), percent(nanos / total)]
  const parts = report.steps.length === 0 ? [] : [...report.steps, report.sum, report.between]
  return [
    `### ${report.title}`,
    "",
    `Measured ${report.reach}. Two looks at the whole lie ${percent(report.noise)} apart.`,
    "",
    table(["step", "ns", "bytes", "share"], [...parts, report.whole].map(line))
  ].join("\n")
}

export interface Paid {
  readonly name: string
  readonly when: string
  readonly nanos: number
  readonly bytes: number
}

export interface Checked {
  readonly title: string
  readonly base: Line
  readonly noise: number
  readonly paid: ReadonlyArray<Paid>
}

const signed = (number: number): string => `${number < 0 ? "−" : "+"}${whole(Math.abs(number))}`

export const checkedText = ({ base, noise, paid, title }: Checked): string =>
  [
    `### ${title}: what is added to it`,
    "",
    `Without any of it ${whole(base.nanos)} ns and ${whole(base.bytes)} bytes. Less than ${whole(noise)} ns is noise.`,
    "",
    table(
      ["with", "ns", "bytes", "paid by"],
      paid.map(({ bytes, name, nanos, when }) => [name, signed(nanos), signed(bytes), when]),
      [0, 3]
    )
  ].join("\n")

const micros = (number: number): string => number.toFixed(number < 10 ? 2 : 1)

export const ladderText = (title: string, used: ReadonlyArray<Used>): string => {
  const floor = used.find(({ rung }) => rung.name === "floor")?.micros ?? Number.NaN
  return [
    `### By the word of the system: ${title}`,
    "",
    table(
      ["server", "what it does more", "µs", "middle", "of that collecting", "floor"],
      used.map((one) => [
        one.rung.name,
        one.rung.adds,
        micros(one.micros),
        micros(one.median),
        micros(one.collecting),
        `${(one.micros / floor).toFixed(2)}×`
      ]),
      [0, 1]
    )
  ].join("\n")
}

export const modesText = (modes: ReadonlyArray<Mode>, compiles: boolean): string =>
  [
    "### Schemas: interpreted, and compiled at run time",
    "",
    compiles ? "Code may be made at run time here." : "Code may not be made at run time here: all is interpreted.",
    "",
    table(
      ["what is decoded", "ns", "bytes", "compiled, ns", "bytes", "first value, ms", "compiled, ms"],
      modes.map((one) => [
        one.name,
        whole(one.interpreted.nanos),
        whole(one.interpreted.bytes),
        whole(one.compiled.nanos),
        whole(one.compiled.bytes),
        one.firstInterpreted.toFixed(3),
        one.firstCompiled.toFixed(3)
      ])
    )
  ].join("\n")

/** One line for each path. */
export const summaryText = (reports: ReadonlyArray<Report>): string =>
  [
    "### Every path",
    "",
    table(
      ["path", "ns", "bytes", "noise"],
      reports.map(({ noise, title, whole: { bytes, nanos } }) => [title, whole(nanos), whole(bytes), percent(noise)])
    )
  ].join("\n")

const mark = (name: string, end: "begin" | "end"): string => `<!-- ${name}:${end} -->`

/** A document with a text in the place that two comments mark; `undefined` where it has no such place. */
export const placed = (document: string, name: string, text: string): string | undefined => {
  const begin = mark(name, "begin")
  const from = document.indexOf(begin)
  const to = document.indexOf(mark(name, "end"))
  return from < 0 || to < from
    ? undefined
    : `${document.slice(0, from + begin.length)}\n\n${text}\n\n${document.slice(to)}`
}

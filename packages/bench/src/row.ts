/** One line of the table: what is measured, who can take part, and what it may cost. */
import { type Contender, contenders, titles } from "./contenders.ts"
import { type Effort, type Measured, partOf, type Sample } from "./effort.ts"
import { cpuRounds } from "./rounds.ts"
import { ratios, summarize, type Summary } from "./statistics.ts"
import type { Subject } from "./subject.ts"

/** What a contender showed. */
export interface Figure {
  readonly value: Summary
  /** Against the floor of the same round, or against what the row compares with. */
  readonly ratio: Summary
}

export type Figures = ReadonlyMap<Contender, Figure>

export interface Budget {
  readonly text: string
  readonly met: (figure: Figure) => boolean
}

export type Budgets = ReadonlyMap<Contender, Budget>

/** Why a contender does not take part, by contender. */
export type Absences = ReadonlyMap<Contender, string>

export interface Row {
  readonly id: string
  readonly title: string
  readonly unit: string
  readonly contenders: ReadonlyArray<Contender>
  readonly absent: Absences
  /** What figures are shown against. */
  readonly against: "floor" | "itself" | "nothing"
  readonly budgets: Budgets
  readonly measure: (effort: Effort) => Promise<Measured<Contender>>
  /** Does a little of the work with one contender, and reads every answer. */
  readonly verify: (contender: Contender) => Promise<void>
}

const atMostTimes = (times: number): Budget => ({
  text: `≤ ${times}×`,
  met: ({ ratio }) => ratio.median <= times
})

const atMostOf = (value: number): Budget => ({ text: `≤ ${value}`, met: (figure) => figure.value.median <= value })

const forMcpfx = (budget: Budget): Budgets => new Map([["mcpfx", budget]])

/** So many times the floor, of mcpfx and, where its own listener has a budget, of that. */
export const times = (most: number, node?: number): Budgets =>
  node === undefined
    ? forMcpfx(atMostTimes(most))
    : new Map([["mcpfx", atMostTimes(most)], ["mcpfxNode", atMostTimes(node)]])

/** So many of the unit of the row. */
export const atMost = (value: number): Budgets => forMcpfx(atMostOf(value))

/** So many where the floor shows as many as when the budget was set; more on a slower machine, fewer on a faster one. */
export const atMostWhere = (value: number, floor: number): Budgets =>
  forMcpfx({ ...atMostTimes(value / floor), text: `≤ ${value} at a floor of ${floor}` })

export const noBudgets: Budgets = new Map()

/** The words of the budgets of a row. */
export const budgetText = ({ budgets }: Row): string =>
  budgets.size === 0
    ? "–"
    : Array.from(budgets, ([contender, { text }]) => contender === "mcpfx" ? text : `${titles[contender]} ${text}`)
      .join("; ")

const valuesOf = (samples: ReadonlyArray<Sample> | undefined): ReadonlyArray<number> =>
  (samples ?? []).map(({ value }) => value)

export const figuresOf = ({ bases, samples }: Measured<Contender>): Figures =>
  new Map(
    Array.from(samples, ([contender, own]) => {
      const numbers = valuesOf(own)
      const against = valuesOf(bases === undefined ? samples.get("floor") : bases.get(contender))
      return [contender, { value: summarize(numbers), ratio: summarize(ratios(numbers, against)) }]
    })
  )

/** Everybody but those with a reason; the reasons add up. */
export const allBut = (
  ...reasons: ReadonlyArray<Partial<Readonly<Record<Contender, string>>>>
): Pick<Row, "contenders" | "absent"> => {
  const absent = new Map<Contender, string>()
  for (const contender of contenders) {
    const reason = reasons.map((each) => each[contender]).find((found) => found !== undefined)
    if (reason !== undefined) absent.set(contender, reason)
  }
  return { contenders: contenders.filter((contender) => !absent.has(contender)), absent }
}

/** Those that only listen on HTTP. */
export const needsStdio = { mcpfxNode: "serves HTTP only" } as const

/** Those that do not speak 2026-07-28. */
export const needsModern = { sdk1: "does not speak 2026-07-28", fastmcp: "does not speak 2026-07-28" } as const

/** Hardly any, to see that it works. */
const little: Effort = {
  rounds: 1,
  share: 1,
  warmUp: 0,
  starts: 1,
  repeats: 1,
  sessions: 4,
  listeners: 4,
  connections: 2,
  only: undefined
}

/** Measures one contender alone, with hardly any effort; the failure is the one that the measure reports. */
export const once = (measure: Row["measure"]): Row["verify"] => async (contender) => {
  const { failures } = await measure({ ...little, only: [contender] })
  const failure = failures.get(contender)
  if (failure !== undefined) throw new Error(failure)
}

export interface CpuRow extends Pick<Row, "id" | "title" | "contenders" | "absent" | "budgets"> {
  readonly unit?: string
  readonly make: (contender: Contender, effort: Effort) => Promise<Subject>
}

/** Has a program do a little and read every answer. */
export const verified = async (making: Promise<Subject>): Promise<void> => {
  const subject = await making
  try {
    await subject.verify(2)
  } finally {
    await subject.stop()
  }
}

/** A row that counts the processor time of one kind of work. */
export const cpuRow = ({ make, unit = "ms/1000", ...row }: CpuRow): Row => ({
  ...row,
  unit,
  against: "floor",
  measure: (effort) => cpuRounds(partOf(row.contenders, effort), effort, (contender) => make(contender, effort)),
  verify: (contender) => verified(make(contender, little))
})

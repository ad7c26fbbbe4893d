/** Calls that wait, all at the same time. */
import { type Effort, partOf } from "../effort.ts"
import * as Messages from "../messages.ts"
import { timeRounds } from "../rounds.ts"
import { allBut, needsStdio, once, type Row, times } from "../row.ts"
import { stdioSubject } from "../subjects/stdio.ts"

const calls = 1000
const milliseconds = 100

const takingPart = allBut(needsStdio)

const measure = (effort: Effort) =>
  timeRounds(
    partOf(takingPart.contenders, effort),
    effort,
    calls,
    (contender) =>
      stdioSubject(contender, { template: Messages.sleep(milliseconds), window: calls, extras: true, least: 1 })
  )

export const sleepingRows: ReadonlyArray<Row> = [
  {
    id: "sleeping",
    title: "1,000 calls of sleep 100 ms on one stdio connection",
    unit: "ms that pass",
    ...takingPart,
    against: "floor",
    budgets: times(1.15),
    measure,
    verify: once(measure)
  }
]

/** One change that many streams hear of. */
import { allBut, cpuRow, needsModern, noBudgets, type Row } from "../row.ts"
import { listenersSubject } from "../subjects/listeners.ts"

export const listenerRows: ReadonlyArray<Row> = [
  cpuRow({
    id: "listeners",
    title: "a change told to 1,000 streams of sessions, 2025-11-25",
    unit: "ms/1000 told",
    ...allBut({ effectAi: "has no stream of a session" }),
    budgets: noBudgets,
    make: (contender, { listeners }) => listenersSubject(contender, "2025-11-25", listeners)
  }),
  cpuRow({
    id: "listeners-modern",
    title: "a change told to 1,000 streams that listen, 2026-07-28",
    unit: "ms/1000 told",
    ...allBut(needsModern),
    budgets: noBudgets,
    make: (contender, { listeners }) => listenersSubject(contender, "2026-07-28", listeners)
  })
]

/** Tools that ask the user: by a request while the call waits, or by another round of the call. */
import * as Messages from "../messages.ts"
import { allBut, cpuRow, needsModern, needsStdio, noBudgets, type Row } from "../row.ts"
import { httpAsks } from "../subjects/httpAsks.ts"
import { stdioAsks } from "../subjects/stdioAsks.ts"

export const askRows: ReadonlyArray<Row> = [
  cpuRow({
    id: "ask-stdio",
    title: "ask, a request, stdio, 16 in flight, 2025-11-25",
    ...allBut(needsStdio),
    budgets: noBudgets,
    make: (contender) => stdioAsks(contender, Messages.ask("2025-11-25"))
  }),
  cpuRow({
    id: "ask-stdio-modern",
    title: "ask, two rounds, stdio, 16 in flight, 2026-07-28",
    ...allBut(needsStdio, needsModern),
    budgets: noBudgets,
    make: (contender) => stdioAsks(contender, Messages.ask("2026-07-28"))
  }),
  cpuRow({
    id: "ask-http",
    title: "ask, a request, HTTP, 16 clients, 2025-11-25",
    ...allBut(),
    budgets: noBudgets,
    make: (contender) => httpAsks(contender, Messages.ask("2025-11-25"))
  }),
  cpuRow({
    id: "ask-http-modern",
    title: "ask, two rounds, HTTP, 16 clients, 2026-07-28",
    ...allBut(needsModern),
    budgets: noBudgets,
    make: (contender) => httpAsks(contender, Messages.ask("2026-07-28"))
  })
]

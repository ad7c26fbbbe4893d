import * as Messages from "../messages.ts"
import { allBut, type Budgets, cpuRow, needsModern, needsStdio, type Row, times } from "../row.ts"
import { type StdioOptions, stdioSubject } from "../subjects/stdio.ts"

const row = (
  id: string,
  title: string,
  template: Messages.Template,
  window: number,
  budgets: Budgets,
  more: Pick<StdioOptions, "fillers" | "least"> = {}
): Row =>
  cpuRow({
    id,
    title,
    ...allBut(needsStdio, template.version === "2026-07-28" ? needsModern : {}),
    budgets,
    make: (contender) => stdioSubject(contender, { template, window, ...more })
  })

export const stdioRows: ReadonlyArray<Row> = [
  row("stdio-1", "stdio, one at a time, 2025-11-25", Messages.add("2025-11-25"), 1, times(1.4)),
  row("stdio-64", "stdio, 64 in flight, 2025-11-25", Messages.add("2025-11-25"), 64, times(2.5)),
  row("stdio-64-modern", "stdio, 64 in flight, 2026-07-28", Messages.add("2026-07-28"), 64, times(2.5)),
  row("stdio-list", "tools/list of 103, stdio", Messages.list, 8, times(1.1), { fillers: 100, least: 8 })
]

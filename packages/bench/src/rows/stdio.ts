import * as Messages from "../messages.ts"
import { cpuRounds } from "../rounds.ts"
import { atMostTimes, belowSdk1, type Budget, everybody, modern, type Row } from "../row.ts"
import { stdioSubject } from "../subject.ts"

const row = (
  id: string,
  title: string,
  template: Messages.Template,
  window: number,
  budgets: { readonly first: Budget; readonly final: Budget },
  fillers = 0
): Row => {
  const contenders = template.version === "2026-07-28" ? modern : everybody
  return {
    id,
    title,
    unit: "ms/1000",
    contenders,
    relative: true,
    budgets,
    measure: (effort) =>
      cpuRounds(contenders, effort, (contender) => stdioSubject(contender, { template, window, fillers }))
  }
}

export const stdioRows: ReadonlyArray<Row> = [
  row("stdio-1", "stdio, one at a time, 2025-11-25", Messages.add("2025-11-25"), 1, {
    first: belowSdk1,
    final: atMostTimes(1.4)
  }),
  row("stdio-64", "stdio, 64 in flight, 2025-11-25", Messages.add("2025-11-25"), 64, {
    first: belowSdk1,
    final: atMostTimes(2.5)
  }),
  // SDK v1 does not speak it; what it costs on 2025-11-25 stands in.
  row("stdio-64-modern", "stdio, 64 in flight, 2026-07-28", Messages.add("2026-07-28"), 64, {
    first: atMostTimes(6.9),
    final: atMostTimes(2.5)
  }),
  row("stdio-list", "tools/list of 103, stdio", Messages.list, 8, {
    first: atMostTimes(1.3),
    final: atMostTimes(1.1)
  }, 100)
]

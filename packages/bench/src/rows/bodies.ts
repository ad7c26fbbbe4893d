/** Large answers, and large requests. */
import * as Messages from "../messages.ts"
import { allBut, cpuRow, needsStdio, type Row, times } from "../row.ts"
import { httpSubject } from "../subjects/http.ts"
import { stdioSubject } from "../subjects/stdio.ts"
import { longText } from "../texts.ts"

/** Few are enough where each takes long. */
const least = 4

export const bodyRows: ReadonlyArray<Row> = [
  cpuRow({
    id: "read-http",
    title: "resources/read of 64 KiB, HTTP",
    ...allBut(),
    budgets: times(1.3),
    make: (contender) =>
      httpSubject(contender, { template: Messages.read, connections: 8, stream: false, extras: true, least: 8 })
  }),
  cpuRow({
    id: "echo-stdio",
    title: "echo of 1 MiB, stdio, one at a time",
    ...allBut(needsStdio),
    budgets: times(1.2),
    make: (contender) => stdioSubject(contender, { template: Messages.echo, window: 1, bytes: longText.length, least })
  }),
  cpuRow({
    id: "echo-http",
    title: "echo of 1 MiB, HTTP, 4 connections",
    ...allBut(),
    budgets: times(1.2),
    make: (contender) => httpSubject(contender, { template: Messages.echo, connections: 4, stream: false, least })
  })
]

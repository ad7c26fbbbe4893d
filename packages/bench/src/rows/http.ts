import * as Messages from "../messages.ts"
import { allBut, type Budgets, cpuRow, needsModern, noBudgets, type Row, times } from "../row.ts"
import { httpSubject } from "../subjects/http.ts"

interface Case {
  readonly id: string
  readonly title: string
  readonly template: Messages.Template
  readonly connections: number
  readonly stream: boolean
  readonly fillers?: number
  readonly least?: number
  readonly budgets: Budgets
}

const row = ({ budgets, id, title, ...options }: Case): Row =>
  cpuRow({
    id,
    title,
    budgets,
    ...allBut(options.template.version === "2026-07-28" ? needsModern : {}),
    make: (contender, effort) =>
      httpSubject(contender, { ...options, connections: Math.min(options.connections, effort.connections) })
  })

export const httpRows: ReadonlyArray<Row> = [
  row({
    id: "http-json",
    title: "HTTP, 32 connections, stateful, JSON",
    template: Messages.add("2025-11-25"),
    connections: 32,
    stream: false,
    budgets: times(3, 1.8)
  }),
  row({
    id: "http-json-modern",
    title: "HTTP, 32 connections, 2026-07-28, JSON",
    template: Messages.add("2026-07-28"),
    connections: 32,
    stream: true,
    budgets: times(3, 1.8)
  }),
  row({
    id: "http-default",
    title: "HTTP, 32 connections, stateful, SSE for those that like it better",
    template: Messages.add("2025-11-25"),
    connections: 32,
    stream: true,
    budgets: noBudgets
  }),
  row({
    id: "http-sse",
    title: "HTTP, SSE with 3 progress events, 2025-11-25",
    template: Messages.progress("2025-11-25"),
    connections: 32,
    stream: true,
    budgets: times(3.5)
  }),
  row({
    id: "http-sse-modern",
    title: "HTTP, SSE with 3 progress events, 2026-07-28",
    template: Messages.progress("2026-07-28"),
    connections: 32,
    stream: true,
    budgets: times(3.5)
  }),
  row({
    id: "http-list",
    title: "tools/list of 103, HTTP",
    template: Messages.list,
    connections: 8,
    stream: false,
    fillers: 100,
    least: 8,
    budgets: times(1.1)
  })
]

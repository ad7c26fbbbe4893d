import * as Messages from "../messages.ts"
import { cpuRounds } from "../rounds.ts"
import { atMostTimes, everybody, modern, type Row } from "../row.ts"
import { httpSubject } from "../subject.ts"

interface Case {
  readonly id: string
  readonly title: string
  readonly template: Messages.Template
  readonly connections: number
  readonly stream: boolean
  readonly fillers?: number
  readonly first: number
  readonly final: number
}

const row = (one: Case): Row => {
  const contenders = one.template.version === "2026-07-28" ? modern : everybody
  return {
    id: one.id,
    title: one.title,
    unit: "ms/1000",
    contenders,
    relative: true,
    budgets: { first: atMostTimes(one.first), final: atMostTimes(one.final) },
    measure: (effort) => cpuRounds(contenders, effort, (contender) => httpSubject(contender, one))
  }
}

export const httpRows: ReadonlyArray<Row> = [
  row({
    id: "http-json",
    title: "HTTP, 32 connections, stateful, JSON",
    template: Messages.add("2025-11-25"),
    connections: 32,
    stream: false,
    first: 5,
    final: 3
  }),
  row({
    id: "http-json-modern",
    title: "HTTP, 32 connections, 2026-07-28, JSON",
    template: Messages.add("2026-07-28"),
    connections: 32,
    stream: true,
    first: 5,
    final: 3
  }),
  row({
    id: "http-sse",
    title: "HTTP, SSE with 3 progress events, 2025-11-25",
    template: Messages.progress("2025-11-25"),
    connections: 32,
    stream: true,
    first: 6,
    final: 3.5
  }),
  row({
    id: "http-sse-modern",
    title: "HTTP, SSE with 3 progress events, 2026-07-28",
    template: Messages.progress("2026-07-28"),
    connections: 32,
    stream: true,
    first: 6,
    final: 3.5
  }),
  row({
    id: "http-list",
    title: "tools/list of 103, HTTP",
    template: Messages.list,
    connections: 8,
    stream: false,
    fillers: 100,
    first: 1.3,
    final: 1.1
  })
]

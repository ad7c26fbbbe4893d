import { type Child, heapOf, rssOf, start, startServer, told } from "../child.ts"
import { type Contender, minimalFile } from "../contenders.ts"
import { Connection } from "../load/http.ts"
import * as Stdio from "../load/stdio.ts"
import * as Messages from "../messages.ts"
import { type Effort, type Measured, partOf } from "../rounds.ts"
import { atMost, everybody, type Row } from "../row.ts"
import { openSession } from "../subject.ts"

/** The same number from each contender, in interleaved rounds. */
export const numbers = async (
  contenders: ReadonlyArray<Contender>,
  effort: Effort,
  measure: (contender: Contender) => Promise<number>
): Promise<Measured> => {
  const samples = new Map<Contender, Array<number>>()
  const failures = new Map<Contender, string>()
  for (let round = 0; round < effort.rounds; round++) {
    for (const contender of partOf(contenders, effort)) {
      if (failures.has(contender)) continue
      try {
        const value = await measure(contender)
        samples.set(contender, [...(samples.get(contender) ?? []), value])
      } catch (error) {
        samples.delete(contender)
        failures.set(contender, error instanceof Error ? error.message : String(error))
      }
    }
  }
  return { samples, failures }
}

const openStream = async (port: number, session: string): Promise<Connection> => {
  const connection = new Connection(port)
  const response = await connection.request(
    [
      "GET /mcp HTTP/1.1",
      `host: 127.0.0.1:${port}`,
      "accept: text/event-stream",
      "mcp-protocol-version: 2025-11-25",
      `mcp-session-id: ${session}`,
      "",
      ""
    ].join("\r\n"),
    { headOnly: true }
  )
  if (response.status !== 200) throw new Error(`status ${response.status} for a stream`)
  return connection
}

const heapPerSession = async (child: Child, count: number, streams: boolean): Promise<number> => {
  const port = await told(child, "port")
  const main = new Connection(port)
  const opened: Array<Connection> = []
  const add = async (many: number): Promise<void> => {
    for (let i = 0; i < many; i++) {
      const session = await openSession(main, port)
      if (streams) opened.push(await openStream(port, session))
    }
  }
  try {
    // The first ones bring in what is made once.
    await add(50)
    const before = await heapOf(child)
    await add(count)
    return (await heapOf(child) - before) / count / 1024
  } finally {
    main.close()
    for (const connection of opened) connection.close()
  }
}

const heapRow = (id: string, title: string, streams: boolean, first: number, final: number): Row => ({
  id,
  title,
  unit: "KiB",
  contenders: everybody,
  relative: false,
  budgets: { first: atMost(first), final: atMost(final) },
  measure: (effort: Effort) =>
    numbers(everybody, { ...effort, rounds: effort.rounds > 3 ? 3 : 1 }, async (contender) => {
      const child = startServer(contender, { transport: "http", stream: true })
      try {
        return await heapPerSession(child, streams ? 300 : 1000, streams)
      } finally {
        await child.stop()
      }
    })
})

const rss: Row = {
  id: "rss",
  title: "RSS after start, minimal stdio server",
  unit: "MiB",
  contenders: everybody,
  relative: false,
  budgets: { first: atMost(130), final: atMost(100) },
  measure: (effort) =>
    numbers(everybody, effort, async (contender) => {
      const file = minimalFile(contender)
      const child = start(file, ["--conditions=mcpfx-dist", file], { ipc: false })
      try {
        await Stdio.exchange(child, Messages.initialize)
        return rssOf(child.pid) / 1024 / 1024
      } finally {
        await child.stop()
      }
    })
}

export const memoryRows: ReadonlyArray<Row> = [
  heapRow("heap-alone", "heap per idle session, alone", false, 12, 6),
  heapRow("heap-stream", "heap per idle session, with a stream", true, 24, 14),
  rss
]

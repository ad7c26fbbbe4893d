/** What an idle session keeps, and what a program needs at all. */
import { type Child, heapOf, portOf, startServer } from "../child.ts"
import { minimalFile } from "../contenders.ts"
import { type Effort, numbers, partOf } from "../effort.ts"
import { Connection, share } from "../load/http.ts"
import * as Request from "../load/request.ts"
import { allBut, atMost, type Budgets, needsStdio, once, type Row } from "../row.ts"
import { oneStart } from "../starts/oneStart.ts"

/** Connections over which sessions are opened: there are servers that take a second for each. */
const openers = 64

const openStream = async (port: number, session: string): Promise<Connection> => {
  const connection = new Connection(port)
  const { status } = await connection.follow(Request.get(port, session), () => {})
  if (status !== 200) throw new Error(`status ${status} for a stream`)
  return connection
}

const heapPerSession = async (child: Child, count: number, streams: boolean): Promise<number> => {
  const port = await portOf(child)
  const posts = Array.from({ length: openers }, () => new Connection(port))
  const opened: Array<Connection> = []
  const add = (many: number): Promise<void> =>
    share(posts, many, async (post) => {
      const session = await Request.openSession(post, port)
      if (streams) opened.push(await openStream(port, session))
    })
  try {
    // The first ones bring in what is made once.
    await add(Math.min(count, 50))
    const before = await heapOf(child)
    await add(count)
    return (await heapOf(child) - before) / count / 1024
  } finally {
    for (const connection of [...posts, ...opened]) connection.close()
  }
}

const heapRow = (id: string, title: string, streams: boolean, budgets: Budgets): Row => {
  const takingPart = allBut(streams ? { effectAi: "has no stream of a session" } : {})
  const measure = (effort: Effort) =>
    numbers(partOf(takingPart.contenders, effort), effort.repeats, async (contender) => {
      const child = startServer(contender, { transport: "http", stream: true })
      try {
        return await heapPerSession(child, effort.sessions, streams)
      } finally {
        await child.stop()
      }
    }, { together: true })
  return { id, title, unit: "KiB", ...takingPart, against: "nothing", budgets, measure, verify: once(measure) }
}

const takingPart = allBut(needsStdio)

const measureRss = (effort: Effort) =>
  numbers(
    partOf(takingPart.contenders, effort),
    effort.repeats,
    async (contender) => (await oneStart(minimalFile(contender))).memory,
    { together: true }
  )

export const memoryRows: ReadonlyArray<Row> = [
  heapRow("heap-alone", "heap per idle session, alone", false, atMost(6)),
  heapRow("heap-stream", "heap per idle session, with a stream", true, atMost(14)),
  {
    id: "rss",
    title: "RSS after start, minimal stdio server",
    unit: "MiB",
    ...takingPart,
    against: "nothing",
    budgets: atMost(100),
    measure: measureRss,
    verify: once(measureRss)
  }
]

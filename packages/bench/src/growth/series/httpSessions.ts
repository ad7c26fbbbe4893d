/** Sessions of a server in a process of its own, with all that it keeps of them. */
import { check } from "../../answers.ts"
import { portOf, startServer } from "../../child.ts"
import * as Http from "../../load/http.ts"
import { head, openSession, post } from "../../load/request.ts"
import { messagesOf } from "../../load/response.ts"
import * as Messages from "../../messages.ts"
import { cpuOf } from "../../system.ts"
import { acrossProcesses, type Bench, type Series } from "../series.ts"

const connections = 8
const add = Messages.add("2025-11-25")

const calling = async (open: number): Promise<Bench> => {
  const child = startServer("mcpfx", { transport: "http" })
  const port = await portOf(child)
  const sockets = Array.from({ length: connections }, () => new Http.Connection(port))
  const heads: Array<string> = []
  let asked = 0
  await Promise.all(sockets.map(async (socket) => {
    while (asked++ < open) heads.push(head(port, add, await openSession(socket, port)))
  }))
  let next = 1
  const run = async (count: number, onResponse?: Http.HttpLoad["onResponse"]): Promise<void> => {
    const first = next
    next += count
    await Http.run({
      connections: sockets,
      request: (_, id) => post(heads[id % open] ?? "", add.body(id)),
      first,
      count,
      ...(onResponse === undefined ? undefined : { onResponse })
    })
  }
  await run(50, (response, id) => check(add, id, messagesOf(response)))
  return {
    run: (count) => run(count),
    cpu: () => cpuOf(child.pid) * 1000,
    stop: async () => {
      for (const socket of sockets) socket.close()
      await child.stop()
    }
  }
}

export const httpSessionSeries: ReadonlyArray<Series> = [{
  id: "sessions-http",
  title: "a call over HTTP, each of so many sessions in turn",
  shape: "flat",
  effort: acrossProcesses,
  sizes: [1, 100, 10_000],
  make: calling
}]

/** A server behind HTTP, over some connections; on 2025-11-25 each has a session of its own. */
import { check } from "../answers.ts"
import { type Child, failed, portOf, type ServerOptions, startServer } from "../child.ts"
import type { Served } from "../contenders.ts"
import * as Http from "../load/http.ts"
import * as Request from "../load/request.ts"
import { messagesOf } from "../load/response.ts"
import type * as Messages from "../messages.ts"
import { fewest, ofChild, type Subject } from "../subject.ts"

/** A started server, and connections to it with the heads of what is sent over them. */
export interface Reached {
  readonly child: Child
  readonly port: number
  readonly connections: ReadonlyArray<Http.Connection>
  readonly heads: ReadonlyArray<string>
  /** The ids of the sessions, where the revision has such. */
  readonly sessions: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** Starts a server and opens that many connections, and sessions where its revision has them. */
export const reached = async (
  served: Served,
  options: Omit<ServerOptions, "transport">,
  { connections: many, template }: { readonly connections: number; readonly template: Messages.Template }
): Promise<Reached> => {
  const child = startServer(served, { ...options, transport: "http" })
  let connections: ReadonlyArray<Http.Connection> = []
  const stop = async () => {
    for (const connection of connections) connection.close()
    await child.stop()
  }
  try {
    const port = await portOf(child)
    connections = Array.from({ length: many }, () => new Http.Connection(port))
    // All at the same time: there are servers that take a second for each.
    const sessions = template.version === "2025-11-25"
      ? await Promise.all(
        connections.map((connection) => Request.openSession(connection, port, template.abilities))
      )
      : []
    const heads = connections.map((_, index) => Request.head(port, template, sessions[index]))
    return { child, port, connections, heads, sessions, stop }
  } catch (error) {
    await stop()
    throw failed(child, error)
  }
}

export interface HttpOptions extends Omit<ServerOptions, "transport"> {
  readonly template: Messages.Template
  readonly connections: number
  readonly least?: number
}

export const httpSubject = async (served: Served, options: HttpOptions): Promise<Subject> => {
  const { least = fewest, template } = options
  const { child, connections, heads, stop } = await reached(served, options, options)
  const request = (connection: number, id: number) => Request.post(heads[connection] ?? "", template.body(id))
  let next = 1
  const load = (count: number, onResponse: NonNullable<Http.HttpLoad["onResponse"]>) => {
    const first = next
    next += count
    return Http.run({ connections, request, first, count, onResponse })
  }
  return {
    ...ofChild(child),
    stop,
    least,
    verify: async (count) => {
      await load(count, (response, id) => check(template, id, messagesOf(response)))
    },
    run: async (count) => ({ units: count, latencies: await load(count, () => {}) })
  }
}

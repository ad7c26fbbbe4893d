/** A server under load: started, greeted, and driven through one kind of request. */
import { type Child, cpuOf, startServer, told } from "./child.ts"
import type { Contender } from "./contenders.ts"
import * as Http from "./load/http.ts"
import * as Stdio from "./load/stdio.ts"
import * as Messages from "./messages.ts"

export interface Subject {
  /** Sends that many requests and waits for all the answers. */
  readonly run: (count: number) => Promise<void>
  /** The same, one after the other, and reads every answer. */
  readonly verify: (count: number) => Promise<void>
  /** Milliseconds of processor time the server has used. */
  readonly cpu: () => number
  readonly stop: () => Promise<void>
}

export interface SubjectOptions {
  readonly template: Messages.Template
  readonly fillers?: number
}

const failed = (child: Child, error: unknown): Error =>
  new Error(`${error instanceof Error ? error.message : String(error)} ${child.errors()}`)

/** A server behind its standard streams, with that many requests in flight. */
export const stdioSubject = async (
  contender: Contender,
  { fillers, template, window }: SubjectOptions & { readonly window: number }
): Promise<Subject> => {
  const child = startServer(contender, { transport: "stdio", ...(fillers === undefined ? undefined : { fillers }) })
  let next = 1
  try {
    if (template.version === "2025-11-25") {
      await Stdio.exchange(child, Messages.initialize)
      child.stdin.write(`${Messages.initialized}\n`)
    }
    return {
      verify: async (count) => {
        for (let i = 0; i < count; i++) {
          const id = next++
          Messages.check(template, id, [await Stdio.exchange(child, template.body(id))])
        }
      },
      run: async (count) => {
        const first = next
        next += count
        await Stdio.run(child, { body: template.body, first, count, window })
      },
      cpu: () => cpuOf(child.pid),
      stop: child.stop
    }
  } catch (error) {
    await child.stop()
    throw failed(child, error)
  }
}

const head = (port: number, template: Messages.Template, session: string | undefined): string =>
  [
    "POST /mcp HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    `mcp-protocol-version: ${template.version}`,
    ...(session === undefined ? [] : [`mcp-session-id: ${session}`]),
    ...(template.version === "2026-07-28" ? [`mcp-method: ${template.method}`] : []),
    ...(template.version === "2026-07-28" && template.tool !== undefined ? [`mcp-name: ${template.tool}`] : []),
    "content-length: "
  ].join("\r\n")

const post = (head: string, body: string): string => `${head}${Buffer.byteLength(body)}\r\n\r\n${body}`

const bare = (port: number): string =>
  [
    "POST /mcp HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    "content-length: "
  ].join("\r\n")

/** Opens a session, and gives its id. */
export const openSession = async (connection: Http.Connection, port: number): Promise<string> => {
  const greeting = await connection.request(post(bare(port), Messages.initialize))
  const session = /\r\nmcp-session-id: *(\S+)/i.exec(greeting.headers)?.[1]
  if (session === undefined) throw new Error(`no session: ${greeting.headers} ${Http.textOf(greeting)}`)
  const ready = head(port, Messages.list, session)
  const accepted = await connection.request(post(ready, Messages.initialized))
  if (accepted.status !== 202 && process.env.LAX === undefined) {
    throw new Error(`status ${accepted.status} for a notification`)
  }
  return session
}

/** A server behind HTTP, over that many connections; on 2025-11-25 each has a session of its own. */
export const httpSubject = async (
  contender: Contender,
  { connections: many, fillers, stream, template }: SubjectOptions & {
    readonly connections: number
    readonly stream?: boolean
  }
): Promise<Subject> => {
  const child = startServer(contender, {
    transport: "http",
    ...(fillers === undefined ? undefined : { fillers }),
    ...(stream === undefined ? undefined : { stream })
  })
  try {
    const port = await told(child, "port")
    const connections = Array.from({ length: many }, () => new Http.Connection(port))
    const heads: Array<string> = []
    for (const connection of connections) {
      const session = template.version === "2025-11-25" ? await openSession(connection, port) : undefined
      heads.push(head(port, template, session))
    }
    let next = 1
    const request = (connection: number, id: number) => post(heads[connection] ?? "", template.body(id))
    const load = (count: number, onResponse?: Http.HttpLoad["onResponse"]) => {
      const first = next
      next += count
      return Http.run({
        connections,
        request,
        first,
        count,
        ...(onResponse === undefined ? undefined : { onResponse })
      })
    }
    return {
      verify: (count) => load(count, (response, id) => Messages.check(template, id, Http.messagesOf(response))),
      run: (count) => load(count),
      cpu: () => cpuOf(child.pid),
      stop: async () => {
        for (const connection of connections) connection.close()
        await child.stop()
      }
    }
  } catch (error) {
    await child.stop()
    throw failed(child, error)
  }
}

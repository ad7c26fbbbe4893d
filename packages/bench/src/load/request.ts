/** Requests of HTTP as the bytes they are. */
import * as Messages from "../messages.ts"
import type { Connection } from "./http.ts"
import { textOf } from "./response.ts"

const lines = (all: ReadonlyArray<string>): string => all.join("\r\n")

const common = (port: number): ReadonlyArray<string> => [
  "POST /mcp HTTP/1.1",
  `host: 127.0.0.1:${port}`,
  "content-type: application/json",
  "accept: application/json, text/event-stream"
]

/** What requests of this kind begin with, up to the length of their body. */
export const head = (
  port: number,
  { method, name, version }: Pick<Messages.Template, "version" | "method" | "name">,
  session: string | undefined
): string => {
  const isModern = version === "2026-07-28"
  return lines([
    ...common(port),
    `mcp-protocol-version: ${version}`,
    ...(session === undefined ? [] : [`mcp-session-id: ${session}`]),
    ...(isModern ? [`mcp-method: ${method}`] : []),
    ...(isModern && name !== undefined ? [`mcp-name: ${name}`] : []),
    "content-length: "
  ])
}

export const post = (head: string, body: string): string => `${head}${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Asks for the stream of a session. */
export const get = (port: number, session: string): string =>
  lines([
    "GET /mcp HTTP/1.1",
    `host: 127.0.0.1:${port}`,
    "accept: text/event-stream",
    "mcp-protocol-version: 2025-11-25",
    `mcp-session-id: ${session}`,
    "",
    ""
  ])

/** Opens a session of 2025-11-25, and gives its id. */
export const openSession = async (
  connection: Connection,
  port: number,
  abilities: Messages.Abilities = "none"
): Promise<string> => {
  const bare = lines([...common(port), "content-length: "])
  const greeting = await connection.request(post(bare, Messages.initializeAs(abilities)))
  const session = /\r\nmcp-session-id: *(\S+)/i.exec(greeting.headers)?.[1]
  if (session === undefined) throw new Error(`no session: ${greeting.headers} ${textOf(greeting)}`)
  const accepted = await connection.request(post(head(port, Messages.list, session), Messages.initialized))
  if (accepted.status !== 202) throw new Error(`status ${accepted.status} for a notification`)
  return session
}

/** Messages and answers as they go over the wire, written and read by hand. */
import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from "node:http"

export type Json = Readonly<Record<string, unknown>>

export const isJson = (u: unknown): u is Json => typeof u === "object" && u !== null && !Array.isArray(u)

export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What a path leads to. */
export const at = (value: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>(
    (current, key) => typeof current === "object" && current !== null ? Reflect.get(current, key) : undefined,
    value
  )

export const modernMeta: Json = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "0" }
}

export const request = (id: unknown, method: string, params: Json = {}): Json => ({
  jsonrpc: "2.0",
  id,
  method,
  params
})

export const modernRequest = (id: unknown, method: string, params: Json = {}): Json =>
  request(id, method, { ...params, _meta: { ...modernMeta, ...(isJson(params["_meta"]) ? params["_meta"] : {}) } })

export const initialize = (version: string, id: unknown = "init"): Json =>
  request(id, "initialize", { protocolVersion: version, capabilities: {}, clientInfo: { name: "raw", version: "0" } })

export const initialized: Json = { jsonrpc: "2.0", method: "notifications/initialized" }

export const call = (name: string, args: Json = {}): Json => ({ name, arguments: args })

export const modernHeaders = (method: string, name?: string): Record<string, string> => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name === undefined ? {} : { "mcp-name": name })
})

export const jsonHeaders: Readonly<Record<string, string>> = {
  accept: "application/json, text/event-stream",
  "content-type": "application/json"
}

export interface Reply {
  readonly status: number
  readonly header: (name: string) => string | undefined
  readonly text: string
}

export interface Sending {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  readonly agent?: Agent
  /** Gives up, and fails, after this long; 10 seconds by default. */
  readonly millis?: number
}

/** Opens a request and leaves it to the caller; the body is sent. */
export const open = (
  port: number,
  sending: Sending
): { readonly request: ClientRequest; readonly response: Promise<IncomingMessage> } => {
  const { agent, body, headers, method = "POST", path = "/mcp" } = sending
  const request = httpRequest({
    host: "127.0.0.1",
    port,
    path,
    method,
    headers: { ...(method === "POST" ? jsonHeaders : {}), ...headers },
    ...(agent === undefined ? {} : { agent })
  })
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve)
    request.once("error", reject)
  })
  // Whoever cuts the request need not wait for the answer.
  response.catch(() => {})
  request.end(body)
  return { request, response }
}

/** Sends one request and reads the whole answer. */
export const send = async (port: number, sending: Sending): Promise<Reply> => {
  const { millis = 10_000 } = sending
  const { request, response } = open(port, sending)
  const timer = setTimeout(() => request.destroy(new Error(`no whole answer within ${millis} ms`)), millis)
  try {
    const head = await response
    let text = ""
    for await (const chunk of head.setEncoding("utf8")) text += chunk
    return {
      status: head.statusCode ?? 0,
      header: (name) => {
        const value = head.headers[name]
        return typeof value === "string" ? value : undefined
      },
      text
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The messages of a body, be it JSON or an event stream. */
export const messages = (text: string): ReadonlyArray<unknown> => {
  const whole = parse(text)
  if (whole !== undefined) return Array.isArray(whole) ? whole : [whole]
  return text.split("\n").filter((line) => line.startsWith("data:")).map((line) => parse(line.slice(5)))
}

/** Opens a session and gives the headers of what follows on it. */
export const openSession = async (port: number, version: string, agent?: Agent): Promise<Record<string, string>> => {
  const more = agent === undefined ? {} : { agent }
  const reply = await send(port, { body: JSON.stringify(initialize(version)), ...more })
  const id = reply.header("mcp-session-id")
  if (id === undefined) throw new Error(`no session: ${reply.status} ${reply.text}`)
  const headers = { "mcp-session-id": id, "mcp-protocol-version": version }
  await send(port, { body: JSON.stringify(initialized), headers, ...more })
  return headers
}

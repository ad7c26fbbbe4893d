/** The floor over HTTP. */
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { answer, answered, type Message } from "./floorOffer.ts"
import { serveOn } from "./port.ts"

interface Session {
  readonly watched: Set<string>
  stream: ServerResponse | undefined
}

const sessions = new Map<string, Session>()

interface Listener {
  readonly uris: ReadonlySet<string>
  readonly id: number
  readonly stream: ServerResponse
}

const listeners = new Set<Listener>()

const eventStream = { "content-type": "text/event-stream" }
const event = (json: string): string => `event: message\ndata: ${json}\n\n`

const updated = (params: object): string =>
  event(JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params }))

const announce = (uri: string): void => {
  const text = updated({ uri })
  for (const { stream, watched } of sessions.values()) if (watched.has(uri)) stream?.write(text)
  for (const { id, stream, uris } of listeners) {
    if (uris.has(uri)) stream.write(updated({ uri, _meta: { "io.modelcontextprotocol/subscriptionId": id } }))
  }
}

const listen = ({ id = 0, params }: Message, stream: ServerResponse): void => {
  const notifications = params?.notifications ?? {}
  const listener = { id, stream, uris: new Set(notifications.resourceSubscriptions) }
  listeners.add(listener)
  stream.on("close", () => listeners.delete(listener))
  const _meta = { "io.modelcontextprotocol/subscriptionId": id }
  stream.writeHead(200, eventStream).write(event(JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications, _meta }
  })))
}

/** The headers of an answer; `undefined` where the session that is named is not there. */
const headersFor = (request: IncomingMessage, message: Message): Record<string, string> | undefined => {
  if (message.method === "initialize") {
    const id = randomUUID()
    sessions.set(id, { watched: new Set(), stream: undefined })
    return { "mcp-session-id": id }
  }
  if (request.headers["mcp-protocol-version"] !== "2025-11-25") return {}
  const session = sessions.get(String(request.headers["mcp-session-id"]))
  if (session === undefined) return undefined
  if (message.method === "resources/subscribe") session.watched.add(message.params?.uri ?? "")
  return {}
}

const respond = (request: IncomingMessage, response: ServerResponse, body: string): void => {
  const message: Message = JSON.parse(body)
  if (message.method === undefined) answered(message)
  if (message.method === undefined || message.id === undefined) return void response.writeHead(202).end()
  const headers = headersFor(request, message)
  if (headers === undefined) return void response.writeHead(404).end()
  if (message.method === "subscriptions/listen") return listen(message, response)
  let streaming = false
  const notify = (note: object) => {
    if (!streaming) response.writeHead(200, { ...headers, ...eventStream })
    streaming = true
    response.write(event(JSON.stringify(note)))
  }
  const end = (json: string) => {
    if (streaming) return void response.end(event(json))
    response.writeHead(200, {
      ...headers,
      "content-type": "application/json",
      "content-length": Buffer.byteLength(json)
    }).end(json)
  }
  const json = answer(message, { notify, announce })
  if (typeof json === "string") end(json)
  else void json.then(end)
}

const openStream = (request: IncomingMessage, response: ServerResponse): void => {
  const session = sessions.get(String(request.headers["mcp-session-id"]))
  if (session === undefined) return void response.writeHead(404).end()
  session.stream = response
  response.writeHead(200, eventStream).flushHeaders()
}

export const serveHttp = (): void =>
  serveOn(createServer((request, response) => {
    if (request.method === "GET") return openStream(request, response)
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      body += chunk
    })
    request.on("end", () => respond(request, response, body))
  }))

/** The least that could answer: parse, look up, call, stringify. Nothing is checked, nothing can be cancelled. */
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { descriptions, fillerNames, info, listening, start, steps } from "../tools.ts"

interface Message {
  readonly id?: number
  readonly method: string
  readonly params?: {
    readonly name?: string
    readonly arguments?: Readonly<Record<string, number>>
    readonly _meta?: { readonly progressToken?: number }
  }
}

type Notify = (message: object) => void
type Handle = (params: Message["params"], notify: Notify) => object

const number = { type: "number" }
const object = (properties: object, required: ReadonlyArray<string> = []) => ({ type: "object", properties, required })
const fillerInput = object({
  query: { type: "string", description: "What to look for" },
  limit: { type: "integer", description: "How many at most" },
  tags: { type: "array", items: { type: "string" }, description: "Only documents with all of these" },
  drafts: { type: "boolean", description: "Whether drafts count" }
}, ["query", "limit"])

const descriptors = [
  { name: "add", description: descriptions.add, inputSchema: object({ a: number, b: number }, ["a", "b"]) },
  { name: "echo", description: descriptions.echo, inputSchema: object({ text: { type: "string" } }, ["text"]) },
  { name: "progress", description: descriptions.progress, inputSchema: object({}) },
  ...fillerNames.map((name) => ({ name, description: descriptions.filler, inputSchema: fillerInput }))
]

const text = (value: unknown): object => ({ content: [{ type: "text", text: String(value) }] })

const tools = new Map<string, Handle>([
  ["add", (params) => text((params?.arguments?.["a"] ?? 0) + (params?.arguments?.["b"] ?? 0))],
  ["echo", (params) => text(params?.arguments?.["text"])],
  ["progress", (params, notify) => {
    const progressToken = params?._meta?.progressToken
    for (const progress of steps) {
      notify({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress, total: 3 } })
    }
    return text("done")
  }]
])

const methods = new Map<string, Handle>([
  ["initialize", () => ({ protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: info })],
  ["tools/list", () => ({ tools: descriptors })],
  ["tools/call", (params, notify) => tools.get(params?.name ?? "")?.(params, notify) ?? {}]
])

const answer = (message: Message, notify: Notify): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: message.id,
    result: methods.get(message.method)?.(message.params, notify) ?? {}
  })

const serveStdio = (): void => {
  let rest = ""
  process.stdin.setEncoding("utf8")
  process.stdin.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop() ?? ""
    let out = ""
    for (const line of lines) {
      const message: Message = JSON.parse(line)
      if (message.id !== undefined) {
        out += answer(message, (note) => {
          out += `${JSON.stringify(note)}\n`
        }) + "\n"
      }
    }
    if (out !== "") process.stdout.write(out)
  })
}

const sessions = new Map<string, { readonly since: number }>()

const respond = (request: IncomingMessage, response: ServerResponse, body: string): void => {
  const message: Message = JSON.parse(body)
  if (message.id === undefined) {
    response.writeHead(202).end()
    return
  }
  const headers: Record<string, string | number> = {}
  if (message.method === "initialize") {
    const id = randomUUID()
    sessions.set(id, { since: Date.now() })
    headers["mcp-session-id"] = id
  } else if (request.headers["mcp-protocol-version"] === "2025-11-25") {
    const session = sessions.get(String(request.headers["mcp-session-id"]))
    if (session === undefined) return void response.writeHead(404).end()
  }
  let streaming = false
  const json = answer(message, (note) => {
    if (!streaming) response.writeHead(200, { ...headers, "content-type": "text/event-stream" })
    streaming = true
    response.write(`event: message\ndata: ${JSON.stringify(note)}\n\n`)
  })
  if (streaming) return void response.end(`event: message\ndata: ${json}\n\n`)
  response.writeHead(200, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(json)
  }).end(json)
}

const serveHttp = (): void => {
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      return
    }
    let body = ""
    request.setEncoding("utf8")
    request.on("data", (chunk: string) => {
      body += chunk
    })
    request.on("end", () => respond(request, response, body))
  })
  server.listen(start.port, "127.0.0.1", () => {
    const address = server.address()
    if (typeof address === "object" && address !== null) listening(address.port)
  })
}

if (start.transport === "http") serveHttp()
else serveStdio()

/** The offer, made with version 1 of the TypeScript SDK. Over HTTP the two endpoints of HTTP+SSE are at `/sse` and `/messages`. */
import { completable } from "@modelcontextprotocol/sdk/server/completable.js"
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  isInitializeRequest,
  ListRootsResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema
} from "@modelcontextprotocol/sdk/types.js"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as z from "zod"
import { bodyOf } from "./body.ts"
import * as Offer from "./offer.ts"
import { inputEnded, listening, transport } from "./start.ts"

const { add, burst, fail, grow, say, status, steps, touch, wait, where } = Offer.tools
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })
const structured = (value: Readonly<Record<string, unknown>>) => ({
  ...text(JSON.stringify(value)),
  structuredContent: { ...value }
})

const offerTools = (server: McpServer): void => {
  server.registerTool(add.name, {
    description: add.description,
    inputSchema: { a: z.number(), b: z.number() },
    outputSchema: { sum: z.number() }
  }, ({ a, b }) => structured({ sum: a + b }))
  server.registerTool(fail.name, fail, () => ({ ...text(Offer.failure), isError: true }))
  for (const tool of [steps, burst]) {
    server.registerTool(tool.name, { description: tool.description, inputSchema: {} }, async (_, extra) => {
      const progressToken = extra._meta?.progressToken
      if (progressToken !== undefined) {
        await Offer.report(
          tool === steps,
          (progress) =>
            extra.sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 3 } })
        )
      }
      return text(Offer.done)
    })
  }
  server.registerTool(say.name, { ...say, inputSchema: {} }, async (_, extra) => {
    await extra.sendNotification({ method: "notifications/message", params: { level: "info", data: Offer.said } })
    return text(Offer.done)
  })
  server.registerTool(
    wait.name,
    { ...wait, inputSchema: {} },
    async (_, extra) => text(await Offer.waitFor(extra.signal))
  )
  server.registerTool(status.name, {
    description: status.description,
    outputSchema: { waiting: z.int(), cancelled: z.int() }
  }, () => structured(Offer.status()))
  let late: { readonly remove: () => void } | undefined
  server.registerTool(grow.name, grow, () => {
    if (late === undefined) {
      late = server.registerTool(Offer.late.name, Offer.late, () => text(Offer.done))
    } else {
      late.remove()
      late = undefined
    }
    return text(Offer.done)
  })
  server.registerTool(touch.name, touch, async () => {
    await server.server.sendResourceUpdated({ uri: Offer.motd.uri })
    return text(Offer.done)
  })
  server.registerTool(where.name, {
    description: where.description,
    outputSchema: { cwd: z.string(), word: z.string() }
  }, () => structured(Offer.where()))
}

const offerAsks = (server: McpServer): void => {
  for (const [tool, message] of [[Offer.asks.name, Offer.whatName], [Offer.asks.again, Offer.whatSecret]] as const) {
    server.registerTool(tool.name, { ...tool, inputSchema: {} }, async (_, extra) => {
      const request = {
        method: "elicitation/create" as const,
        params: { mode: "form" as const, ...Offer.form(message) }
      }
      const { action, content } = await extra.sendRequest(request, ElicitResultSchema)
      return text(action === "accept" ? Offer.hello(String(content?.["name"])) : Offer.declined)
    })
  }
  server.registerTool(Offer.asks.model.name, { ...Offer.asks.model, inputSchema: {} }, async (_, extra) => {
    const request = { method: "sampling/createMessage" as const, params: Offer.question }
    const { content } = await extra.sendRequest(request, CreateMessageResultSchema)
    return text(content.type === "text" ? content.text : content.type)
  })
  server.registerTool(Offer.asks.roots.name, { ...Offer.asks.roots, inputSchema: {} }, async (_, extra) => {
    const { roots } = await extra.sendRequest({ method: "roots/list" }, ListRootsResultSchema)
    return text(roots.map(({ uri }) => uri).join(" "))
  })
}

const offerOthers = (server: McpServer): void => {
  const { mimeType, name, uri } = Offer.motd
  server.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, text: Offer.motd.text }] }))
  const template = new ResourceTemplate(Offer.note.uriTemplate, { list: undefined, complete: { name: Offer.complete } })
  server.registerResource(Offer.note.name, template, { mimeType: Offer.note.mimeType }, (uri, { name }) => ({
    contents: [{ uri: uri.href, mimeType: Offer.note.mimeType, text: Offer.noteText(String(name)) }]
  }))
  server.registerPrompt(Offer.greet.name, {
    description: Offer.greet.description,
    argsSchema: { who: completable(z.string(), Offer.complete) }
  }, ({ who }) => ({ messages: [{ role: "user", content: { type: "text", text: Offer.greeting(who) } }] }))
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}))
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}))
}

const makeServer = (): McpServer => {
  const server = new McpServer(Offer.info, { capabilities: { logging: {}, resources: { subscribe: true } } })
  offerTools(server)
  offerAsks(server)
  offerOthers(server)
  return server
}

const sessions = new Map<string, StreamableHTTPServerTransport>()

const open = async (): Promise<StreamableHTTPServerTransport> => {
  const opened = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, opened),
    onsessionclosed: (id) => void sessions.delete(id)
  })
  // The class calls its handlers optional in another way than its own interface does.
  await makeServer().connect(Object.assign(opened, { onclose: () => {}, onerror: () => {}, onmessage: () => {} }))
  return opened
}

const streams = new Map<string, SSEServerTransport>()

/** The two endpoints; whether the request was for one of them. */
const serveSse = async (request: IncomingMessage, response: ServerResponse): Promise<boolean> => {
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost")
  if (pathname === "/sse") {
    if (request.method !== "GET") return response.writeHead(404).end() !== undefined
    const opened = new SSEServerTransport("/messages", response)
    streams.set(opened.sessionId, opened)
    response.on("close", () => streams.delete(opened.sessionId))
    await makeServer().connect(Object.assign(opened, { onclose: () => {}, onerror: () => {}, onmessage: () => {} }))
    return true
  }
  if (pathname !== "/messages") return false
  const known = streams.get(searchParams.get("sessionId") ?? "")
  await (known === undefined ? response.writeHead(404).end() : known.handlePostMessage(request, response))
  return true
}

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (await serveSse(request, response)) return
  const id = request.headers["mcp-session-id"]
  const known = sessions.get(String(id))
  if (id !== undefined && known === undefined) return void response.writeHead(404).end()
  if (known !== undefined && request.method !== "POST") return known.handleRequest(request, response)
  const body: unknown = JSON.parse(await bodyOf(request))
  const opened = known ?? (isInitializeRequest(body) ? await open() : undefined)
  if (opened === undefined) return void response.writeHead(400).end()
  await opened.handleRequest(request, response, body)
}

if (transport === "http") {
  const server = createServer((request, response) => void serve(request, response))
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    if (typeof address === "object" && address !== null) listening(address.port)
  })
  await inputEnded()
  server.closeAllConnections()
  server.close()
} else {
  await makeServer().connect(new StdioServerTransport())
}

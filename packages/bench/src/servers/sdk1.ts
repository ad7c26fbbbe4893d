import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { ElicitResultSchema, isInitializeRequest, SubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import * as z from "zod"
import { hello, question, resource } from "../texts.ts"
import { descriptions, fillerNames, info, start, steps } from "../tools.ts"
import { bodyOf } from "./body.ts"
import { serveOn } from "./port.ts"

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

/** The question, which may be written to. */
const asks = structuredClone({ ...question, requestedSchema: { ...question.requestedSchema, required: ["name"] } })

const addInput = { a: z.number(), b: z.number() }
const echoInput = { text: z.string() }
const fillerInput = {
  query: z.string().describe("What to look for"),
  limit: z.int().describe("How many at most"),
  tags: z.array(z.string()).optional().describe("Only documents with all of these"),
  drafts: z.boolean().optional().describe("Whether drafts count")
}

/** The servers whose clients have subscribed, each to the one resource there is. */
const watching = new Set<McpServer>()

const offerExtras = (server: McpServer): void => {
  server.server.registerCapabilities({ resources: { subscribe: true } })
  server.registerTool("ask", { description: descriptions.ask }, async ({ sendRequest }) => {
    const asked = { method: "elicitation/create" as const, params: { mode: "form" as const, ...asks } }
    const { content } = await sendRequest(asked, ElicitResultSchema)
    return text(hello(content?.["name"]))
  })
  server.registerTool("sleep", { description: descriptions.sleep, inputSchema: { ms: z.number() } }, async ({ ms }) => {
    await setTimeout(ms)
    return text("done")
  })
  server.registerTool("touch", { description: descriptions.touch }, async () => {
    for (const each of watching) await each.server.sendResourceUpdated({ uri: resource.uri })
    return text("done")
  })
  const { mimeType, name, uri } = resource
  server.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, text: resource.text }] }))
  server.server.setRequestHandler(SubscribeRequestSchema, () => {
    watching.add(server)
    return {}
  })
}

const makeServer = (): McpServer => {
  const server = new McpServer(info)
  server.registerTool(
    "add",
    { description: descriptions.add, inputSchema: addInput },
    ({ a, b }) => text(String(a + b))
  )
  server.registerTool(
    "echo",
    { description: descriptions.echo, inputSchema: echoInput },
    ({ text: value }) => text(value)
  )
  server.registerTool("progress", { description: descriptions.progress, inputSchema: {} }, async (_, extra) => {
    const progressToken = extra._meta?.progressToken
    if (progressToken !== undefined) {
      for (const progress of steps) {
        await extra.sendNotification({
          method: "notifications/progress",
          params: { progressToken, progress, total: 3 }
        })
      }
    }
    return text("done")
  })
  for (const name of fillerNames) {
    server.registerTool(
      name,
      { description: descriptions.filler, inputSchema: fillerInput },
      ({ query }) => text(query)
    )
  }
  if (start.extras) offerExtras(server)
  return server
}

const sessions = new Map<string, StreamableHTTPServerTransport>()

const open = async (): Promise<StreamableHTTPServerTransport> => {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: !start.stream,
    onsessioninitialized: (id) => void sessions.set(id, transport)
  })
  // The class calls its handlers optional in another way than its own interface does.
  await makeServer().connect(Object.assign(transport, { onclose: () => {}, onerror: () => {}, onmessage: () => {} }))
  return transport
}

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const known = sessions.get(String(request.headers["mcp-session-id"]))
  if (known !== undefined && request.method !== "POST") return known.handleRequest(request, response)
  const body: unknown = JSON.parse(await bodyOf(request))
  const transport = known ?? (isInitializeRequest(body) ? await open() : undefined)
  if (transport === undefined) return void response.writeHead(404).end()
  await transport.handleRequest(request, response, body)
}

if (start.transport === "http") {
  serveOn(createServer((request, response) => void serve(request, response)))
} else {
  await makeServer().connect(new StdioServerTransport())
}

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as z from "zod"
import { descriptions, fillerNames, info, listening, start, steps } from "../tools.ts"
import { bodyOf } from "./body.ts"

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

const addInput = { a: z.number(), b: z.number() }
const echoInput = { text: z.string() }
const fillerInput = {
  query: z.string().describe("What to look for"),
  limit: z.int().describe("How many at most"),
  tags: z.array(z.string()).optional().describe("Only documents with all of these"),
  drafts: z.boolean().optional().describe("Whether drafts count")
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
  const server = createServer((request, response) => void serve(request, response))
  server.listen(start.port, "127.0.0.1", () => {
    const address = server.address()
    if (typeof address === "object" && address !== null) listening(address.port)
  })
} else {
  await makeServer().connect(new StdioServerTransport())
}

import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, isInitializeRequest, McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as z from "zod"
import { descriptions, fillerNames, info, listening, start, steps } from "../tools.ts"
import { bodyOf } from "./body.ts"

const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })

const addInput = z.object({ a: z.number(), b: z.number() })
const echoInput = z.object({ text: z.string() })
const noInput = z.object({})
const fillerInput = z.object({
  query: z.string().describe("What to look for"),
  limit: z.int().describe("How many at most"),
  tags: z.array(z.string()).optional().describe("Only documents with all of these"),
  drafts: z.boolean().optional().describe("Whether drafts count")
})

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
  server.registerTool("progress", { description: descriptions.progress, inputSchema: noInput }, async (_, context) => {
    const progressToken = context.mcpReq._meta?.progressToken
    if (progressToken !== undefined) {
      for (const progress of steps) {
        await context.mcpReq.notify({
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

const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: !start.stream,
    onsessioninitialized: (id) => void sessions.set(id, transport)
  })
  await makeServer().connect(transport)
  return transport
}

const handle = toNodeHandler(createMcpHandler(makeServer, { legacy: "reject" }))

/** Node calls what every request of a server has optional. */
const modern = (request: IncomingMessage, response: ServerResponse): Promise<void> =>
  handle(Object.assign(request, { method: request.method ?? "POST", url: request.url ?? "/mcp" }), response)

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.headers["mcp-protocol-version"] === "2026-07-28") return modern(request, response)
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
  serveStdio(makeServer)
}

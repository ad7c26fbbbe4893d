import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import {
  createMcpHandler,
  inputRequired,
  inputResponse,
  isInitializeRequest,
  McpServer
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { setTimeout } from "node:timers/promises"
import * as z from "zod"
import { hello, question, resource } from "../texts.ts"
import { descriptions, fillerNames, info, mostListeners, start, steps } from "../tools.ts"
import { bodyOf } from "./body.ts"
import { serveOn } from "./port.ts"

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

/** The question, which may be written to. */
const asks = { ...question, requestedSchema: { ...question.requestedSchema, required: ["name"] } }

/** The servers whose clients have subscribed, each to the one resource there is. */
const watching = new Set<McpServer>()

const touch = async (): Promise<void> => {
  for (const each of watching) await each.server.sendResourceUpdated({ uri: resource.uri })
  handler.notify.resourceUpdated(resource.uri)
}

const offerExtras = (server: McpServer): void => {
  // For older revisions the SDK sends the question as a request.
  server.registerTool("ask", { description: descriptions.ask, inputSchema: noInput }, (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, "name")
    return answer.kind === "elicit"
      ? text(hello(answer.content?.["name"]))
      : inputRequired({ inputRequests: { name: inputRequired.elicit(asks) } })
  })
  const sleepInput = z.object({ ms: z.number() })
  server.registerTool("sleep", { description: descriptions.sleep, inputSchema: sleepInput }, async ({ ms }) => {
    await setTimeout(ms)
    return text("done")
  })
  server.registerTool("touch", { description: descriptions.touch, inputSchema: noInput }, async () => {
    await touch()
    return text("done")
  })
  const { mimeType, name, uri } = resource
  server.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, text: resource.text }] }))
}

/** What only a server with sessions has. */
const offerSubscriptions = (server: McpServer): McpServer => {
  server.server.setRequestHandler("resources/subscribe", () => {
    watching.add(server)
    return {}
  })
  return server
}

const makeServer = (): McpServer => {
  const server = new McpServer(info, start.extras ? { capabilities: { resources: { subscribe: true } } } : {})
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
  if (start.extras) offerExtras(server)
  return server
}

const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    enableJsonResponse: !start.stream,
    onsessioninitialized: (id) => void sessions.set(id, transport)
  })
  await (start.extras ? offerSubscriptions(makeServer()) : makeServer()).connect(transport)
  return transport
}

const handler = createMcpHandler(makeServer, { legacy: "reject", maxSubscriptions: mostListeners })
const handle = toNodeHandler(handler)

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
  serveOn(createServer((request, response) => void serve(request, response)))
} else {
  serveStdio(makeServer)
}

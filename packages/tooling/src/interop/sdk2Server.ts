/** The offer, made with version 2 of the TypeScript SDK. */
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import {
  completable,
  createMcpHandler,
  inputRequired,
  inputResponse,
  isInitializeRequest,
  McpServer,
  type RegisteredTool,
  ResourceTemplate
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as z from "zod"
import { bodyOf } from "./body.ts"
import * as Offer from "./offer.ts"
import { textsIn } from "./peerClient.ts"
import { inputEnded, listening, transport } from "./start.ts"

const { add, burst, fail, grow, say, status, steps, touch, wait, where } = Offer.tools
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] })
const structured = (value: Readonly<Record<string, unknown>>) => ({
  ...text(JSON.stringify(value)),
  structuredContent: { ...value }
})

/** Where the offer tells of changes when no connection outlives a request. */
interface Changes {
  readonly toolsChanged: () => void
  readonly resourceUpdated: (uri: string) => void
}

/** Whether the tool `late` is there, for servers that are made anew for each request. */
let isLate = false

const offerCalls = (server: McpServer): void => {
  const noInput = z.object({})
  server.registerTool(add.name, {
    description: add.description,
    inputSchema: z.object({ a: z.number(), b: z.number() }),
    outputSchema: z.object({ sum: z.number() })
  }, ({ a, b }) => structured({ sum: a + b }))
  server.registerTool(fail.name, fail, () => ({ ...text(Offer.failure), isError: true }))
  for (const tool of [steps, burst]) {
    server.registerTool(tool.name, { description: tool.description, inputSchema: noInput }, async (_, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      if (progressToken !== undefined) {
        await Offer.report(
          tool === steps,
          (progress) =>
            mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 3 } })
        )
      }
      return text(Offer.done)
    })
  }
  server.registerTool(say.name, { ...say, inputSchema: noInput }, async (_, { mcpReq }) => {
    await mcpReq.log("info", Offer.said)
    return text(Offer.done)
  })
  server.registerTool(
    wait.name,
    { ...wait, inputSchema: noInput },
    async (_, { mcpReq }) => text(await Offer.waitFor(mcpReq.signal))
  )
  server.registerTool(status.name, {
    description: status.description,
    outputSchema: z.object({ waiting: z.int(), cancelled: z.int() })
  }, () => structured(Offer.status()))
  server.registerTool(where.name, {
    description: where.description,
    outputSchema: z.object({ cwd: z.string(), word: z.string() })
  }, () => structured(Offer.where()))
}

/** Written for the newest revision; for older ones the SDK sends the questions as requests. */
const offerAsks = (server: McpServer): void => {
  const inputSchema = z.object({})
  const key = "answer"
  for (const [tool, message] of [[Offer.asks.name, Offer.whatName], [Offer.asks.again, Offer.whatSecret]] as const) {
    server.registerTool(tool.name, { ...tool, inputSchema }, (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, key)
      if (answer.kind !== "elicit") {
        return inputRequired({ inputRequests: { [key]: inputRequired.elicit(Offer.form(message)) } })
      }
      return text(answer.action === "accept" ? Offer.hello(String(answer.content?.["name"])) : Offer.declined)
    })
  }
  server.registerTool(Offer.asks.model.name, { ...Offer.asks.model, inputSchema }, (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, key)
    if (answer.kind !== "sampling") {
      return inputRequired({ inputRequests: { [key]: inputRequired.createMessage(Offer.question) } })
    }
    return text(textsIn(answer.result.content))
  })
  server.registerTool(Offer.asks.roots.name, { ...Offer.asks.roots, inputSchema }, (_, { mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, key)
    if (answer.kind !== "roots") return inputRequired({ inputRequests: { [key]: inputRequired.listRoots() } })
    return text(answer.roots.map(({ uri }) => uri).join(" "))
  })
}

const offerChanges = (server: McpServer, changes: Changes | undefined): void => {
  const addLate = (): RegisteredTool => server.registerTool(Offer.late.name, Offer.late, () => text(Offer.done))
  let late = isLate && changes !== undefined ? addLate() : undefined
  server.registerTool(grow.name, grow, () => {
    if (late === undefined) {
      late = addLate()
    } else {
      late.remove()
      late = undefined
    }
    isLate = late !== undefined
    changes?.toolsChanged()
    return text(Offer.done)
  })
  server.registerTool(touch.name, touch, async () => {
    if (changes === undefined) await server.server.sendResourceUpdated({ uri: Offer.motd.uri })
    else changes.resourceUpdated(Offer.motd.uri)
    return text(Offer.done)
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
    argsSchema: z.object({ who: completable(z.string(), Offer.complete) })
  }, ({ who }) => ({ messages: [{ role: "user", content: { type: "text", text: Offer.greeting(who) } }] }))
}

const makeServer = (era: "legacy" | "modern", changes?: Changes): McpServer => {
  const server = new McpServer(Offer.info, { capabilities: { logging: {}, resources: { subscribe: true } } })
  offerCalls(server)
  offerAsks(server)
  offerChanges(server, changes)
  offerOthers(server)
  if (era === "legacy") {
    server.server.setRequestHandler("resources/subscribe", () => ({}))
    server.server.setRequestHandler("resources/unsubscribe", () => ({}))
  }
  return server
}

const sessions = new Map<string, NodeStreamableHTTPServerTransport>()

const open = async (): Promise<NodeStreamableHTTPServerTransport> => {
  const opened = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => void sessions.set(id, opened),
    onsessionclosed: (id) => void sessions.delete(id)
  })
  await makeServer("legacy").connect(opened)
  return opened
}

const modern = createMcpHandler(() => makeServer("modern", modern.notify), { legacy: "reject" })
const handle = toNodeHandler(modern)

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  if (request.headers["mcp-protocol-version"] === "2026-07-28") {
    return handle(Object.assign(request, { method: request.method ?? "POST", url: request.url ?? "/mcp" }), response)
  }
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
  await modern.close()
  server.closeAllConnections()
  server.close()
} else {
  serveStdio(({ era }) => makeServer(era))
}

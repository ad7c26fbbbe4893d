/** A web handler that is called with web requests, as an edge platform calls it. */
import { McpServer } from "@mcpfx/server"
import { Effect } from "effect"
import { type Case, same } from "./cases.ts"
import { info, make } from "./offers.ts"

/** A function from web requests to web responses. */
export type Handler = (request: Request) => Promise<Response>

/** A handler of its own for each use; platforms without memory between requests keep no sessions. */
export const makeHandler = (sessions: McpServer.WebOptions["sessions"]) => {
  const { registrations, waits } = make()
  return { ...McpServer.toWebHandler(registrations, { ...info, sessions }), waits }
}

const url = "http://localhost/mcp"

const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): Request =>
  new Request(url, {
    method: "POST",
    headers: { accept: "application/json, text/event-stream", "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body)
  })

const modern = (id: number, method: string, name: string, params: Readonly<Record<string, unknown>>): Request => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    ...(method === "tools/call" && name === "count" ? { progressToken: "p" } : {})
  }
  return post(
    { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
    { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name }
  )
}

const initialize = (version: string): Request => {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "raw", version: "1" } }
  return post({ jsonrpc: "2.0", id: 1, method: "initialize", params })
}

const send = (handler: Handler, request: Request) =>
  Effect.promise(() => handler(request)).pipe(
    Effect.flatMap((response) => Effect.map(Effect.promise(() => response.text()), (text) => ({ response, text })))
  )

const memberOf = (text: string, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (value, key) => typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined,
    JSON.parse(text)
  )

const modernCall = (handler: Handler) =>
  Effect.gen(function*() {
    const request = modern(7, "tools/call", "add", { name: "add", arguments: { a: 1, b: 2 } })
    const { response, text } = yield* send(handler, request)
    yield* same("the status", response.status, 200)
    yield* same("the id", memberOf(text, "id"), 7)
    yield* same("the sum", memberOf(text, "result", "structuredContent", "sum"), 3)
  })

const modernStream = (handler: Handler) =>
  Effect.gen(function*() {
    const request = modern(8, "tools/call", "count", { name: "count", arguments: { to: 2 } })
    const { response, text } = yield* send(handler, request)
    yield* same("the media type", response.headers.get("content-type")?.split(";")[0], "text/event-stream")
    yield* same("the number of reports", text.split("notifications/progress").length - 1, 2)
    yield* same("the result comes last", text.lastIndexOf("counted to 2") > text.lastIndexOf("progressToken"), true)
  })

const session = (handler: Handler) =>
  Effect.gen(function*() {
    const first = yield* send(handler, initialize("2025-11-25"))
    yield* same("the revision", memberOf(first.text, "result", "protocolVersion"), "2025-11-25")
    const headers = {
      "mcp-session-id": first.response.headers.get("mcp-session-id") ?? "",
      "mcp-protocol-version": "2025-11-25"
    }
    const note = yield* send(handler, post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers))
    yield* same("the status of a notification", note.response.status, 202)
    const list = yield* send(handler, post({ jsonrpc: "2.0", id: 2, method: "prompts/list" }, headers))
    yield* same("the id", memberOf(list.text, "id"), 2)
    const end = yield* send(handler, new Request(url, { method: "DELETE", headers }))
    yield* same("the session ends", end.response.status < 300, true)
    const late = yield* send(handler, post({ jsonrpc: "2.0", id: 3, method: "ping" }, headers))
    yield* same("the status after its end", late.response.status, 404)
  })

const refusals = (handler: Handler) =>
  Effect.gen(function*() {
    const junk = yield* send(handler, post("{"))
    yield* same("junk", [junk.response.status, memberOf(junk.text, "error", "code")], [400, -32700])
    const foreign = yield* send(handler, post({}, { origin: "https://evil.example" }))
    yield* same("a foreign origin", foreign.response.status, 403)
    const host = yield* send(handler, new Request("http://rebind.example/mcp", { method: "POST", body: "{}" }))
    yield* same("a foreign host", host.response.status, 403)
    const text = yield* send(handler, post("{}", { "content-type": "text/plain" }))
    yield* same("another media type", text.response.status, 415)
  })

/** The HTTP suite without a port; sessions are tried where the handler keeps them. */
export const httpCases = (handler: Handler, sessions: McpServer.WebOptions["sessions"]): Array<Case> => [
  { name: "http: answers a call of 2026-07-28", run: modernCall(handler) },
  { name: "http: streams progress of 2026-07-28", run: modernStream(handler) },
  ...(sessions === "stateful" ? [{ name: "http: keeps and ends a session", run: session(handler) }] : []),
  { name: "http: refuses what it must", run: refusals(handler) }
]

/** What a hostile server says to one message, whatever the transport. */
import type { Json } from "./wire.ts"

export const modes = [
  "junk",
  "wrong-id",
  "twice",
  "wrong-shape",
  "no-shape",
  "null-result",
  "both",
  "endless-pages",
  "circle",
  "endless-progress",
  "huge",
  "deep",
  "silent",
  "close",
  "half"
] as const
export type Mode = (typeof modes)[number]

/** What goes out, in order: messages, or texts as they are; then nothing, again after a while, or the end. */
export interface Say {
  readonly out: ReadonlyArray<Json | string>
  readonly then?: "repeat" | "close"
}

const capabilities = { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} }

const result = (id: unknown, body: unknown): Json => ({ jsonrpc: "2.0", id, result: body })

const tool = (name: string): Json => ({ name, inputSchema: { type: "object" } })

/** Whether the server behaves: only so far that a client gets to its first call. */
const polite = (method: unknown, id: unknown, params: Json): Say | undefined => {
  switch (method) {
    case "initialize":
      return {
        out: [result(id, {
          protocolVersion: params["protocolVersion"],
          capabilities,
          serverInfo: { name: "hostile", version: "0" }
        })]
      }
    case "server/discover":
      return {
        out: [result(id, {
          resultType: "complete",
          ttlMs: 0,
          cacheScope: "private",
          supportedVersions: ["2026-07-28"],
          capabilities,
          _meta: { "io.modelcontextprotocol/serverInfo": { name: "hostile", version: "0" } }
        })]
      }
    case "notifications/initialized":
    case "notifications/cancelled":
      return { out: [] }
    default:
      return undefined
  }
}

const complete = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
const good = (id: unknown): Json => result(id, { ...complete, content: [{ type: "text", text: "good" }] })

let pages = 0

/** One answer of a server of this kind. */
export const say = (mode: Mode, message: Json): Say => {
  const { id, method } = message
  const params = typeof message["params"] === "object" && message["params"] !== null ? { ...message["params"] } : {}
  const courtesy = polite(method, id, params)
  if (courtesy !== undefined) return courtesy
  switch (mode) {
    case "junk":
      return { out: ["Starting…", "\u0000\u0001", "{", "[]", "null", "{\"jsonrpc\":\"1.0\"}", "[1,2", good(id)] }
    case "wrong-id":
      return {
        out: [good("not-asked"), good(null), good(`${String(id)}x`), good(-1), {
          jsonrpc: "2.0",
          error: { code: 1, message: "?" }
        }]
      }
    case "twice":
      return { out: [good(id), good(id), result(id, { ...complete, content: [{ type: "text", text: "bad" }] })] }
    case "wrong-shape":
      return { out: [result(id, { ...complete, content: "text", tools: 5, nextCursor: {} })] }
    case "no-shape":
      return { out: [{ jsonrpc: "2.0", id }] }
    case "null-result":
      return { out: [result(id, null)] }
    case "both":
      return { out: [{ jsonrpc: "2.0", id, result: 5, error: { code: "x", message: 7 } }] }
    case "endless-pages":
      return { out: [result(id, { ...complete, tools: [tool(`tool-${pages}`)], nextCursor: `page-${pages++}` })] }
    case "circle":
      return { out: [result(id, { ...complete, tools: [tool("one")], nextCursor: "same" })] }
    case "endless-progress": {
      const meta = "_meta" in params && typeof params["_meta"] === "object" ? params["_meta"] : undefined
      const progressToken: unknown = meta === null || meta === undefined
        ? undefined
        : Reflect.get(meta, "progressToken")
      return {
        out: [{ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: Date.now() } }],
        then: "repeat"
      }
    }
    case "huge":
      return { out: [result(id, { ...complete, content: [{ type: "text", text: "x".repeat(2 ** 21) }] })] }
    case "deep":
      return {
        out: [`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":${"[".repeat(500)}${"]".repeat(500)}}}`]
      }
    case "silent":
      return { out: [] }
    case "close":
      return { out: [], then: "close" }
    case "half":
      return { out: [JSON.stringify(good(id)).slice(0, 30)], then: "close" }
  }
}

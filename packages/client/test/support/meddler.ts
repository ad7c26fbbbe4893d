/**
 * A server of 2026-07-28 over standard input and output that asks its client things, which it must not. Its tool tells
 * which lines it got.
 */
import { createInterface } from "node:readline"

const say = (message: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
const lines: Array<unknown> = []

const complete = (id: unknown, result: object): void => say({ id, result: { resultType: "complete", ...result } })

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line)
  lines.push(JSON.parse(line))
  if (id === undefined || method === undefined) return
  const hints = { ttlMs: 0, cacheScope: "private" }
  if (method === "server/discover") {
    complete(id, { ...hints, supportedVersions: ["2026-07-28"], capabilities: { tools: {} } })
    say({ id: 1, method: "ping" })
    say({ id: "a", method: "roots/list", params: {} })
    say({
      id: "b",
      method: "elicitation/create",
      params: { message: "?", requestedSchema: { type: "object", properties: {} } }
    })
  } else if (method === "tools/call") {
    say({ id, method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } })
    complete(id, { content: [{ type: "text", text: JSON.stringify(lines) }] })
  } else say({ id, error: { code: -32601, message: "Method not found" } })
})

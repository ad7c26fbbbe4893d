/** Answers that cannot be read: the same failure on every transport, of that one request, and at once. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { TestHttp } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { HttpClient } from "effect/http"
import { fileURLToPath } from "node:url"
import { answerTo, type Message, spoilt } from "./support/spoilt.ts"

const script = fileURLToPath(new URL("./support/spoilt.ts", import.meta.url))
const revisions = ["2025-03-26"] as const

const overStdio = (...args: ReadonlyArray<string>) =>
  Layer.provide(
    McpClient.layerStdio({ command: [process.execPath, script, "serve", ...args], revisions }),
    NodeServices.layer
  )

const event = { "content-type": "text/event-stream" }
const plain = { "content-type": "application/json" }

const overHttp = (bodyOf: (answer: string) => Response) => {
  const handler = async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return new Response(null, { status: 405 })
    const message: Message = await request.json()
    const answer = answerTo(message)
    if (answer === undefined) return new Response(null, { status: 202 })
    return message.method === "tools/call" ? bodyOf(answer) : new Response(answer, { headers: plain })
  }
  return Layer.provide(
    McpClient.layerHttp({ url: "http://localhost/mcp", revisions }),
    Layer.succeed(HttpClient.HttpClient, TestHttp.clientOf(handler))
  )
}

/** Nobody looks for ids in a batch that nests too deep. */
const batched = "stdio, in a batch"

const ways = {
  stdio: overStdio(),
  [batched]: overStdio("batch"),
  "HTTP, as JSON": overHttp((answer) => new Response(answer, { headers: plain })),
  "HTTP, in a batch": overHttp((answer) => new Response(`[${answer}]`, { headers: plain })),
  "HTTP, as an event": overHttp((answer) => new Response(`data: ${answer}\n\n`, { headers: event }))
}

const faults = new Map([
  ["both", "a response has either result or error"],
  ["neither", "a message has a method, a result or an error"],
  ["null", "result must be an object"],
  ["a list", "result must be an object"],
  ["a text for an error", "error must be an object"],
  ["a word for a code", "error.code must be an integer"],
  ["deep", "nested deeper than 128"]
])

for (const [way, live] of Object.entries(ways)) {
  describe(`${way}`, () => {
    it.live(
      "[RPC-06] [field RPC-19] a bad answer fails its own request with the fault, and no other",
      () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const names = [...spoilt.filter((name) => way !== batched || name !== "deep"), "good"]
          const results = yield* Effect.forEach(names, (name) => Effect.result(client.callTool(name)), {
            concurrency: "unbounded"
          })
          const reasons = results.map((result) => result._tag === "Failure" ? result.failure.reason : result.success)
          for (const [index, name] of names.entries()) {
            const expected = name === "good" ? { content: [{ type: "text", text: "good" }] } : { _tag: "BadAnswer" }
            assert.deepInclude(reasons[index], expected, name)
            const fault = faults.get(name)
            if (fault !== undefined) assert.deepInclude(reasons[index], { detail: fault })
          }
        }).pipe(Effect.provide(live), Effect.timeout("10 seconds")),
      30_000
    )
  })
}

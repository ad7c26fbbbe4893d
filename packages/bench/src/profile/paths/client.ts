/** A call by a client: what it costs beside the server that answers it. */
import * as McpClient from "@mcpfx/client/McpClient"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Memory from "@mcpfx/transport/Memory"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import type * as Messages from "../../messages.ts"
import { expectIn, type Making, step } from "../path.ts"
import { each, type Probe } from "../probe.ts"

const content = [{ type: "text", text: "3" }]

const identity = { name: "still", version: "1.0.0" }

/** What a server answers that thinks of nothing. */
const answerTo = (message: JsonRpc.Request): JsonRpc.JsonObject => {
  switch (message.method) {
    case Methods.Initialize.name:
      return { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: identity }
    case Methods.Discover.name:
      return {
        resultType: "complete",
        supportedVersions: ["2026-07-28"],
        capabilities: { tools: {} },
        serverInfo: identity,
        ttlMs: 0,
        cacheScope: "private"
      }
    default:
      return { resultType: "complete", content }
  }
}

const still = Layer.succeed(Endpoint, {
  handle: ({ message, outlet }) => {
    if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, answerTo(message)))
    return Effect.succeed({})
  },
  admitBatch: () => Effect.void,
  attach: () => Effect.void,
  terminate: () => Effect.void
})

const utf8 = new TextDecoder()

/** Answers at once, in this process, what a server would answer over a socket. */
const stillHttp = HttpClient.make((request) =>
  Effect.sync(() => {
    const { body } = request
    const text = body._tag === "Uint8Array" ? utf8.decode(body.body) : "{}"
    const message = JSON.parse(text)
    const respond = (response: Response) => HttpClientResponse.fromWeb(request, response)
    if (request.method !== "POST" || message.id === undefined) {
      return respond(new Response(null, { status: request.method === "POST" ? 202 : 405 }))
    }
    return respond(
      new Response(JSON.stringify({ jsonrpc: "2.0", id: message.id, result: answerTo(message) }), {
        headers: { "content-type": "application/json" }
      })
    )
  })
)

const calling = (client: McpClient.McpClient["Service"]): Probe => ({
  run: async (times) => {
    for (let i = 0; i < times; i++) await Effect.runPromise(client.callTool("add", { a: 1, b: 2 }))
  }
})

const path = (
  id: string,
  title: string,
  version: Messages.Version,
  live: Layer.Layer<McpClient.McpClient, unknown>
): Making =>
  Effect.gen(function*() {
    const client = yield* Effect.provideContext(McpClient.McpClient, yield* Layer.build(live))
    const request = JsonRpc.request(12345, Methods.ToolsCall.name, { name: "add", arguments: { a: 1, b: 2 } })
    const answer = JsonRpc.stringify(JsonRpc.success(12345, { content }))
    return {
      id,
      title: `${title}, ${version}`,
      reach: "from the call to its result, one at a time, with a server in this process that answers at once",
      steps: [
        step("request made text", each(() => JsonRpc.stringify(request))),
        step("answer parsed", each(() => JSON.parse(answer)))
      ],
      whole: calling(client),
      verify: async () =>
        expectIn(JSON.stringify(await Effect.runPromise(client.callTool("add", { a: 1, b: 2 }))), "\"3\"")
    }
  })

const overLines = (version: Messages.Version) =>
  McpClient.layer({ revisions: [version] }).pipe(Layer.provide(Memory.layer), Layer.provide(still))

const overHttp = (version: Messages.Version) =>
  McpClient.layerHttp({ url: "http://127.0.0.1:3000/mcp", revisions: [version] }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, stillHttp))
  )

export const clientPaths = (): ReadonlyArray<Making> => [
  path("client", "client's call over lines", "2025-11-25", overLines("2025-11-25")),
  path("client-modern", "client's call over lines", "2026-07-28", overLines("2026-07-28")),
  path("client-http", "client's call over HTTP", "2025-11-25", overHttp("2025-11-25")),
  path("client-http-modern", "client's call over HTTP", "2026-07-28", overHttp("2026-07-28"))
]

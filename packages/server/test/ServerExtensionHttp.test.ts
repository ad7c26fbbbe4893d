import { assert, describe, it } from "@effect/vitest"
import * as McpClient from "@mcpfx/client/McpClient"
import { Codes, CustomMethod, Extension, JsonRpc, Meta } from "@mcpfx/schema"
import * as TestHttp from "@mcpfx/testing/TestHttp"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import * as McpServer from "../src/McpServer.ts"
import * as ServerExtension from "../src/ServerExtension.ts"

const Search = CustomMethod.request("com.example/search", {
  params: { query: Schema.String },
  result: { n: Schema.Int }
})
const FullText = Extension.make("com.example/full-text", { requests: [Search] })
const FullTextLive = ServerExtension.layer(FullText, {
  handlers: { "com.example/search": ({ query }) => Effect.succeed({ n: query.length }) }
})

const Free = CustomMethod.request("com.example/free", { result: { n: Schema.Int } })
const Guarded = CustomMethod.request("com.example/guarded", { result: { n: Schema.Int } })
const Live = Layer.mergeAll(
  FullTextLive,
  McpServer.method(Free, () => Effect.succeed({ n: 1 })),
  McpServer.method(Guarded, () => Effect.succeed({ n: 1 }), { scopes: ["read"] })
)

const request = (
  method: string,
  extensions: Readonly<Record<string, JsonRpc.JsonObject>>,
  params: JsonRpc.JsonObject
) =>
  JsonRpc.request(1, method, {
    ...params,
    _meta: Meta.encodeEnvelope({
      protocolVersion: "2026-07-28",
      clientCapabilities: { extensions },
      clientInfo: { name: "t", version: "0" }
    })
  })

const codeOf = (message: JsonRpc.Message) => "error" in message ? message.error.code : 0

describe("over HTTP of 2026-07-28", () => {
  it.effect("[EXT-02] [EXT-04] what a request did not announce is refused before it is admitted", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(Live)
      const refused = yield* http.post(request(Search.name, {}, { query: "hay" }))
      assert.strictEqual(refused.status, 400)
      const message = yield* refused.message
      assert.strictEqual(codeOf(message), Codes.missingClientCapability)
      assert.deepStrictEqual("error" in message ? message.error.data : undefined, {
        requiredCapabilities: { extensions: { "com.example/full-text": {} } }
      })
      const served = yield* http.post(request(Search.name, { "com.example/full-text": {} }, { query: "hay" }))
      assert.strictEqual(served.status, 200)
      assert.deepInclude(yield* served.message, { id: 1 })
    }))

  it.effect("[RPC-24] what is not registered is not there, and what needs a scope needs it", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(Live)
      const unknown = yield* http.post(request("com.example/unknown", {}, {}))
      assert.strictEqual(unknown.status, 404)
      assert.strictEqual(codeOf(yield* unknown.message), Codes.methodNotFound)
      assert.strictEqual((yield* http.post(request(Free.name, {}, {}))).status, 200)
      const guarded = yield* http.post(request(Guarded.name, {}, {}))
      assert.strictEqual(guarded.status, 403)
      assert.include(guarded.header("www-authenticate"), "scope=\"read\"")
    }))
})

describe("over HTTP of 2025-11-25", () => {
  it.effect("[EXT-04] a server without sessions takes the request for the announcement", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(Live, { sessions: "stateless" })
      const reply = yield* http.post(JsonRpc.request(1, Search.name, { query: "hay" }), {
        "mcp-protocol-version": "2025-11-25"
      })
      assert.strictEqual(reply.status, 200)
      assert.deepStrictEqual(yield* reply.message, { jsonrpc: "2.0", id: 1, result: { n: 3 } })
    }))

  for (const revision of ["2025-11-25", "2026-07-28"] as const) {
    it.effect(`[EXT-03] ${revision}: a client of ours asks and is answered`, () =>
      Effect.gen(function*() {
        const http = yield* TestHttp.make(Live)
        const transport = yield* http.transport()
        const client = yield* Effect.provideService(
          McpClient.make({ revisions: [revision], capabilities: { extensions: { "com.example/full-text": {} } } }),
          ClientTransport,
          transport
        )
        assert.deepStrictEqual(yield* client.request(Search, { query: "hay" }), { n: 3 })
        assert.deepStrictEqual(yield* client.request(Free, {}), { n: 1 })
      }))
  }
})

describe("scopes", () => {
  it.effect("[ARS-10] a notification, and an announcement, that needs a scope does not reach who lacks it", () =>
    Effect.gen(function*() {
      let heard = 0
      const Here = CustomMethod.notification("com.example/here", { sender: "client" })
      const Moved = CustomMethod.notification("com.example/moved")
      const Open = CustomMethod.notification("com.example/open")
      const Move = CustomMethod.request("com.example/move")
      const http = yield* TestHttp.make(Layer.mergeAll(
        McpServer.notification(Here, () => Effect.sync(() => void heard++), { scopes: ["read"] }),
        McpServer.announcement(Moved, { scopes: ["read"] }),
        McpServer.announcement(Open),
        McpServer.method(Move, () => Effect.andThen(McpServer.announce(Moved, {}), McpServer.announce(Open, {})))
      ))
      for (const revision of ["2025-11-25", "2026-07-28"] as const) {
        const transport = yield* http.transport()
        const client = yield* Effect.provideService(
          McpClient.make({ revisions: [revision] }),
          ClientTransport,
          transport
        )
        yield* client.subscribe({ announcements: { "com.example/moved": true, "com.example/open": true } })
        let moved = 0
        yield* Effect.forkChild(Stream.runForEach(client.notifications(Moved), () => Effect.sync(() => moved++)), {
          startImmediately: true
        })
        const open = yield* client.notifications(Open).pipe(
          Stream.take(1),
          Stream.runDrain,
          Effect.forkChild({ startImmediately: true })
        )
        if (revision === "2025-11-25") yield* client.notifyRaw(Here.name)
        yield* client.request(Move, {})
        yield* Fiber.join(open)
        assert.strictEqual(moved, 0)
        assert.strictEqual(heard, 0)
      }
    }))
})

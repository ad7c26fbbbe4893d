import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { JsonRpc, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { TestHttp, TestPeer } from "@mcpfx/testing"
import { ClientTransport } from "@mcpfx/transport"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"

const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))

describe("TestHttp", () => {
  it.effect("answers a request with JSON", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(AddLive)
      const params = TestPeer.modern({ name: "add", arguments: { a: 1, b: 2 } })
      const reply = yield* http.post(JsonRpc.request(7, "tools/call", params))
      assert.strictEqual(reply.status, 200)
      assert.strictEqual(reply.header("Content-Type"), "application/json")
      const message = yield* reply.message
      assert.deepInclude(message, { id: 7 })
      assert.deepInclude("result" in message ? message.result : {}, { structuredContent: { sum: 3 } })
    }))

  it.effect("reads an event stream, message by message", () =>
    Effect.gen(function*() {
      const Long = Tool.make("long")
      const LongLive = McpServer.tool(Long, () =>
        Effect.as(Effect.andThen(Progress.report({ progress: 1 }), Progress.report({ progress: 2 })), "done"))
      const http = yield* TestHttp.make(LongLive)
      const opened = yield* http.post(JsonRpc.request(1, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "t", version: "0" }
      }))
      const session = { "mcp-session-id": opened.header("mcp-session-id") ?? "", "mcp-protocol-version": "2025-11-25" }
      const reply = yield* http.post(
        JsonRpc.request(2, "tools/call", { name: "long", _meta: { progressToken: "p" } }),
        session
      )
      const messages = yield* Stream.runCollect(reply.messages)
      assert.deepStrictEqual(
        messages.map((message) =>
          "method" in message ? message.method : "answer"
        ),
        [
          "notifications/progress",
          "notifications/progress",
          "answer"
        ]
      )
      assert.strictEqual((yield* http.delete(session)).status, 204)
      assert.strictEqual((yield* http.post(JsonRpc.request(3, "ping"), session)).status, 404)
    }))

  it.effect("posts a text that is no message", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(AddLive)
      const reply = yield* http.post("{")
      assert.strictEqual(reply.status, 400)
      assert.include(yield* reply.text, "-32700")
    }))

  it.effect("runs the server under the clock of the test", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const Nap = Tool.make("nap")
      const NapLive = McpServer.tool(Nap, () =>
        Effect.as(Effect.andThen(Deferred.succeed(started, undefined), Effect.sleep("1 hour")), "rested"))
      const http = yield* TestHttp.make(NapLive)
      const client = yield* Effect.provideServiceEffect(
        McpClient.make(),
        ClientTransport.ClientTransport,
        http.transport()
      )
      const nap = yield* Effect.forkChild(client.callTool("nap", {}, { timeout: "2 hours" }))
      yield* Deferred.await(started)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual((yield* Fiber.join(nap)).content, [{ type: "text", text: "rested" }])
    }))

  it.effect("is left by interruption: the server stops", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const stopped = yield* Deferred.make<void>()
      const Nap = Tool.make("nap")
      const NapLive = McpServer.tool(Nap, () =>
        Deferred.succeed(started, undefined).pipe(
          Effect.andThen(Effect.never),
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined))
        ))
      const http = yield* TestHttp.make(NapLive)
      const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "nap" }
      const call = yield* Effect.forkChild(
        http.post(JsonRpc.request(1, "tools/call", TestPeer.modern({ name: "nap" })), headers)
      )
      yield* Deferred.await(started)
      yield* Effect.yieldNow
      yield* Fiber.interrupt(call)
      yield* Deferred.await(stopped)
    }))

  it.effect("makes a client of any function", () =>
    Effect.gen(function*() {
      const client = TestHttp.clientOf((request) =>
        Effect.succeed(new Response(`${request.method} ${new URL(request.url).pathname}`))
      )
      const response = yield* client.get("https://example.com/there")
      assert.strictEqual(yield* response.text, "GET /there")
      const broken = TestHttp.clientOf(() => {
        throw new Error("no route")
      })
      assert.strictEqual((yield* Effect.flip(broken.get("https://example.com"))).reason._tag, "TransportError")
    }))
})

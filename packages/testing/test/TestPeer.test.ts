import { assert, describe, it } from "@effect/vitest"
import { JsonRpc, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { TestHttp, TestPeer } from "@mcpfx/testing"
import { Endpoint } from "@mcpfx/transport"
import { Effect, Fiber } from "effect"

const Count = Tool.make("count")
const CountLive = McpServer.tool(
  Count,
  () => Effect.as(Effect.andThen(Progress.report({ progress: 1 }), Progress.report({ progress: 2 })), "three")
)
const Server = McpServer.layer(CountLive, { name: "test", version: "1.0.0" })

const counting = TestPeer.modern({ name: "count", _meta: { progressToken: "t" } })

describe("TestPeer", () => {
  it.layer(Server)("in memory", (it) => {
    const peer = Effect.flatMap(Endpoint.Endpoint, TestPeer.make)

    it.effect("sends what no client would, and reads what comes back", () =>
      Effect.gen(function*() {
        const { request } = yield* peer
        assert.deepInclude(yield* request(0, "no/such/method", { a: 1 }), { id: 0 })
        assert.deepStrictEqual(yield* request("", "ping"), { jsonrpc: "2.0", id: "", result: {} })
      }))

    it.effect("keeps what comes before an answer, in order", () =>
      Effect.gen(function*() {
        const { pending, request, take } = yield* peer
        yield* request(1, "tools/call", counting)
        assert.deepStrictEqual(pending().map((message) => "method" in message && message.method), [
          "notifications/progress",
          "notifications/progress"
        ])
        assert.deepInclude(yield* take, { params: { progressToken: "t", progress: 1 } })
        assert.deepInclude(yield* take, { params: { progressToken: "t", progress: 2 } })
        assert.deepStrictEqual(pending(), [])
      }))

    it.effect("lets several wait at the same time, each for its own", () =>
      Effect.gen(function*() {
        const { expectAnswer, expectMethod, start } = yield* peer
        const waiting = yield* Effect.forkChild(Effect.all(
          [expectAnswer(2), expectMethod("notifications/progress"), expectAnswer(1)],
          { concurrency: "unbounded" }
        ))
        yield* Effect.yieldNow
        yield* start(JsonRpc.request(1, "ping"))
        yield* start(JsonRpc.request(2, "tools/call", counting))
        const [second, progress, first] = yield* Fiber.join(waiting)
        assert.strictEqual(second.id, 2)
        assert.strictEqual(progress.method, "notifications/progress")
        assert.strictEqual(first.id, 1)
      }))

    it.effect("gives up on what does not come, and shows what came instead", () =>
      Effect.gen(function*() {
        const { expect, start } = yield* peer
        for (let id = 0; id < 1000; id++) yield* start(JsonRpc.request(id, "ping"))
        const failure = yield* Effect.flip(expect("a miracle", () => false))
        assert.strictEqual(failure.got.length, 10)
        assert.match(failure.message, /^expected a miracle, got \[\{"jsonrpc":"2.0","id":0,"result":\{\}\},/)
      }))

    it.effect("performs the handshake, and says so only when it was accepted", () =>
      Effect.gen(function*() {
        const { initialize, request } = yield* peer
        const answer = yield* initialize("2025-06-18")
        assert.isTrue("result" in answer && answer.result["protocolVersion"] === "2025-06-18")
        assert.isTrue("result" in (yield* request(1, "tools/list")))
        assert.isTrue("error" in (yield* initialize("2025-06-18")))
      }))
  })

  it.effect("speaks over any transport", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(CountLive)
      const peer = yield* TestPeer.connect(yield* http.transport())
      yield* peer.initialize("2025-11-25")
      const answer = yield* peer.request(1, "tools/call", { name: "count", _meta: { progressToken: 0 } })
      assert.deepInclude(answer, { id: 1 })
      assert.strictEqual(peer.pending().length, 2)
    }))

  it.effect("fails where nothing can be sent", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(CountLive)
      const peer = yield* TestPeer.connect(yield* http.transport({ url: "http://elsewhere.example/mcp" }))
      assert.strictEqual((yield* Effect.flip(peer.request(1, "ping")))._tag, "HttpFailure")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer, TestPeer } from "@mcpfx/testing"
import { Effect, Fiber } from "effect"

const { discovered, error, hangUp, make, result, silence } = ScriptedServer

describe("ScriptedServer", () => {
  it.effect("answers by method, with results, errors and functions of the request", () =>
    Effect.gen(function*() {
      const server = yield* make({
        one: result({ n: 1 }),
        two: error(-1, "no", { why: "two" }),
        echo: ({ params }) => result({ ...params }),
        later: () => Effect.as(Effect.yieldNow, result({ later: true }))
      })
      const peer = yield* TestPeer.connect(server.transport)
      assert.deepInclude(yield* peer.request(1, "one"), { result: { n: 1 } })
      assert.deepInclude(yield* peer.request(2, "two"), { error: { code: -1, message: "no", data: { why: "two" } } })
      assert.deepInclude(yield* peer.request(3, "echo", { a: 1 }), { result: { a: 1 } })
      assert.deepInclude(yield* peer.request(4, "later"), { result: { later: true } })
      assert.deepInclude(yield* peer.request(5, "five"), {
        error: { code: -32601, message: "Method not found: five" }
      })
      assert.deepStrictEqual(server.methods(), ["one", "two", "echo", "later", "five"])
    }))

  it.effect("answers what is not named as it is told", () =>
    Effect.gen(function*() {
      const server = yield* make({ other: result({}) })
      const peer = yield* TestPeer.connect(server.transport)
      assert.deepInclude(yield* peer.request(1, "constructor"), { result: {} })
    }))

  it.effect("keeps silent", () =>
    Effect.gen(function*() {
      const server = yield* make({ quiet: silence, loud: result({}) })
      const peer = yield* TestPeer.connect(server.transport)
      yield* peer.start(JsonRpc.request(1, "quiet"))
      yield* peer.request(2, "loud")
      assert.deepStrictEqual(peer.pending(), [])
    }))

  it.effect("hangs up, by script or by hand, and is reached again", () =>
    Effect.gen(function*() {
      const server = yield* make({ bye: hangUp, ping: result({}) })
      const peer = yield* TestPeer.connect(server.transport)
      yield* peer.start(JsonRpc.request(1, "bye"))
      assert.strictEqual((yield* peer.link.closed)._tag, "TransportClosed")
      assert.deepStrictEqual(server.connections(), { made: 1, open: 0 })
      const again = yield* TestPeer.connect(server.transport)
      yield* again.request(1, "ping")
      yield* server.hangUp
      assert.strictEqual((yield* again.link.closed)._tag, "TransportClosed")
      assert.deepStrictEqual(server.connections(), { made: 2, open: 0 })
      assert.strictEqual((yield* Effect.flip(server.notify("n")))._tag, "TransportClosed")
    }))

  it.effect("refuses connections for a while", () =>
    Effect.gen(function*() {
      const server = yield* make({}, { refuseConnections: 1 })
      assert.strictEqual((yield* Effect.flip(TestPeer.connect(server.transport)))._tag, "TransportClosed")
      yield* TestPeer.connect(server.transport)
    }))

  it.effect("speaks first, and waits for what clients say", () =>
    Effect.gen(function*() {
      const server = yield* make({})
      const peer = yield* TestPeer.connect(server.transport)
      const ping = yield* Effect.forkChild(server.expect("hello"))
      yield* server.notify("notifications/tools/list_changed")
      assert.deepInclude(yield* peer.take, { method: "notifications/tools/list_changed" })
      yield* peer.notify("hello")
      yield* Fiber.join(ping)
      assert.deepStrictEqual(server.received(), [{ jsonrpc: "2.0", method: "hello" }])
    }))

  it.layer(ScriptedServer.layer({ "server/discover": discovered() }, { kind: "stdio", target: "node x.js" }))(
    "as a layer",
    (it) => {
      it.effect("is what a client connects to", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.make()
          assert.strictEqual((yield* client.server).revision.version, "2026-07-28")
        }))
    }
  )
})

import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import { FaultyTransport, ScriptedServer, TestPeer } from "@mcpfx/testing"
import { ClientTransport } from "@mcpfx/transport"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"

const { cut, delay, drop, duplicate, hold, replace, script, seeded } = FaultyTransport

const connect = (plan: FaultyTransport.Plan) =>
  Effect.gen(function*() {
    const server = yield* ScriptedServer.make({ other: ({ method }) => ScriptedServer.result({ method }) })
    const peer = yield* TestPeer.connect(FaultyTransport.make(server.transport, plan))
    return { server, peer }
  })

const settle = Effect.repeat(Effect.yieldNow, { times: 50 })
const ids = (messages: ReadonlyArray<JsonRpc.Message>) =>
  messages.map((message) => "id" in message ? message.id : undefined)

describe("FaultyTransport", () => {
  it.effect("loses messages in either direction", () =>
    Effect.gen(function*() {
      const { peer, server } = yield* connect({ toServer: script([drop]), toClient: script([drop]) })
      yield* peer.start(JsonRpc.request(1, "a"))
      yield* peer.start(JsonRpc.request(2, "b"))
      yield* peer.request(3, "c")
      assert.deepStrictEqual(server.methods(), ["b", "c"])
      assert.deepStrictEqual(peer.pending(), [])
    }))

  it.effect("delivers messages twice", () =>
    Effect.gen(function*() {
      const { peer, server } = yield* connect({ toServer: script([duplicate]), toClient: script([duplicate]) })
      yield* peer.start(JsonRpc.request(1, "a"))
      yield* settle
      assert.deepStrictEqual(server.methods(), ["a", "a"])
      assert.deepStrictEqual(ids(peer.pending()), [1, 1, 1])
    }))

  it.effect("delivers messages late, under the clock of the test", () =>
    Effect.gen(function*() {
      const { peer, server } = yield* connect({
        toServer: script([delay("1 minute")]),
        toClient: script([delay("1 hour")])
      })
      yield* peer.start(JsonRpc.request(1, "a"))
      yield* peer.start(JsonRpc.request(2, "b"))
      yield* settle
      assert.deepStrictEqual(server.methods(), ["b"])
      yield* TestClock.adjust("1 minute")
      assert.deepInclude(yield* peer.take, { id: 1 })
      yield* TestClock.adjust("1 hour")
      assert.deepInclude(yield* peer.take, { id: 2 })
    }))

  it.effect("changes the order of messages", () =>
    Effect.gen(function*() {
      const { peer, server } = yield* connect({ toServer: script([hold(2)]) })
      for (const id of [1, 2, 3, 4]) yield* peer.start(JsonRpc.request(id, `m${id}`))
      yield* settle
      assert.deepStrictEqual(server.methods(), ["m2", "m3", "m1", "m4"])
    }))

  it.effect("changes messages", () =>
    Effect.gen(function*() {
      const { peer, server } = yield* connect({ toServer: script([replace(JsonRpc.request(9, "other"))]) })
      yield* peer.start(JsonRpc.request(1, "a"))
      assert.deepInclude(yield* peer.take, { id: 9 })
      assert.deepStrictEqual(server.methods(), ["other"])
    }))

  it.effect("cuts the connection: what is sent then fails, and the next connection is whole", () =>
    Effect.gen(function*() {
      const { peer, server } = yield* connect({
        toServer: (message) => "method" in message && message.method === "fatal" ? cut : FaultyTransport.deliver
      })
      yield* peer.request(1, "a")
      yield* peer.send(JsonRpc.request(2, "fatal"))
      assert.deepInclude(yield* peer.link.closed, { _tag: "TransportClosed", reason: "The connection was cut" })
      assert.strictEqual((yield* Effect.flip(peer.notify("b")))._tag, "TransportClosed")
      yield* settle
      assert.deepStrictEqual(server.methods(), ["a"])
      assert.strictEqual(server.connections().open, 0)
    }))

  it.effect("cuts on what the server says as well", () =>
    Effect.gen(function*() {
      const { peer } = yield* connect({ toClient: script([cut]) })
      yield* peer.start(JsonRpc.request(1, "a"))
      assert.strictEqual((yield* peer.link.closed)._tag, "TransportClosed")
      assert.deepStrictEqual(peer.pending(), [])
    }))

  it("draws the same faults for the same seed, about as often as it is told", () => {
    const plan = (seed: number) => {
      const decide = seeded(seed, { drop: 0.1, duplicate: 0.1, hold: 0.1, delay: 0.1, cut: 0.05 })
      return Array.from({ length: 10_000 }, (_, index) => decide(JsonRpc.notification("n"), index))
    }
    assert.deepStrictEqual(plan(1), plan(1))
    assert.notDeepEqual(plan(1), plan(2))
    const count = (tag: string) => plan(3).filter((fault) => fault._tag === tag).length
    for (
      const [tag, expected] of [["Drop", 1000], ["Duplicate", 1000], ["Hold", 1000], ["Delay", 1000], [
        "Cut",
        500
      ]] as const
    ) {
      assert.approximately(count(tag), expected, 150, tag)
    }
  })

  it.effect("[field PRG-06, field RPC-15] leaves a client whole whose answers come doubled, late and out of order", () =>
    Effect.gen(function*() {
      const server = yield* ScriptedServer.make({
        initialize: ScriptedServer.initialized("2025-11-25", { tools: {} }),
        "tools/call": ({ params }) =>
          ScriptedServer.result({ content: [], structuredContent: { name: params?.["name"] } })
      })
      const faulty = FaultyTransport.make(server.transport, {
        toClient: seeded(7, { duplicate: 0.3, hold: 0.3, delay: 0.3, maxDelay: "1 second" })
      })
      const client = yield* McpClient.make({ revisions: ["2025-11-25"], lazy: true }).pipe(
        Effect.provideService(ClientTransport.ClientTransport, faulty)
      )
      const names = Array.from({ length: 100 }, (_, n) => `t${n}`)
      const calls = yield* Effect.forkChild(
        Effect.forEach(names, (name) => client.callTool(name), { concurrency: "unbounded" })
      )
      for (let step = 0; step < 100 && calls.pollUnsafe() === undefined; step++) {
        yield* settle
        yield* TestClock.adjust("100 millis")
        // What is held comes with what comes after it.
        yield* server.notify("notifications/message", { level: "info", data: step })
      }
      const results = yield* Fiber.join(calls)
      assert.deepStrictEqual(results.map(({ structuredContent }) => structuredContent), names.map((name) => ({ name })))
    }))

  it.layer(Layer.provide(
    FaultyTransport.layer({ toServer: script([drop]) }),
    ScriptedServer.layer({ ping: ScriptedServer.result({}) })
  ))("as a layer", (it) => {
    it.effect("wraps the transport in the context", () =>
      Effect.gen(function*() {
        const peer = yield* TestPeer.connect(yield* ClientTransport.ClientTransport)
        yield* peer.start(JsonRpc.request(1, "ping"))
        assert.strictEqual((yield* peer.request(2, "ping")).id, 2)
        assert.deepStrictEqual(peer.pending(), [])
      }))
  })
})

import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import { Endpoint } from "@mcpfx/transport/Endpoint"
import type { Exchange } from "@mcpfx/transport/Exchange"
import * as Limits from "@mcpfx/transport/Limits"
import * as Memory from "@mcpfx/transport/Memory"
import { Deferred, Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { admitted, echo, endpoint, keeper, settled } from "./support/scripted.ts"

const messages = (exchanges: ReadonlyArray<Exchange>): Array<unknown> => exchanges.map((exchange) => exchange.message)
const result = (id: JsonRpc.RequestId, params: JsonRpc.JsonObject = {}) => ({
  jsonrpc: "2.0",
  id,
  result: { method: "ping", params }
})

describe("pair", () => {
  it.effect("carries requests to the server and answers to the client", () =>
    Effect.gen(function*() {
      const client = keeper()
      const links = yield* Memory.pair(client.endpoint, echo)
      yield* links.client.send(JsonRpc.request(1, "ping", { text: "é\n🎉" }))
      yield* settled
      assert.deepStrictEqual(messages(client.exchanges), [result(1, { text: "é\n🎉" })])
      assert.strictEqual(client.exchanges[0]?.facts.transport, "memory")
    }))

  it.effect("carries requests to the client too, and its answers back", () =>
    Effect.gen(function*() {
      const server = keeper()
      const links = yield* Memory.pair(echo, server.endpoint)
      yield* links.server.send(JsonRpc.request("s1", "ping"))
      yield* settled
      assert.deepStrictEqual(messages(server.exchanges), [result("s1")])
    }))

  it.effect("behaves as a wire does: what is no JSON does not arrive as it was", () =>
    Effect.gen(function*() {
      const server = keeper()
      const links = yield* Memory.pair(keeper().endpoint, server.endpoint)
      const shared = { when: new Date(0), gone: undefined, nan: Number.NaN }
      yield* links.client.send(JsonRpc.notification("n", shared))
      yield* settled
      assert.deepStrictEqual(messages(server.exchanges), [
        { jsonrpc: "2.0", method: "n", params: { when: "1970-01-01T00:00:00.000Z", nan: null } }
      ])
    }))

  it.effect("writes results that are text already", () =>
    Effect.gen(function*() {
      const client = keeper()
      const server = endpoint(({ message, outlet }) => {
        if (JsonRpc.isRequest(message)) {
          outlet.answer(JsonRpc.success(message.id, new JsonRpc.EncodedResult("{\"tools\":[]}")))
        }
        return admitted
      })
      const links = yield* Memory.pair(client.endpoint, server)
      yield* links.client.send(JsonRpc.request(1, "tools/list"))
      yield* settled
      assert.deepStrictEqual(messages(client.exchanges), [{ jsonrpc: "2.0", id: 1, result: { tools: [] } }])
    }))

  it.effect("carries messages of any length, whole and in order, whatever pieces they are written in", () =>
    Effect.gen(function*() {
      const client = keeper()
      const links = yield* Memory.pair(client.endpoint, echo)
      const texts = [524_287, 524_288, 3_000_000, 1].map((length) => "🎉".repeat(Math.ceil(length / 2)))
      for (const [id, text] of texts.entries()) yield* links.client.send(JsonRpc.request(id, "ping", { text }))
      while (client.exchanges.length < texts.length) yield* settled
      assert.isTrue(texts.every((text, id) => {
        const { message } = client.exchanges[id] ?? {}
        return JSON.stringify(message) === JSON.stringify(result(id, { text }))
      }))
    }))

  it.effect("[FRM-19] delivers the answer after the send, never inside it", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const client = endpoint(() => {
        order.push("answer")
        return admitted
      })
      const links = yield* Memory.pair(client, echo)
      yield* links.client.send(JsonRpc.request(1, "ping"))
      order.push("sent")
      yield* settled
      assert.deepStrictEqual(order, ["sent", "answer"])
    }))

  it.effect("does not deepen the stack, however long the two talk", () =>
    Effect.gen(function*() {
      const done = yield* Deferred.make<void>()
      let deepest = 0
      const count = (n: unknown): number => typeof n === "number" ? n : 0
      const bounce = (otherwise: () => void): Endpoint["Service"] =>
        endpoint(({ facts, message }) => {
          deepest = Math.max(deepest, (new Error().stack ?? "").split("\n").length)
          if (!JsonRpc.isNotification(message) || facts.connection === undefined) return admitted
          const n = count(message.params?.["n"])
          if (n === 0) {
            otherwise()
            return admitted
          }
          return Effect.as(Effect.orDie(facts.connection.send(JsonRpc.notification("n", { n: n - 1 }))), {})
        })
      const over = () => void Deferred.doneUnsafe(done, Exit.void)
      const links = yield* Memory.pair(bounce(over), bounce(over))
      const limit = Error.stackTraceLimit
      Error.stackTraceLimit = 1000
      yield* links.client.send(JsonRpc.notification("n", { n: 5000 }))
      yield* Deferred.await(done)
      Error.stackTraceLimit = limit
      assert.isBelow(deepest, 200)
    }))

  it.effect("keeps the order of each direction", () =>
    Effect.gen(function*() {
      const server = keeper()
      const links = yield* Memory.pair(keeper().endpoint, server.endpoint)
      yield* Effect.forEach(
        Array.from({ length: 3000 }, (_, n) => n),
        (n) => links.client.send(JsonRpc.notification("n", { n })),
        { concurrency: 10, discard: true }
      )
      yield* settled
      const order = server.exchanges.map(({ message }) => JsonRpc.isNotification(message) ? message.params?.["n"] : -1)
      assert.deepStrictEqual(order, Array.from({ length: 3000 }, (_, n) => n))
    }))

  it.effect("lets the sender wait while the other side does not take in", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<void>()
      const server = keeper(() => Effect.as(Deferred.await(gate), {}))
      const links = yield* Memory.pair(keeper().endpoint, server.endpoint)
      let sent = 0
      yield* Effect.forkChild(Effect.forEach(
        Array.from({ length: 100 }, (_, n) => n),
        (n) => Effect.andThen(links.client.send(JsonRpc.notification("n", { n })), Effect.sync(() => sent++)),
        { discard: true }
      ))
      yield* settled
      assert.isBelow(sent, 20)
      yield* Deferred.succeed(gate, undefined)
      yield* settled
      yield* settled
      assert.strictEqual(sent, 100)
      assert.strictEqual(server.exchanges.length, 100)
    }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 8 }))))

  it.effect("does not lock up when both sides send more than fits", () =>
    Effect.gen(function*() {
      const client = keeper()
      const links = yield* Memory.pair(client.endpoint, echo)
      yield* Effect.forEach(
        Array.from({ length: 500 }, (_, n) => n),
        (n) => Effect.andThen(links.client.send(JsonRpc.request(n, "a")), links.server.send(JsonRpc.notification("b"))),
        { concurrency: "unbounded", discard: true }
      )
      yield* settled
      const answers = client.exchanges.filter(({ message }) => JsonRpc.isResponse(message))
      assert.deepStrictEqual([answers.length, client.exchanges.length], [500, 1000])
    }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 4 }))))

  it.effect("gives up a side that stands still, for both", () =>
    Effect.gen(function*() {
      const server = keeper(() => Effect.never)
      const links = yield* Memory.pair(keeper().endpoint, server.endpoint)
      yield* Effect.forkChild(Effect.forEach([1, 2, 3, 4], (n) => links.client.send(JsonRpc.notification("n", { n }))))
      yield* settled
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* links.client.closed)._tag, "TransportClosed")
      assert.strictEqual((yield* links.server.closed)._tag, "TransportClosed")
    }).pipe(Effect.provide(Limits.layer({ outgoingMessages: 2 }))))

  it.effect("[SHT-04] delivers what was sent before the scope closed, then ends both links", () =>
    Effect.gen(function*() {
      const server = keeper()
      const scope = yield* Scope.make()
      const links = yield* Scope.provide(Memory.pair(keeper().endpoint, server.endpoint), scope)
      yield* links.client.send(JsonRpc.notification("last"))
      yield* Scope.close(scope, Exit.void)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(server.exchanges.length, 1)
      assert.strictEqual((yield* links.client.closed)._tag, "TransportClosed")
      assert.strictEqual((yield* links.server.closed)._tag, "TransportClosed")
      assert.strictEqual((yield* Effect.flip(links.client.send(JsonRpc.notification("n"))))._tag, "TransportClosed")
    }))

  it.effect("[field LIF-16] whoever waits for the end of a link hears of it once, whatever else waits", () =>
    Effect.gen(function*() {
      const heard: Array<string> = []
      const scope = yield* Scope.make()
      const links = yield* Scope.provide(Memory.pair(keeper().endpoint, keeper().endpoint), scope)
      const wait = (name: string) => Effect.map(links.client.closed, ({ _tag }) => void heard.push(`${name} ${_tag}`))
      yield* Effect.forkChild(wait("mine"))
      yield* Effect.forkChild(wait("protocol"))
      yield* settled
      assert.deepStrictEqual(heard, [])
      yield* Scope.close(scope, Exit.void)
      yield* settled
      yield* wait("late")
      assert.deepStrictEqual(heard, ["mine TransportClosed", "protocol TransportClosed", "late TransportClosed"])
    }))

  it.effect("[SHT-06] tells the handlers of a client that has gone", () =>
    Effect.gen(function*() {
      let disconnected = 0
      const server = keeper(() =>
        Exit.succeed({
          disconnected: () => {
            disconnected++
          }
        })
      )
      const scope = yield* Scope.make()
      const links = yield* Scope.provide(Memory.pair(keeper().endpoint, server.endpoint), scope)
      yield* links.client.send(JsonRpc.request(1, "slow"))
      yield* settled
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(disconnected, 1)
      server.exchanges[0]?.outlet.answer(JsonRpc.success(1, {}))
    }))
})

describe("layer", () => {
  it.effect("connects to the endpoint in the context, anew each time", () =>
    Effect.gen(function*() {
      const transport = yield* ClientTransport
      assert.strictEqual(transport.kind, "memory")
      const client = keeper()
      const first = yield* transport.connect(client.endpoint)
      const second = yield* transport.connect(client.endpoint)
      assert.notStrictEqual(first.id, second.id)
      yield* first.send(JsonRpc.request(1, "ping"))
      yield* second.send(JsonRpc.request(2, "ping"))
      yield* settled
      assert.deepStrictEqual(messages(client.exchanges), [result(1), result(2)])
    }).pipe(Effect.provide(Layer.provide(Memory.layer, Layer.succeed(Endpoint, echo)))))
})

describe("make", () => {
  it.effect("fails to connect where nobody serves", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.make
      const failure = yield* Effect.flip(memory.transport.connect(keeper().endpoint))
      assert.strictEqual(failure._tag, "TransportClosed")
    }))

  it.effect("[SHT-04] ends the connections of a server whose scope closes, and serves again after", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.make
      const server = yield* Scope.make()
      yield* Scope.provide(memory.serve(echo), server)
      const link = yield* memory.transport.connect(keeper().endpoint)
      yield* Scope.close(server, Exit.void)
      assert.strictEqual((yield* link.closed)._tag, "TransportClosed")
      assert.strictEqual((yield* Effect.flip(memory.transport.connect(echo)))._tag, "TransportClosed")

      yield* memory.serve(echo)
      const client = keeper()
      const again = yield* memory.transport.connect(client.endpoint)
      yield* again.send(JsonRpc.request(1, "ping"))
      yield* settled
      assert.deepStrictEqual(messages(client.exchanges), [result(1)])
    }))

  it.effect("serves with the one that came last, also when the one before goes", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.make
      const first = yield* Scope.make()
      yield* Scope.provide(memory.serve(keeper().endpoint), first)
      yield* memory.serve(echo)
      yield* Scope.close(first, Exit.void)
      const client = keeper()
      const link = yield* memory.transport.connect(client.endpoint)
      yield* link.send(JsonRpc.request(1, "ping"))
      yield* settled
      assert.deepStrictEqual(messages(client.exchanges), [result(1)])
    }))

  it.effect("ends one connection with its client's scope, and no other", () =>
    Effect.gen(function*() {
      const memory = yield* Memory.make
      yield* memory.serve(echo)
      const scope = yield* Scope.make()
      const first = yield* Scope.provide(memory.transport.connect(keeper().endpoint), scope)
      const client = keeper()
      const second = yield* memory.transport.connect(client.endpoint)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual((yield* first.closed)._tag, "TransportClosed")
      yield* second.send(JsonRpc.request(1, "ping"))
      yield* settled
      assert.deepStrictEqual(messages(client.exchanges), [result(1)])
    }))
})

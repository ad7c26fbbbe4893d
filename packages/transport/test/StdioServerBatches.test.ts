import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Rejected } from "@mcpfx/transport/Endpoint"
import { Effect, Exit, Fiber } from "effect"
import { admitted, echo, endpoint, keeper, settled } from "./support/scripted.ts"
import { code, exchange, idOf, notification, ping, pong, serving } from "./support/stdio.ts"

describe("long messages", () => {
  it.effect("[STD-01] are admitted in their turn, before what came behind them", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const server = endpoint(({ message, outlet }) => {
        if (!JsonRpc.isRequest(message)) return admitted
        seen.push(message.id)
        outlet.answer(JsonRpc.success(message.id, { size: JSON.stringify(message.params ?? {}).length }))
        return admitted
      })
      const long = (id: number, size: number) => ({ ...ping(id), params: { text: "a".repeat(size) } })
      const messages = [long(1, 65_000), long(2, 65_536), ping(3), long(4, 200_000), long(5, 10), { jsonrpc: "2.0" }]
      const answers = yield* exchange(server, ...messages)
      assert.deepStrictEqual(seen, [1, 2, 3, 4, 5])
      assert.deepStrictEqual(answers.map(idOf), [1, 2, 3, 4, 5, "absent"])
    }))
})

describe("batches", () => {
  it.effect("[STD-07] [RPC-10] answers an array with one array, when the last request is done", () =>
    Effect.gen(function*() {
      const { endpoint, exchanges } = keeper()
      const io = yield* serving(endpoint)
      yield* io.send([ping(1), notification, ping(2)])
      yield* settled
      const [first, , second] = exchanges
      second?.outlet.answer(JsonRpc.success(2, {}))
      yield* settled
      assert.deepStrictEqual(io.received(), [])
      first?.outlet.answer(JsonRpc.success(1, {}))
      yield* settled
      assert.deepStrictEqual(io.received(), [[
        { jsonrpc: "2.0", id: 2, result: {} },
        { jsonrpc: "2.0", id: 1, result: {} }
      ]])
      yield* Fiber.interrupt(io.fiber)
    }))

  it.effect("[RPC-10] writes nothing for notifications alone, and leaves ended requests out", () =>
    Effect.gen(function*() {
      const server = endpoint(({ message, outlet }) => {
        if (!JsonRpc.isRequest(message)) return admitted
        if (message.id === 1) outlet.end()
        else outlet.answer(JsonRpc.success(message.id, {}))
        return admitted
      })
      const answers = yield* exchange(server, [notification, notification], [ping(1)], [ping(1), ping(2)])
      assert.deepStrictEqual(answers, [[{ jsonrpc: "2.0", id: 2, result: {} }]])
    }))

  it.effect("[RPC-10] answers what is wrong inside an array in the array", () =>
    Effect.gen(function*() {
      const [answer] = yield* exchange(echo, [1, { jsonrpc: "2.0", id: 5 }, ping(2), { method: "n" }])
      assert.isTrue(Array.isArray(answer))
      const entries: ReadonlyArray<unknown> = Array.isArray(answer) ? answer : []
      assert.deepStrictEqual(entries.map((e) => [idOf(e), code(e)]), [["absent", -32600], [5, -32600], [2, undefined]])
    }))

  it.effect("[RPC-10] refuses an empty array and a long one as a whole", () =>
    Effect.gen(function*() {
      const answers = yield* exchange(echo, [], Array.from({ length: 101 }, (_, i) => ping(i)))
      assert.deepStrictEqual(answers.map((a) => [idOf(a), code(a)]), [["absent", -32600], ["absent", -32600]])
    }))

  it.effect("[RPC-12] refuses an array that the endpoint does not take", () =>
    Effect.gen(function*() {
      const kept = keeper()
      const server = endpoint(
        kept.endpoint.handle,
        () => Exit.fail(new Rejected({ code: -32600, message: "no batches" }, 400))
      )
      const answers = yield* exchange(server, [ping(1), ping(2)])
      assert.deepStrictEqual(answers, [{ jsonrpc: "2.0", error: { code: -32600, message: "no batches" } }])
      assert.deepStrictEqual(kept.exchanges, [])
    }))

  it.effect("keeps the order of an array when an admission has to wait", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const server = endpoint(
        (exchange) => {
          const admit = Effect.suspend(() => {
            seen.push("id" in exchange.message ? exchange.message.id : undefined)
            return echo.handle(exchange)
          })
          return Effect.andThen(Effect.yieldNow, admit)
        },
        () => Effect.yieldNow
      )
      const answers = yield* exchange(server, [ping(1), ping(2)], ping(3))
      assert.deepStrictEqual(seen, [1, 2, 3])
      assert.deepStrictEqual(answers, [[pong(1), pong(2)], pong(3)])
    }))
})

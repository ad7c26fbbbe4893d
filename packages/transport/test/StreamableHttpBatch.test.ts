import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Rejected } from "../src/Endpoint.ts"
import { held, modern, ping, reading, refused, scripted, serve, sse, turns } from "./support/http.ts"

describe("batches", () => {
  const garbage = {
    jsonrpc: "2.0",
    id: null,
    error: { code: -32600, message: "Invalid request: a message is a JSON object" }
  }
  const pinged = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, result: { method: "ping", era: "Legacy" } })

  it.effect("[RPC-10] [field RPC-07] an array is answered by an array, also when it has one element", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      assert.deepStrictEqual((yield* ask({ body: [ping] })).body, [pinged(1)])
      const mixed = yield* ask({
        body: [ping, JsonRpc.notification("notifications/x"), 5, JsonRpc.request("b", "ping")]
      })
      assert.strictEqual(mixed.status, 200)
      assert.sameDeepMembers(mixed.body, [pinged(1), garbage, pinged("b")])
      assert.deepStrictEqual((yield* ask({ body: ping })).body, pinged(1))
    }))

  it.effect("[field RPC-07] a batch without requests gets 202, an empty one 400", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      const quiet = yield* ask({ body: [JsonRpc.notification("a"), JsonRpc.notification("b")] })
      assert.deepStrictEqual([quiet.status, quiet.body], [202, ""])
      const empty = yield* ask({ body: [] })
      assert.strictEqual(empty.status, 400)
      assert.strictEqual(empty.body.error.code, -32600)
    }))

  it.effect("[RPC-12] [field RPC-07] other revisions have no batches", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted({
        admitBatch: (_, facts) =>
          facts.protocolVersion === "2025-03-26"
            ? Effect.void
            : Effect.fail(new Rejected({ code: -32600, message: "No batches" }, 400))
      }))
      const status = (body: unknown, version: string) =>
        Effect.map(ask({ body, headers: { "mcp-protocol-version": version } }), ({ body, status }) => [
          status,
          body.error?.code
        ])
      assert.deepStrictEqual(yield* status([ping], "2025-03-26"), [200, undefined])
      assert.deepStrictEqual(yield* status([ping], "2025-06-18"), [400, -32600])
      assert.deepStrictEqual(yield* status([ping], "2026-07-28"), [400, -32600])
      assert.deepStrictEqual(yield* status([ping, modern(2, "a")], "2025-03-26"), [400, -32600])
    }))

  it.effect("a batch has a limit", () =>
    Effect.gen(function*() {
      const { ask } = yield* serve(scripted())
      assert.strictEqual((yield* ask({ body: Array.from({ length: 101 }, () => ping) })).status, 400)
      assert.strictEqual((yield* ask({ body: Array.from({ length: 100 }, () => ping) })).status, 200)
    }))

  it.effect("messages are handed over in order, and a refused one is answered in its place", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const { ask } = yield* serve(scripted({
        handle: (exchange) => {
          const { message } = exchange
          seen.push("method" in message ? message.method : message)
          return "method" in message && message.method === "no"
            ? Effect.fail(new Rejected({ code: -32601, message: "no" }, 404))
            : Effect.andThen(Effect.yieldNow, scripted().handle(exchange))
        }
      }))
      const response = yield* ask({
        body: [JsonRpc.request(1, "no"), JsonRpc.notification("n"), JsonRpc.request(2, "ping")]
      })
      assert.deepStrictEqual(seen, ["no", "n", "ping"])
      assert.deepStrictEqual(response.body, [{ ...refused(-32601, "no"), id: 1 }, pinged(2)])
    }))

  it.effect("a batch whose answers come one by one is an event stream", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { fetch } = yield* serve(endpoint)
      const fiber = yield* Effect.forkChild(fetch({ body: [ping, JsonRpc.request(2, "ping"), 5] }))
      const first = yield* next
      const second = yield* next
      second.outlet.answer(JsonRpc.success(2, {}))
      yield* TestClock.adjust("1 second")
      const body = reading(yield* Fiber.join(fiber))
      const success = (id: number) => ({ jsonrpc: "2.0", id, result: {} })
      assert.strictEqual(yield* body.next, sse(garbage, success(2)))
      first.outlet.answer(JsonRpc.success(1, {}))
      assert.strictEqual(yield* body.rest, sse(success(1)))
    }))

  it.effect("leaving a batch is told to the requests without an answer", () =>
    Effect.gen(function*() {
      const left: Array<unknown> = []
      const { endpoint, next } = yield* held(({ message }) => left.push("id" in message ? message.id : undefined))
      const { fetch } = yield* serve(endpoint)
      const controller = new AbortController()
      yield* Effect.forkChild(fetch({ body: [ping, JsonRpc.request(2, "ping")], signal: controller.signal }))
      const { outlet } = yield* next
      yield* next
      outlet.answer(JsonRpc.success(1, {}))
      controller.abort()
      yield* turns
      assert.deepStrictEqual(left, [2])
    }))
})

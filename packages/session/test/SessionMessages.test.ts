import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import { noOutlet } from "@mcpfx/transport/Exchange"
import { Deferred, Effect, Exit, Logger } from "effect"
import { at, handler, initialize, legacy, nothing, readyServer, request, server, Stream } from "./fixtures.ts"

const success = (id: JsonRpc.RequestId, result: unknown = {}) => ({ jsonrpc: "2.0", id, result })
const codeOf = (stream: Stream): unknown => {
  const only: unknown = stream.only
  return at(only, "error", "code") ?? stream.rejected?.error.code
}
const never = () => Effect.never

describe("cancelling", () => {
  it.effect("[CAN-03] [field PRG-06] [field RPC-03] interrupts the handler and never answers, ids 0 and \"\" too", () =>
    Effect.gen(function*() {
      for (const id of [0, "", 4, "four", "4"]) {
        let finalized = false
        const bench = yield* readyServer({
          handler: handler({
            slow: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (finalized = true)))
          })
        })
        const stream = bench.ask(id, "slow")
        bench.tell("notifications/cancelled", { requestId: id, reason: "enough" })
        assert.deepStrictEqual([stream.answers, stream.ends, finalized], [[], 1, true])
        assert.deepStrictEqual(bench.session.load(), nothing)
      }
    }))

  it.effect("[CAN-03] a handler that ends well in spite of its cancel is not answered either", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const bench = yield* readyServer({
        handler: handler({ stubborn: () => Effect.uninterruptible(Effect.as(Deferred.await(go), { done: true })) })
      })
      const stream = bench.ask(1, "stubborn")
      bench.tell("notifications/cancelled", { requestId: 1 })
      assert.strictEqual(stream.ends, 1)
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual([stream.answers, stream.ends], [[], 1])
    }))

  it.effect("[CAN-04] [PRG-14] malformed and unknown cancels are ignored, the right request goes on", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: handler({ slow: never }) })
      const stream = bench.ask(1, "slow")
      bench.tell("notifications/cancelled")
      for (const requestId of [null, {}, [], "1", 2, 1.5, true, undefined]) {
        bench.tell("notifications/cancelled", { requestId })
      }
      bench.tell("notifications/cancelled", {})
      assert.strictEqual(stream.closings, 0)
      bench.tell("notifications/cancelled", { requestId: 1 })
      assert.strictEqual(stream.ends, 1)
    }))

  it.effect("a cancel that comes while the handler is still on the caller's stack is heard", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({
        handler: handler({
          reports: (_, context) =>
            Effect.andThen(context.progress?.report({ progress: 1 }) ?? Effect.void, Effect.succeed({ done: true }))
        })
      })
      const stream = new Stream()
      // The peer cancels as soon as it hears of progress.
      stream.gate = Effect.sync(() => bench.tell("notifications/cancelled", { requestId: 1 }))
      bench.accept(request(1, "reports", { _meta: { progressToken: "t" } }), stream)
      assert.deepStrictEqual([stream.answers, stream.ends, stream.pushed.length], [[], 1, 1])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("a handler that suspends after such a cancel is interrupted as soon as it does", () =>
    Effect.gen(function*() {
      let interrupted = false
      const bench = yield* readyServer({
        handler: handler({
          reports: (_, context) =>
            Effect.andThen(
              context.progress?.report({ progress: 1 }) ?? Effect.void,
              Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (interrupted = true)))
            )
        })
      })
      const stream = new Stream()
      stream.gate = Effect.sync(() => bench.tell("notifications/cancelled", { requestId: 1 }))
      bench.accept(request(1, "reports", { _meta: { progressToken: "t" } }), stream)
      assert.deepStrictEqual([interrupted, stream.answers, stream.ends], [true, [], 1])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[CON-02] a cancel reaches requests of its own session only", () =>
    Effect.gen(function*() {
      const one = yield* readyServer({ handler: handler({ slow: never }) })
      const two = yield* readyServer({ handler: handler({ slow: never }) })
      const stream = one.ask(1, "slow")
      two.tell("notifications/cancelled", { requestId: 1 })
      assert.strictEqual(stream.closings, 0)
    }))
})

describe("notifications", () => {
  it.effect("[field RPC-08] [field RPC-13] unknown ones are never answered and break nothing", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const bench = yield* readyServer({
        handler: handler({}, (message) =>
          message.method === "vendor/event"
            ? Effect.die("cannot")
            : Effect.sync(() => void seen.push(message.method)))
      })
      bench.tell("vendor/event", { a: 1 })
      bench.tell("notifications/future", { odd: [null] })
      bench.tell("notifications/roots/list_changed")
      assert.deepStrictEqual(seen, [
        "notifications/initialized",
        "notifications/future",
        "notifications/roots/list_changed"
      ])
      assert.deepStrictEqual(bench.ask(1, "ping").only, success(1))
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("before initialize nobody hears them", () =>
    Effect.gen(function*() {
      let heard = 0
      const bench = yield* server({ handler: handler({}, () => Effect.sync(() => void heard++)) })
      bench.tell("notifications/roots/list_changed")
      bench.tell("notifications/initialized")
      assert.strictEqual(heard, 0)
    }))

  it.effect("those that take long are counted, bounded, and end with the session", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ limits: { requestsInFlight: 2 }, handler: handler({}, never) })
      bench.tell("a")
      bench.tell("b")
      assert.deepStrictEqual(bench.session.load().fibers, 2)
      yield* bench.session.close("closed")
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[field RPC-15] [CAN-05] answers to no request are ignored, twice too", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer()
      for (const id of [999, 3, 3, "x"]) {
        assert.isTrue(Exit.isSuccess(bench.accept({ jsonrpc: "2.0", id, result: {} }, noOutlet)))
      }
      assert.deepStrictEqual(bench.ask(1, "ping").only, success(1))
    }))

  it.effect("[field RPC-05] errors without an id are logged as what they are, the session lives", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const logger = Logger.make((options) => void logs.push(`${options.logLevel} ${String(options.message)}`))
      const bench = yield* readyServer().pipe(Effect.provide(Logger.layer([logger])))
      bench.accept({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "parse" } })
      bench.accept({ jsonrpc: "2.0", error: { code: -32700, message: "parse" } })
      assert.deepStrictEqual(logs, [1, 2].map(() => "Warn the other side could not read a message: -32700 parse"))
      assert.deepStrictEqual(bench.ask(1, "ping").only, success(1))
    }))
})

describe("what is kept", () => {
  it.effect("[LOG-02] the level is the default until the client sets one, and live in running requests", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const go = yield* Deferred.make<void>()
      const bench = yield* server({
        defaultLogLevel: "warning",
        handler: handler({
          "tools/call": (_, context) =>
            Effect.gen(function*() {
              seen.push(context.logLevel)
              yield* Deferred.await(go)
              seen.push(context.logLevel)
              return {}
            }),
          "logging/setLevel": (message) =>
            message.params?.["level"] === "alert"
              ? Effect.fail(new McpError.MethodNotFound({ method: "x" }))
              : Effect.succeed({})
        })
      })
      bench.ask(1, "initialize", initialize())
      bench.ask(2, "tools/call")
      assert.deepStrictEqual(bench.ask(3, "logging/setLevel", { level: "debug" }).only, success(3))
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(seen, ["warning", "debug"])
      // Neither a level that is none nor one that was refused is kept.
      bench.ask(4, "logging/setLevel", { level: "loud" })
      bench.ask(5, "logging/setLevel", { level: "alert" })
      assert.strictEqual(bench.session.logLevel(), "debug")
    }))

  it.effect("subscriptions are kept, bounded, and taken back", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ limits: { subscriptions: 2 } })
      bench.ask(1, "resources/subscribe", { uri: "a:1" })
      bench.ask(2, "resources/subscribe", { uri: "a:2" })
      assert.strictEqual(codeOf(bench.ask(3, "resources/subscribe", { uri: "a:3" })), -32000)
      bench.ask(4, "resources/subscribe", { uri: "a:2" })
      bench.ask(5, "resources/unsubscribe", { uri: "a:1" })
      assert.deepStrictEqual([...bench.session.subscriptions()], ["a:2"])
    }))

  it.effect("a session that stands already serves at once, and shows no id where it is stateless", () =>
    Effect.gen(function*() {
      const bench = yield* server({
        stateless: true,
        established: { revision: legacy, clientInfo: { name: "n", version: "1" }, clientCapabilities: {} },
        handler: handler({
          "tools/call": (_, context) =>
            Effect.succeed({ id: context.sessionId ?? "none", asker: context.asker === undefined })
        })
      })
      assert.deepStrictEqual(bench.ask(1, "tools/call").only, success(1, { id: "none", asker: true }))
    }))
})

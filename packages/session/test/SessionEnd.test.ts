import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { Link, LinkHolder } from "@mcpfx/transport/Link"
import { Effect, Exit, Fiber, Logger, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import { type Bench, handler, nothing, readyServer, rejection, request, Stream, Wire } from "./fixtures.ts"

const success = (id: JsonRpc.RequestId, result: unknown = {}) => ({ jsonrpc: "2.0", id, result })
const never = () => Effect.never

describe("the end", () => {
  it.effect("[PRG-11] [SHT-05] closing interrupts what runs, waits for finalizers, and nothing is written after", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const bench = yield* readyServer({
        handler: handler({
          slow: () =>
            Effect.onInterrupt(
              Effect.never,
              () => Effect.andThen(Effect.yieldNow, Effect.sync(() => void order.push("finalized")))
            )
        })
      })
      const stream = bench.ask(1, "slow")
      yield* bench.session.close("terminated")
      order.push("closed")
      assert.deepStrictEqual(order, ["finalized", "closed"])
      assert.deepStrictEqual([stream.answers, stream.ends], [[], 1])
      assert.strictEqual(yield* bench.session.closed, "terminated")
      assert.deepStrictEqual(bench.session.load(), nothing)
      const after = rejection(bench.accept(request(2, "tools/list"), new Stream()))
      assert.deepStrictEqual([after?.httpStatus, after?.error.code], [404, -32600])
    }))

  it.effect("[SHT-04] closing twice, at once, from inside a handler, is closing once", () =>
    Effect.gen(function*() {
      const reasons: Array<string> = []
      const bench: Bench = yield* readyServer({
        onClosed: (reason) => void reasons.push(reason),
        handler: handler({
          bye: () => Effect.as(Effect.suspend(() => bench.session.close("closed")), { unreachable: true })
        })
      })
      const stream = bench.ask(1, "bye")
      yield* Effect.all([bench.session.close("idle"), bench.session.close("terminated")], { concurrency: 2 })
      assert.deepStrictEqual(reasons, ["closed"])
      assert.deepStrictEqual([stream.answers, stream.ends], [[], 1])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[CON-06] [SHT-04] an uninterruptible handler may close its session without waiting for itself", () =>
    Effect.gen(function*() {
      const bench: Bench = yield* readyServer({
        handler: handler({
          bye: () =>
            Effect.uninterruptible(
              Effect.andThen(Effect.yieldNow, Effect.as(Effect.suspend(() => bench.session.close("closed")), {}))
            )
        })
      })
      bench.ask(1, "bye")
      yield* Effect.yieldNow
      assert.strictEqual(yield* bench.session.closed, "closed")
    }))

  it.effect("closing does not wait for ever for a handler that will not end", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: handler({ stuck: () => Effect.uninterruptible(Effect.never) }) })
      bench.ask(1, "stuck")
      const closing = yield* Effect.forkChild(bench.session.close("shutdown"))
      yield* TestClock.adjust("9 seconds")
      assert.strictEqual(closing.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
    }).pipe(Effect.provideService(References.MinimumLogLevel, "None")))

  it.effect("the scope closes the session with the reason shutdown", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const bench = yield* Scope.provide(readyServer(), scope)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(yield* bench.session.closed, "shutdown")
    }))

  it.effect("[SHT-01] draining answers what runs, refuses what comes, and interrupts at the deadline", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({
        handler: handler({ quick: () => Effect.as(Effect.sleep("5 seconds"), { done: true }), slow: never })
      })
      const quick = bench.ask(1, "quick")
      const slow = bench.ask(2, "slow")
      const draining = yield* Effect.forkChild(bench.session.drain("10 seconds"))
      yield* Effect.yieldNow
      const refused = rejection(bench.accept(request(3, "quick"), new Stream()))
      assert.deepStrictEqual([refused?.httpStatus, refused?.error.message], [503, "The server is shutting down"])
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(quick.only, success(1, { done: true }))
      assert.strictEqual(draining.pollUnsafe(), undefined)
      yield* TestClock.adjust("5 seconds")
      yield* Fiber.join(draining)
      assert.deepStrictEqual([slow.answers, slow.ends], [[], 1])
    }))

  it.effect("the connection's end is the session's end", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* readyServer({ link: wire, handler: handler({ slow: never }) })
      const stream = bench.ask(1, "slow")
      wire.cut()
      assert.strictEqual(yield* bench.session.closed, "disconnected")
      assert.strictEqual(stream.ends, 1)
    }))

  it.effect("[CON-04] a defect of the session's own ends that session and no other", () =>
    Effect.gen(function*() {
      const one = yield* readyServer()
      const two = yield* readyServer()
      const broken = {
        ...new Stream(),
        answer: () => {
          throw new Error("broken pipe")
        }
      }
      const exit = one.accept(request(1, "ping"), { ...broken, end: () => {}, push: () => Effect.void })
      assert.strictEqual(rejection(exit)?.error.code, -32603)
      assert.strictEqual(yield* one.session.closed, "failed")
      assert.deepStrictEqual(two.ask(2, "ping").only, success(2))
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("[HTTP-24] what answers nothing goes on the newest attached stream, and streams end with the session", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer()
      const failure = yield* Effect.flip(bench.session.peer.notifyRaw("notifications/tools/list_changed", {}))
      assert.strictEqual(failure._tag, "TransportClosed")
      const first = new Wire()
      const second = new Wire()
      let ended = 0
      const scope = yield* Scope.make()
      const closable = { ...first, close: Effect.sync(() => void ended++) }
      yield* bench.session.attach(closable)
      yield* Scope.provide(bench.session.attach(second), scope)
      assert.isTrue(bench.session.busy())
      yield* bench.session.peer.notifyRaw("notifications/tools/list_changed", {})
      yield* Scope.close(scope, Exit.void)
      yield* bench.session.peer.notifyRaw("notifications/prompts/list_changed", {})
      assert.deepStrictEqual([first.methods, second.methods], [
        ["notifications/prompts/list_changed"],
        ["notifications/tools/list_changed"]
      ])
      yield* bench.session.close("terminated")
      assert.strictEqual(ended, 1)
      const late = yield* Effect.flip(bench.session.attach(second))
      assert.strictEqual(late.httpStatus, 404)
    }))

  it.effect("[HTTP-24] a stream that says itself when it has ended outlives the scope, and is let go when it says so", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer()
      const wire = new Wire()
      let holder: LinkHolder | undefined
      const held: Link = { ...wire, heldBy: (by) => void (holder = by) }
      yield* Effect.scoped(bench.session.attach(held))
      assert.strictEqual(bench.session.load().streams, 1)
      yield* bench.session.peer.notifyRaw("notifications/tools/list_changed", {})
      assert.deepStrictEqual(wire.methods, ["notifications/tools/list_changed"])
      holder?.release(held)
      holder?.release(held)
      assert.deepStrictEqual(bench.session.load(), nothing)
      yield* bench.session.close("terminated")
      yield* Effect.flip(Effect.scoped(bench.session.attach(held)))
      assert.strictEqual(bench.session.load().streams, 0)
    }))
})

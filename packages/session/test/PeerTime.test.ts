/** Requests that take time: deadlines, progress and signs of life. */
import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import type { PeerFailure } from "@mcpfx/session/Peer"
import { Deferred, Effect, Exit, Fiber, Logger } from "effect"
import { TestClock } from "effect/testing"
import { type Bench, client, established, modern, nothing, readyServer, Wire } from "./fixtures.ts"

const answer = (bench: Bench, id: JsonRpc.RequestId, result: JsonRpc.JsonObject = {}) =>
  bench.accept({ jsonrpc: "2.0", id, result })
const progress = (bench: Bench, progressToken: unknown, progress: number, more: JsonRpc.JsonObject = {}) =>
  bench.tell("notifications/progress", { progressToken, progress, ...more })
const start = <A>(effect: Effect.Effect<A, PeerFailure>) => Effect.forkChild(effect, { startImmediately: true })
const tagOf = <A>(fiber: Fiber.Fiber<A, PeerFailure>) => Effect.map(Fiber.join(fiber).pipe(Effect.flip), (e) => e._tag)

describe("deadlines", () => {
  it.effect("[LIF-14] a request fails after 60 seconds and the peer is told", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.request(Methods.ToolsCall, { name: "slow" }))
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 millis")
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(error, { _tag: "RequestTimeout", method: "tools/call", millis: 60_000 })
      assert.deepStrictEqual(wire.sent[1], {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 1, reason: "timeout" }
      })
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[LIF-14] a request that is sent as soon as the one before is answered has its own 60 seconds", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const both = Effect.flatMap(
        bench.session.peer.requestRaw("first", {}),
        () => bench.session.peer.requestRaw("second", {})
      )
      const fiber = yield* start(both)
      yield* TestClock.adjust("40 seconds")
      answer(bench, 1)
      yield* TestClock.adjust("59999 millis")
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), { method: "second", millis: 60_000 })
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[LIF-14] [field PRG-01] progress moves the deadline, up to the cap", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const options = { timeout: "300 millis", maxTimeout: "1 second", onProgress: () => Effect.void } as const
      const first = yield* start(bench.session.peer.requestRaw("a", {}, options))
      for (let i = 1; i <= 7; i++) {
        yield* TestClock.adjust("100 millis")
        progress(bench, 1, i)
      }
      answer(bench, 1, { done: true })
      assert.deepStrictEqual(yield* Fiber.join(first), { done: true })
      const second = yield* start(bench.session.peer.requestRaw("a", {}, options))
      for (let i = 1; i <= 9; i++) {
        yield* TestClock.adjust("100 millis")
        progress(bench, 2, i)
        assert.strictEqual(second.pollUnsafe(), undefined)
      }
      yield* TestClock.adjust("100 millis")
      const error = yield* Effect.flip(Fiber.join(second))
      assert.deepInclude(error, { _tag: "RequestTimeout", millis: 1000 })
    }))

  it.effect("[LIF-14] [field PRG-01] without progress the deadline is the plain one; the default cap is 10 minutes", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const { peer } = bench.session
      const still = yield* start(peer.requestRaw("still", {}, { timeout: "300 millis", onProgress: () => Effect.void }))
      yield* TestClock.adjust("300 millis")
      assert.strictEqual(yield* tagOf(still), "RequestTimeout")
      const long = yield* start(peer.requestRaw("long", {}, { onProgress: () => Effect.void }))
      const patient = yield* start(peer.requestRaw("patient", {}, { timeout: "1 hour" }))
      for (let i = 1; i <= 12; i++) {
        yield* TestClock.adjust("50 seconds")
        if (i < 12) assert.strictEqual(long.pollUnsafe(), undefined)
        progress(bench, 2, i)
      }
      assert.deepInclude(yield* Effect.flip(Fiber.join(long)), { millis: 600_000 })
      assert.strictEqual(patient.pollUnsafe(), undefined)
      yield* TestClock.adjust("50 minutes")
      assert.strictEqual(yield* tagOf(patient), "RequestTimeout")
    }))

  it.effect("an earlier deadline that comes later is kept, with one timer for all", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const { peer } = bench.session
      const slow = yield* start(peer.requestRaw("slow", {}, { timeout: "50 seconds" }))
      const quick = yield* start(peer.requestRaw("quick", {}, { timeout: "5 seconds" }))
      const third = yield* start(peer.requestRaw("third", {}, { timeout: "20 seconds" }))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* tagOf(quick), "RequestTimeout")
      assert.deepStrictEqual([slow.pollUnsafe(), third.pollUnsafe()], [undefined, undefined])
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* tagOf(third), "RequestTimeout")
      assert.isTrue(bench.session.load().timer)
      answer(bench, 1)
      yield* Fiber.join(slow)
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[PRG-08] late answers after a thousand timeouts are ignored, and nothing is left", () =>
    Effect.gen(function*() {
      const logs: Array<unknown> = []
      const logger = Logger.make((options) => void logs.push(options.logLevel))
      const wire = new Wire()
      const bench = yield* client(wire).pipe(Effect.provide(Logger.layer([logger])))
      const fibers: Array<Fiber.Fiber<JsonRpc.JsonObject, PeerFailure>> = []
      for (let i = 0; i < 1000; i++) {
        fibers.push(yield* start(bench.session.peer.requestRaw("a", {}, { timeout: "5 millis" })))
      }
      yield* TestClock.adjust("5 millis")
      const exits = yield* Effect.forEach(fibers, Fiber.await)
      yield* TestClock.adjust("45 millis")
      for (let id = 1; id <= 1000; id++) answer(bench, id)
      assert.isTrue(exits.every(Exit.isFailure))
      assert.deepStrictEqual([bench.session.load(), logs], [nothing, []])
      assert.strictEqual(wire.methods.filter((m) => m === "notifications/cancelled").length, 1000)
    }))

  it.effect("a session that waits for nothing has no timer, and none after its end", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      for (let i = 1; i <= 3; i++) {
        const fiber = yield* start(bench.session.peer.requestRaw("a", {}))
        assert.isTrue(bench.session.load().timer)
        answer(bench, i)
        yield* Fiber.join(fiber)
        assert.isFalse(bench.session.load().timer)
      }
    }))
})

describe("progress", () => {
  it.effect("[PRG-04] [field PRG-05] is handed over raw and in order, and only for live tokens", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const seen: Array<unknown> = []
      const fiber = yield* start(
        bench.session.peer.requestRaw("a", {}, { onProgress: (p) => Effect.sync(() => void seen.push(p)) })
      )
      progress(bench, 1, 0, { total: 0 })
      progress(bench, 1, 5)
      progress(bench, 1, 3)
      progress(bench, "1", 1.5, { total: 1, message: "half" })
      progress(bench, "never", 6)
      progress(bench, 2, 6)
      progress(bench, null, 6)
      bench.tell("notifications/progress", { progressToken: 1, progress: "much" })
      bench.tell("notifications/progress")
      answer(bench, 1, {})
      progress(bench, 1, 7)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(seen, [
        { progressToken: 1, progress: 0, total: 0 },
        { progressToken: 1, progress: 5 },
        { progressToken: 1, progress: 3 },
        { progressToken: "1", progress: 1.5, total: 1, message: "half" }
      ])
    }))

  it.effect("a slow reader gets all in order before the answer, one at a time", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const seen: Array<number> = []
      let running = 0
      const fiber = yield* start(bench.session.peer.requestRaw("a", {}, {
        onProgress: (p) =>
          Effect.gen(function*() {
            running += 1
            yield* Effect.sleep("10 millis")
            seen.push(p.progress, running)
            running -= 1
          })
      }))
      for (let i = 1; i <= 3; i++) progress(bench, 1, i)
      answer(bench, 1, { done: true })
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual([seen, fiber.pollUnsafe()], [[1, 1], undefined])
      yield* TestClock.adjust("20 millis")
      assert.deepStrictEqual(yield* Fiber.join(fiber), { done: true })
      assert.deepStrictEqual(seen, [1, 1, 2, 1, 3, 1])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("what waits for a slow reader is bounded: the oldest goes", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire, { limits: { progressBacklog: 2 } })
      const seen: Array<number> = []
      const go = yield* Deferred.make<void>()
      yield* start(bench.session.peer.requestRaw("a", {}, {
        onProgress: (p) => Effect.andThen(Deferred.await(go), Effect.sync(() => void seen.push(p.progress)))
      }))
      for (let i = 1; i <= 6; i++) progress(bench, 1, i)
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(seen, [1, 5, 6])
    }))

  it.effect("a reader that breaks breaks nothing else; an interrupted request stops its reader", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const { peer } = bench.session
      const broken = yield* start(peer.requestRaw("a", {}, { onProgress: () => Effect.die("broken") }))
      progress(bench, 1, 1)
      progress(bench, 1, 2)
      answer(bench, 1, { done: true })
      assert.deepStrictEqual(yield* Fiber.join(broken), { done: true })
      const stuck = yield* start(peer.requestRaw("b", {}, { onProgress: () => Effect.never }))
      progress(bench, 2, 1)
      answer(bench, 2)
      assert.strictEqual(stuck.pollUnsafe(), undefined)
      yield* Fiber.interrupt(stuck)
      assert.deepStrictEqual(bench.session.load(), nothing)
    }).pipe(Effect.provide(Logger.layer([]))))
})

describe("keeping alive", () => {
  it.effect("[PNG-02] pings at the rate asked for, and ends the session when no answer comes", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire, { pingEvery: "30 seconds" })
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(wire.sent, [{ jsonrpc: "2.0", id: 1, method: "ping" }])
      answer(bench, 1)
      yield* TestClock.adjust("30 seconds")
      // A refusal is a sign of life too.
      bench.accept({ jsonrpc: "2.0", id: 2, error: { code: -32601, message: "no" } })
      const waiting = yield* start(bench.session.peer.requestRaw("slow", {}, { timeout: "1 hour" }))
      yield* TestClock.adjust("30 seconds")
      assert.deepStrictEqual(wire.methods, ["ping", "ping", "slow", "ping"])
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* bench.session.closed, "disconnected")
      assert.strictEqual(yield* tagOf(waiting), "TransportClosed")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(wire.methods.filter((method) => method === "ping").length, 3)
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[PNG-03] revisions without pings, and sessions without a way to send, have none", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      yield* client(wire, { pingEvery: "1 second", established: established(modern) })
      const server = yield* readyServer({ pingEvery: "1 second" })
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual([wire.sent, server.session.load()], [[], nothing])
    }))
})

import { assert, describe, it } from "@effect/vitest"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { PeerFailure } from "@mcpfx/session/Peer"
import { HttpFailure, MessageTooLarge } from "@mcpfx/transport/TransportError"
import { Deferred, Effect, Exit, Fiber, Result, Scope, Tracer } from "effect"
import { TestClock } from "effect/testing"
import {
  at,
  type Bench,
  client,
  established,
  handler,
  legacy,
  modern,
  nothing,
  readyServer,
  Stream,
  Wire
} from "./fixtures.ts"

const answer = (bench: Bench, id: JsonRpc.RequestId, result: JsonRpc.JsonObject = {}) =>
  bench.accept({ jsonrpc: "2.0", id, result })
const progress = (bench: Bench, progressToken: unknown, progress: number, more: JsonRpc.JsonObject = {}) =>
  bench.tell("notifications/progress", { progressToken, progress, ...more })
const start = <A>(effect: Effect.Effect<A, PeerFailure>) => Effect.forkChild(effect, { startImmediately: true })
const tagOf = <A>(fiber: Fiber.Fiber<A, PeerFailure>) => Effect.map(Fiber.join(fiber).pipe(Effect.flip), (e) => e._tag)

describe("requests", () => {
  it.effect("[RPC-03] [field RPC-18] ids count up from 1; what is empty is left out", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const { peer } = bench.session
      const one = yield* start(peer.request(Methods.ToolsList, {}))
      const two = yield* start(peer.request(Methods.ToolsCall, { name: "add", arguments: { a: 1 } }))
      assert.deepStrictEqual(wire.sent, [
        { jsonrpc: "2.0", id: 1, method: "tools/list" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "add", arguments: { a: 1 } } }
      ])
      answer(bench, 2, { content: [], isError: true })
      answer(bench, 1, { tools: [], nextCursor: "x", later: 1 })
      const list = yield* Fiber.join(one)
      const called = yield* Fiber.join(two)
      assert.deepStrictEqual([list.nextCursor, at(called, "isError")], ["x", true])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[field MEM-05] a request whose onSent throws is not sent, and leaves nothing behind", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const thrown = new Error("no")
      const exit = yield* Effect.exit(bench.session.peer.requestRaw("a", {}, {
        onSent: () => {
          throw thrown
        }
      }))
      assert.deepStrictEqual(exit, Exit.die(thrown))
      assert.deepStrictEqual([wire.sent, bench.session.load()], [[], nothing])
    }))

  it.effect("[RPC-23] an answer that could not be read fails its request here, and is no refusal of the other side", () =>
    Effect.gen(function*() {
      const bench = yield* client(new Wire())
      const { peer } = bench.session
      const [spoilt, large] = [yield* start(peer.requestRaw("a", {})), yield* start(peer.requestRaw("b", {}))]
      const failure = { code: -32603, message: "" }
      bench.accept({ jsonrpc: "2.0", id: 1, error: failure }, undefined, {}, "result must be an object")
      bench.accept(
        { jsonrpc: "2.0", id: 2, error: failure },
        undefined,
        {},
        new MessageTooLarge({ bytes: 2, limit: 1 })
      )
      assert.deepInclude(yield* Effect.flip(Fiber.join(spoilt)), {
        _tag: "InvalidResponse",
        method: "a",
        detail: "result must be an object"
      })
      assert.deepInclude(yield* Effect.flip(Fiber.join(large)), { _tag: "MessageTooLarge", limit: 1 })
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[FRM-19] an answer that comes while the request is being sent is not missed", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      wire.gate = (message) => Effect.sync(() => void answer(bench, Number(message["id"]), { ok: message["id"] }))
      const results = yield* Effect.forEach([1, 2, 3], () => bench.session.peer.requestRaw("vendor/do", {}))
      assert.deepStrictEqual(results, [{ ok: 1 }, { ok: 2 }, { ok: 3 }])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[field RPC-02] an integer that comes back as its own spelling is understood, others are not", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.requestRaw("a", {}))
      for (const id of ["01", "0x1", " 1", "1.0", "1 "]) answer(bench, id, { wrong: id })
      assert.strictEqual(fiber.pollUnsafe(), undefined)
      answer(bench, "1", { right: true })
      assert.deepStrictEqual(yield* Fiber.join(fiber), { right: true })
    }))

  it.effect("[field RPC-18] ids can have another format", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire, { idFormat: (n) => `req-${n}` })
      const fiber = yield* start(bench.session.peer.requestRaw("a", {}))
      assert.strictEqual(wire.sent[0]?.["id"], "req-1")
      answer(bench, "req-1", { right: true })
      assert.deepStrictEqual(yield* Fiber.join(fiber), { right: true })
    }))

  it.effect("[RPC-23] an error of the peer keeps its code, message and data", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.request(Methods.ToolsList, {}))
      bench.accept({ jsonrpc: "2.0", id: 1, error: { code: -1, message: "User rejected", data: { why: "no" } } })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.deepInclude(error, { _tag: "PeerError", code: -1, message: "User rejected", data: { why: "no" } })
    }))

  it.effect("an answer of the wrong shape is a typed failure that names the method", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.request(Methods.ToolsList, {}))
      answer(bench, 1, { tools: 5 })
      const error = yield* Effect.flip(Fiber.join(fiber))
      assert.strictEqual(error._tag, "InvalidResponse")
      if (error._tag === "InvalidResponse") {
        assert.strictEqual(error.method, "tools/list")
        assert.include(error.detail, "tools")
      }
    }))

  it.effect("[LIF-09] a method the revision does not have, or not this way, is not sent", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const old = yield* client(wire, { established: established(Revisions.all[0]) })
      const error = yield* Effect.flip(old.session.peer.request(Methods.Discover, {}))
      assert.deepInclude(error, { _tag: "MethodUnsupported", method: "server/discover", revision: "2024-11-05" })
      const server = yield* readyServer({ link: wire })
      const reverse = yield* Effect.flip(server.session.peer.request(Methods.ToolsList, {}))
      assert.strictEqual(reverse._tag, "MethodUnsupported")
      yield* old.session.peer.notify(Methods.ToolsListChanged, {})
      yield* old.session.peer.notify(Methods.SubscriptionsAcknowledged, { notifications: {} })
      assert.deepStrictEqual(wire.sent, [])
    }))

  it.effect("before there is an agreement the newest revision that has the method opens the conversation", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire, { established: undefined })
      const { peer } = bench.session
      const probe = yield* start(peer.request(Methods.Discover, {}, { meta: { "a.b/c": 1 } }))
      const shake = yield* start(peer.requestRaw("initialize", { protocolVersion: legacy.version }))
      assert.deepStrictEqual(wire.sent, [
        { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: { "a.b/c": 1 } } },
        { jsonrpc: "2.0", id: 2, method: "initialize", params: { protocolVersion: legacy.version } }
      ])
      yield* Fiber.interrupt(probe)
      yield* Fiber.interrupt(shake)
      // Nothing can be taken back before it is known how.
      assert.strictEqual(wire.sent.length, 2)
      bench.session.establish(established(Revisions.all[1]))
      assert.strictEqual(bench.session.agreed()?.revision.version, "2025-03-26")
    }))
})

describe("_meta", () => {
  it.effect("[PRG-09] [field PRG-02] the caller's members stay, the token is there only when progress is asked for", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const { peer } = bench.session
      const meta = { "example.com/trace": "t", progressToken: "mine" }
      yield* start(peer.requestRaw("a", { x: 1, _meta: { "own.com/a": 1 } }, { meta, onProgress: () => Effect.void }))
      yield* start(peer.requestRaw("b", {}, { meta }))
      assert.deepStrictEqual(wire.sent.map((m) => m["params"]), [
        { x: 1, _meta: { "own.com/a": 1, "example.com/trace": "t", progressToken: 1 } },
        { _meta: { "example.com/trace": "t" } }
      ])
    }))

  it.effect("[META-07] on 2026-07-28 every request carries the envelope, which wins over the caller's members", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const envelope = { "io.modelcontextprotocol/protocolVersion": modern.version }
      const bench = yield* client(wire, { established: { ...established(modern), envelope } })
      yield* start(
        bench.session.peer.request(Methods.ToolsList, {}, {
          meta: { "io.modelcontextprotocol/protocolVersion": "1999-01-01", "a.b/c": 1 }
        })
      )
      yield* start(bench.session.peer.request(Methods.ToolsList, {}))
      const metas = wire.sent.map((message) => at(message, "params", "_meta"))
      assert.deepStrictEqual(metas, [{ ...envelope, "a.b/c": 1 }, envelope])
    }))

  it.effect("[META-15] the current span is written as W3C trace context", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const span = Tracer.externalSpan({
        traceId: "0af7651916cd43dd8448eb211c80319c",
        spanId: "b7ad6b7169203331",
        sampled: true
      })
      yield* start(Effect.withParentSpan(bench.session.peer.requestRaw("a", {}), span))
      // The span of whoever runs it counts, not that of whoever made it.
      const made = yield* Effect.withParentSpan(Effect.sync(() => bench.session.peer.requestRaw("made", {})), span)
      yield* start(made)
      const odd = Tracer.externalSpan({ traceId: "not hexadecimal", spanId: "x" })
      yield* start(Effect.withParentSpan(bench.session.peer.requestRaw("b", {}), odd))
      assert.deepStrictEqual(wire.sent.map((m) => m["params"]), [
        { _meta: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" } },
        undefined,
        undefined
      ])
    }))

  it.effect("headers of one request reach the link", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      yield* start(bench.session.peer.requestRaw("a", {}, { headers: { "mcp-param-x": "1" } }))
      assert.deepStrictEqual(wire.options, [{ headers: { "mcp-param-x": "1" } }])
    }))
})

describe("cancelling", () => {
  it.effect("[CAN-01] [CAN-05] an interrupted request is taken back, and its answer ignored", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.request(Methods.ToolsCall, { name: "slow" }))
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(wire.sent[1], {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 1, reason: "cancelled" }
      })
      answer(bench, 1)
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[PRG-12] a request interrupted before its start leaves nothing on the wire", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const fiber = yield* Effect.forkChild(bench.session.peer.requestRaw("a", {}))
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(wire.sent, [])
    }))

  it.effect("[LIF-10] [field LIF-11] initialize is never taken back", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.requestRaw("initialize", {}, { timeout: "100 millis" }))
      yield* TestClock.adjust("100 millis")
      assert.strictEqual(yield* tagOf(fiber), "RequestTimeout")
      assert.deepStrictEqual(wire.methods, ["initialize"])
    }))

  it.effect("[CAN-02] [HTTP-62] on 2026-07-28 an open exchange is closed instead; a connection is told", () =>
    Effect.gen(function*() {
      const http = new Wire()
      let closed = 0
      http.gate = () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => void closed++))
      const over = yield* client(http, { established: established(modern) })
      const fiber = yield* start(over.session.peer.requestRaw("a", {}))
      const late = yield* start(over.session.peer.requestRaw("b", {}, { timeout: "1 second" }))
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* tagOf(late), "RequestTimeout")
      assert.deepStrictEqual([closed, http.methods], [2, ["a", "b"]])
      assert.deepStrictEqual(over.session.load(), nothing)
      const stdio = new Wire()
      const pipe = yield* client(stdio, { established: established(modern) })
      yield* Fiber.interrupt(yield* start(pipe.session.peer.requestRaw("a", {})))
      assert.deepStrictEqual(stdio.methods, ["a", "notifications/cancelled"])
    }))

  it.effect("[HTTP-26] before 2026-07-28 the exchange is closed and the server told", () =>
    Effect.gen(function*() {
      const http = new Wire()
      http.gate = (message) => message["method"] === "a" ? Effect.never : Effect.void
      const bench = yield* client(http)
      yield* Fiber.interrupt(yield* start(bench.session.peer.requestRaw("a", {})))
      assert.deepStrictEqual(http.methods, ["a", "notifications/cancelled"])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("taking back does not wait for a link that is full, and gives up in time", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      wire.gate = (message) => message["method"] === "notifications/cancelled" ? Effect.never : Effect.void
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.requestRaw("a", {}))
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(bench.session.load(), { ...nothing, fibers: 1 })
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))
})

describe("the two directions", () => {
  it.effect("[CAN-01] a cancel of the other side names its own requests: those sent to it with the same id go on", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* readyServer({ link: wire, handler: handler({ slow: () => Effect.never }) })
      const asked = yield* start(bench.session.peer.requestRaw("roots/list", {}))
      const id = wire.sent[0]?.["id"]
      assert.strictEqual(id, 1)
      const served = bench.ask(1, "slow")
      bench.tell("notifications/cancelled", { requestId: 1 })
      assert.strictEqual(served.ends, 1)
      bench.tell("notifications/cancelled", { requestId: 1 })
      assert.isUndefined(asked.pollUnsafe())
      answer(bench, 1, { roots: [] })
      assert.deepStrictEqual(yield* Fiber.join(asked), { roots: [] })
    }))
})

describe("faults", () => {
  it.effect("[MEM-05] a thousand sends that fail leave no entry, no timer, no fiber", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      wire.gate = (message) =>
        Number(message["id"]) % 2 === 0
          ? Effect.fail(new HttpFailure({ status: 500, detail: "no" }))
          : Effect.andThen(Effect.yieldNow, new HttpFailure({ status: 502, detail: "no" }))
      const bench = yield* client(wire)
      const results = yield* Effect.forEach(
        Array.from({ length: 1000 }),
        () => Effect.flip(bench.session.peer.requestRaw("a", {})),
        { concurrency: 50 }
      )
      assert.isTrue(results.every((error) => error._tag === "HttpFailure"))
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("a send that fails after the answer came does not matter", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const go = yield* Deferred.make<void>()
      wire.gate = () => Effect.andThen(Deferred.await(go), new HttpFailure({ detail: "cut" }))
      const bench = yield* client(wire)
      const fiber = yield* start(bench.session.peer.requestRaw("a", {}))
      answer(bench, 1, { ok: 1 })
      assert.deepStrictEqual(yield* Fiber.join(fiber), { ok: 1 })
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[SHT-06] when the link ends every request fails at once with what ended it", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      wire.gate = (message) => message["method"] === "hangs" ? Effect.never : Effect.void
      const bench = yield* client(wire)
      const fibers = yield* Effect.forEach(["a", "b", "c", "d", "hangs"], (m) =>
        start(bench.session.peer.requestRaw(m, {})))
      wire.cut()
      assert.strictEqual(yield* bench.session.closed, "disconnected")
      for (const fiber of fibers) {
        assert.strictEqual(yield* tagOf(fiber), "TransportClosed")
      }
      assert.deepStrictEqual(bench.session.load(), nothing)
      const later = yield* Effect.flip(bench.session.peer.requestRaw("a", {}))
      const told = yield* Effect.flip(bench.session.peer.notify(Methods.RootsListChanged, {}))
      assert.deepStrictEqual([later._tag, told._tag], ["TransportClosed", "TransportClosed"])
      assert.strictEqual(wire.sent.length, 5)
    }))

  it.effect("[SHT-06] closing the session fails every request with the reason, and tells nobody", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const scope = yield* Scope.make()
      const bench = yield* Scope.provide(client(wire), scope)
      const fibers = yield* Effect.forEach([1, 2, 3], () => start(bench.session.peer.requestRaw("a", {})))
      yield* Scope.close(scope, Exit.void)
      for (const fiber of fibers) {
        assert.deepInclude(yield* Effect.flip(Fiber.join(fiber)), { _tag: "SessionClosed", reason: "shutdown" })
      }
      assert.deepStrictEqual([bench.session.load(), wire.sent.length], [nothing, 3])
    }))

  it.effect("[MEM-03] a fiber that is interrupted in many calls leaves nothing behind", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire)
      for (let i = 0; i < 200; i++) {
        const fiber = yield* start(bench.session.peer.requestRaw("a", {}, { onProgress: () => Effect.never }))
        progress(bench, i + 1, 1)
        yield* Fiber.interrupt(fiber)
      }
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))
})

describe("what the server sends to a client", () => {
  it.effect("[PNG-01] [field RPC-09] pings and requests are answered, unknown methods by the handler, twice used ids refused", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire, { handler: handler({ slow: () => Effect.never }) })
      assert.deepStrictEqual(bench.ask(1, "ping").only, { jsonrpc: "2.0", id: 1, result: {} })
      assert.deepStrictEqual(bench.ask(2, "roots/list").only, {
        jsonrpc: "2.0",
        id: 2,
        result: { method: "roots/list", revision: legacy.version }
      })
      bench.ask(3, "slow")
      assert.strictEqual(at(bench.ask(3, "slow").only, "error", "code"), -32600)
    }))

  it.effect("[PNG-01] [field LIF-05] a ping is answered before anything is agreed", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* client(wire, { established: undefined })
      yield* start(bench.session.peer.requestRaw("initialize", { protocolVersion: legacy.version }))
      assert.deepStrictEqual(bench.ask(0, "ping").only, { jsonrpc: "2.0", id: 0, result: {} })
    }))

  it.effect("[RPC-17] [RPC-18] [STD-11] a server of 2026-07-28 sends no requests: what comes is not answered", () =>
    Effect.gen(function*() {
      const bench = yield* client(new Wire(), { established: established(modern) })
      for (const method of ["ping", "roots/list", "sampling/createMessage"]) {
        const stream = bench.ask(1, method)
        assert.deepStrictEqual([stream.answers, stream.ends], [[], 1])
      }
    }))

  it.effect("[CAN-03] a server cancels what it asked", () =>
    Effect.gen(function*() {
      const bench = yield* client(new Wire(), { handler: handler({ slow: () => Effect.never }) })
      const stream = bench.ask(0, "slow")
      bench.tell("notifications/cancelled", { requestId: 0 })
      assert.deepStrictEqual([stream.answers, stream.ends, bench.session.load()], [[], 1, nothing])
    }))
})

describe("asking from inside a request", () => {
  const asks = handler({
    "tools/call": (_, context) =>
      Effect.gen(function*() {
        const roots = yield* context.asker?.request(Methods.RootsList, {}) ?? Effect.die("no asker")
        return { roots: roots.roots.length }
      }).pipe(Effect.catch((error) => Effect.succeed({ failed: error._tag })))
  })

  it.effect("goes on the stream of the request and comes back", () =>
    Effect.gen(function*() {
      const wire = new Wire()
      const bench = yield* readyServer({ link: wire, handler: asks })
      const stream = bench.ask(5, "tools/call")
      assert.deepStrictEqual([wire.sent, stream.pushed], [[], [{ jsonrpc: "2.0", id: 1, method: "roots/list" }]])
      answer(bench, 1, { roots: [{ uri: "file:///a" }] })
      assert.deepStrictEqual(stream.only, { jsonrpc: "2.0", id: 5, result: { roots: 1 } })
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("fails at once where the stream would drop it, and nothing waits", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: asks })
      const stream = new Stream()
      stream.maxBytes = 10
      bench.accept({ jsonrpc: "2.0", id: 5, method: "tools/call" }, stream)
      assert.deepStrictEqual(stream.pushed, [])
      assert.deepStrictEqual(stream.only, { jsonrpc: "2.0", id: 5, result: { failed: "MessageTooLarge" } })
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("waits 10 minutes for a human, then fails and tells", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: asks })
      const stream = bench.ask(5, "tools/call")
      yield* TestClock.adjust("9 minutes")
      assert.strictEqual(stream.closings, 0)
      assert.isTrue(bench.session.busy())
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(stream.only, { jsonrpc: "2.0", id: 5, result: { failed: "RequestTimeout" } })
      assert.deepStrictEqual(stream.pushed[1], {
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 1, reason: "timeout" }
      })
    }))

  it.effect("is cancelled together with the request that asks, on the same stream", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: asks })
      const stream = bench.ask(5, "tools/call")
      bench.tell("notifications/cancelled", { requestId: 5 })
      assert.deepStrictEqual(stream.pushed.map((message) => at(message, "method")), [
        "roots/list",
        "notifications/cancelled"
      ])
      assert.deepStrictEqual([stream.answers, stream.ends, bench.session.load()], [[], 1, nothing])
    }))

  it.effect("fails when the session ends", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const bench = yield* readyServer({
        handler: handler({
          "tools/call": (_, context) =>
            Effect.uninterruptible(
              Effect.map(
                Effect.result(context.asker?.request(Methods.RootsList, {}) ?? Effect.die("no asker")),
                (result) => {
                  seen.push(Result.isFailure(result) ? result.failure._tag : "answered")
                  return {}
                }
              )
            )
        })
      })
      bench.ask(5, "tools/call")
      yield* bench.session.close("terminated")
      assert.deepStrictEqual(seen, ["SessionClosed"])
    }))

  it.effect("where the stream takes only the answer it goes over another one, or there is no way to ask", () =>
    Effect.gen(function*() {
      const seen: Array<boolean> = []
      const look = handler({
        "tools/call": (_, context) => Effect.sync(() => ({ n: seen.push(context.asker !== undefined) }))
      })
      const bench = yield* readyServer({ handler: look })
      const oneShot = () => ({
        ...new Stream(),
        oneShot: true,
        answer: () => {},
        end: () => {},
        push: () => Effect.void
      })
      bench.accept({ jsonrpc: "2.0", id: 1, method: "tools/call" }, oneShot())
      yield* bench.session.attach(new Wire())
      bench.accept({ jsonrpc: "2.0", id: 2, method: "tools/call" }, oneShot())
      assert.deepStrictEqual(seen, [false, true])
    }))
})

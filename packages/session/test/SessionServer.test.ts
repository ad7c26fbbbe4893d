import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Revisions from "@mcpfx/schema/Revisions"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { noOutlet } from "@mcpfx/transport/Exchange"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Context, Deferred, Effect, Exit, Fiber, Logger, Option, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  at,
  type Bench,
  handler,
  initialize,
  legacy,
  nothing,
  readyServer,
  rejection,
  request,
  server,
  Stream,
  Wire
} from "./fixtures.ts"

const success = (id: JsonRpc.RequestId, result: unknown = {}) => ({ jsonrpc: "2.0", id, result })
const codeOf = (stream: Stream): unknown => {
  const only: unknown = stream.only
  return at(only, "error", "code") ?? stream.rejected?.error.code
}
const never = () => Effect.never

describe("handshake", () => {
  it.effect("[LIF-03] [field LIF-01] answers with the asked version if it is served, else with the newest stateful one", () =>
    Effect.gen(function*() {
      const answers: Array<unknown> = []
      for (const version of ["2025-03-26", "1999-01-01", "2099-01-01", "", "2026-07-28", "2024-11-05"]) {
        const bench = yield* server()
        const stream = bench.ask(1, "initialize", initialize(version))
        answers.push(stream.only)
      }
      const of = (revision: string) => success(1, { method: "initialize", revision })
      assert.deepStrictEqual(answers, [
        of("2025-03-26"),
        of("2025-11-25"),
        of("2025-11-25"),
        of("2025-11-25"),
        of("2025-11-25"),
        of("2024-11-05")
      ])
    }))

  it.effect("[field LIF-01] refuses a version that is no string with -32602", () =>
    Effect.gen(function*() {
      const bench = yield* server({ link: new Wire() })
      assert.strictEqual(codeOf(bench.ask(1, "initialize", initialize(5))), -32602)
      assert.strictEqual(bench.session.agreed(), undefined)
      assert.strictEqual(codeOf(bench.ask(2, "initialize")), -32602)
      assert.deepStrictEqual(
        bench.ask(3, "initialize", initialize()).only,
        success(3, {
          method: "initialize",
          revision: legacy.version
        })
      )
    }))

  it.effect("[LIF-13] a server without stateful revisions names the ones it has", () =>
    Effect.gen(function*() {
      const bench = yield* server({ revisions: [Revisions.newest] })
      const refused = bench.ask(1, "initialize", initialize())
      assert.deepStrictEqual(refused.rejected?.error.data, {
        supported: ["2026-07-28"],
        requested: "2025-11-25"
      })
    }))

  it.effect("[HTTP-35] [CON-05] the id is known to the initialize handler and given with the admission", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const bench = yield* server({
        handler: handler({
          initialize: (_, context) =>
            Effect.sync(() => {
              seen.push(context.sessionId)
              return {}
            })
        })
      })
      const admission = bench.accept(request(1, "initialize", initialize()), new Stream())
      assert.deepStrictEqual(admission, Exit.succeed({ sessionId: "s1" }))
      assert.deepStrictEqual(seen, ["s1"])
    }))

  it.effect("[LIF-06] is initialized by the notification, and says so", () =>
    Effect.gen(function*() {
      const bench = yield* server()
      assert.strictEqual(bench.session.agreed(), undefined)
      bench.ask(1, "initialize", initialize("2025-06-18", { sampling: {} }))
      assert.deepStrictEqual(bench.session.agreed(), {
        revision: Revisions.byVersion("2025-06-18") ?? legacy,
        clientInfo: { name: "tester", version: "1.0.0" },
        clientCapabilities: { sampling: {} },
        initialized: false
      })
      bench.tell("notifications/initialized")
      assert.strictEqual(bench.session.agreed()?.initialized, true)
    }))

  it.effect("[field LIF-06] refuses initialize on a session that has one, and goes on as it was", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer()
      const again = bench.ask(2, "initialize", { ...initialize(), clientInfo: { name: "other", version: "2" } })
      assert.strictEqual(codeOf(again), -32600)
      assert.strictEqual(bench.session.agreed()?.clientInfo.name, "tester")
      assert.deepStrictEqual(bench.ask(3, "tools/list").closings, 1)
    }))

  it.effect("[LIF-01] refuses other requests before initialize, and says so", () =>
    Effect.gen(function*() {
      let served = 0
      const bench = yield* server({
        handler: handler({ "tools/call": () => Effect.sync(() => ({ served: ++served })) })
      })
      const exit = bench.accept(request(1, "tools/call", { name: "x" }), new Stream())
      const rejected = rejection(exit)
      assert.deepStrictEqual(rejected?.error, { code: -32600, message: "tools/call came before initialize" })
      assert.strictEqual(rejected?.httpStatus, 400)
      assert.strictEqual(served, 0)
      bench.shake()
      assert.deepStrictEqual(bench.ask(2, "tools/call").only, success(2, { served: 1 }))
    }))

  it.effect("[field LIF-04] serves requests between the answer to initialize and initialized", () =>
    Effect.gen(function*() {
      const bench = yield* server()
      bench.ask(1, "initialize", initialize())
      assert.deepStrictEqual(
        bench.ask(2, "tools/list").only,
        success(2, {
          method: "tools/list",
          revision: legacy.version
        })
      )
    }))

  it.effect("[field LIF-04] [SHT-01] what is pipelined behind a slow initialize is served once that is answered", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const bench = yield* server({ handler: handler({ initialize: () => Effect.as(Deferred.await(go), {}) }) })
      const first = bench.ask(1, "initialize", initialize())
      bench.tell("notifications/initialized")
      const second = bench.ask(2, "tools/list")
      assert.deepStrictEqual([first.closings, second.closings], [0, 0])
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual([first.only, second.only], [
        success(1),
        success(2, { method: "tools/list", revision: legacy.version })
      ])
      assert.strictEqual(bench.session.agreed()?.initialized, true)
    }))

  it.effect("what is pipelined behind an initialize that is refused is refused too, and never served", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      let served = 0
      const bench = yield* server({
        link: new Wire(),
        handler: handler({
          initialize: () => Effect.andThen(Deferred.await(go), new McpError.InvalidRequest({ detail: "not you" })),
          "tools/list": () => Effect.sync(() => ({ served: ++served }))
        })
      })
      bench.ask(1, "initialize", initialize())
      const second = bench.ask(2, "tools/list")
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.strictEqual(codeOf(second), -32600)
      assert.strictEqual(served, 0)
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("a session that HTTP opened for a handshake that fails is over", () =>
    Effect.gen(function*() {
      const bench = yield* server({
        handler: handler({ initialize: () => Effect.fail(new McpError.InvalidRequest({ detail: "not you" })) })
      })
      const stream = new Stream()
      const admission = bench.accept(request(1, "initialize", initialize()), stream)
      assert.deepStrictEqual(admission, Exit.succeed({}))
      assert.strictEqual(codeOf(stream), -32600)
      assert.strictEqual(yield* bench.session.closed, "failed")
    }))

  it.effect("[LIF-10] [field LIF-11] a cancel of initialize is ignored", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const bench = yield* server({ handler: handler({ initialize: () => Effect.as(Deferred.await(go), {}) }) })
      const first = bench.ask(1, "initialize", initialize())
      bench.tell("notifications/cancelled", { requestId: 1 })
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(first.only, success(1))
    }))

  it.effect("[LIF-17] the client's capabilities are known in every request, and so is who it is", () =>
    Effect.gen(function*() {
      const bench = yield* server({
        handler: handler({
          "tools/call": () =>
            Effect.map(Effect.context<never>(), (context) => {
              const facts = Context.getUnsafe(context, RequestContext)
              return { capabilities: facts.clientCapabilities, name: facts.clientInfo?.name, round: facts.round }
            })
        })
      })
      bench.shake({ sampling: {}, roots: { listChanged: true } })
      assert.deepStrictEqual(
        bench.ask(7, "tools/call").only,
        success(7, {
          capabilities: { sampling: {}, roots: { listChanged: true } },
          name: "tester",
          round: 1
        })
      )
    }))
})

describe("ping", () => {
  it.effect("[PNG-01] [field LIF-05] is answered in every state, before initialize too, with the id as it came", () =>
    Effect.gen(function*() {
      const bench = yield* server({ handler: handler({ ping: never }) })
      const before = ["req-abc", "1", "", "01", -5, 0].map((id) => bench.ask(id, "ping").only)
      assert.deepStrictEqual(before, ["req-abc", "1", "", "01", -5, 0].map((id) => success(id)))
      bench.ask(1, "initialize", initialize())
      assert.deepStrictEqual(bench.ask(2, "ping").only, success(2))
      bench.tell("notifications/initialized")
      assert.deepStrictEqual(bench.ask(3, "ping").only, success(3))
    }))
})

describe("requests", () => {
  it.effect("[RPC-05] a handler that ends at once is answered on the caller's stack and enters no table", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer()
      for (const id of ["x", "7", 7]) {
        const stream = new Stream()
        assert.isTrue(Exit.isSuccess(bench.accept(request(id, "tools/list"), stream)))
        assert.strictEqual(stream.closings, 1)
        assert.propertyVal(stream.only, "id", id)
      }
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[CON-01] [field RPC-01] each stream gets its own answer, whatever the order", () =>
    Effect.gen(function*() {
      const gates = new Map<unknown, Deferred.Deferred<void>>()
      const bench = yield* readyServer({
        handler: handler({
          "tools/call": (message) => {
            const gate = Deferred.makeUnsafe<void>()
            gates.set(message.id, gate)
            return Effect.as(Deferred.await(gate), { tag: message.params?.["name"] })
          }
        })
      })
      const ids = [3, "3", 0, "", "03"]
      const streams = ids.map((id) => bench.ask(id, "tools/call", { name: `tag ${typeof id} ${id}` }))
      for (const id of [...ids].reverse()) {
        const gate = gates.get(id)
        if (gate !== undefined) yield* Deferred.succeed(gate, undefined)
      }
      yield* Effect.yieldNow
      assert.deepStrictEqual(
        streams.map((s) => s.only),
        ids.map((id) => success(id, { tag: `tag ${typeof id} ${id}` }))
      )
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("a request with the id of a running one is refused, and the running one goes on", () =>
    Effect.gen(function*() {
      const go = yield* Deferred.make<void>()
      const bench = yield* readyServer({
        handler: handler({ slow: () => Effect.as(Deferred.await(go), { done: true }) })
      })
      const first = bench.ask(4, "slow")
      const second = bench.accept(request(4, "tools/list"), new Stream())
      assert.deepStrictEqual(rejection(second)?.error.code, -32600)
      assert.deepStrictEqual(bench.ask("4", "tools/list").closings, 1)
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(first.only, success(4, { done: true }))
    }))

  it.effect("an id that was answered may come again: it is served", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer()
      bench.ask(1, "tools/list")
      assert.strictEqual(bench.ask(1, "prompts/list").answers.length, 1)
    }))

  it.effect("past the limit one request is refused with -32000 and status 503, and the others go on", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ limits: { requestsInFlight: 3 }, handler: handler({ slow: never }) })
      const running = [1, 2, 3].map((id) => bench.ask(id, "slow"))
      const refused = rejection(bench.accept(request(4, "slow"), new Stream()))
      assert.deepStrictEqual([refused?.error.code, refused?.httpStatus, refused?.headers], [-32000, 503, {
        "retry-after": "1"
      }])
      assert.deepStrictEqual(bench.ask(5, "ping").only, success(5))
      bench.tell("notifications/cancelled", { requestId: 1 })
      bench.ask(6, "slow")
      assert.deepStrictEqual(running.map((s) => s.closings), [1, 0, 0])
      assert.strictEqual(bench.session.load().serving, 3)
    }))

  it.effect("the default limit is 1,024 requests in flight", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: handler({ slow: never }) })
      for (let id = 1; id <= 1024; id++) bench.ask(id, "slow")
      assert.strictEqual(codeOf(bench.ask(1025, "slow")), -32000)
    }))

  it.effect("[field RPC-09] failures are written by the revision of the session", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({
        handler: handler({
          "resources/read": () => Effect.fail(new McpError.ResourceNotFound({ uri: "note:1" })),
          "vendor/do": (message) => Effect.fail(new McpError.MethodNotFound({ method: message.method }))
        })
      })
      assert.strictEqual(codeOf(bench.ask(1, "resources/read")), -32002)
      assert.deepStrictEqual(bench.ask(9, "vendor/do").only, {
        jsonrpc: "2.0",
        id: 9,
        error: { code: -32601, message: "Method not found: vendor/do" }
      })
    }))

  it.effect("[PRG-13] a defect is answered with -32603, scrubbed, and logged once; the session lives", () =>
    Effect.gen(function*() {
      const logs: Array<string> = []
      const logger = Logger.make((options) => {
        logs.push(`${options.logLevel} ${String(options.message)} ${String(options.cause)}`)
      })
      const bench = yield* readyServer({
        handler: handler({
          boom: () => Effect.die(new Error("password 123")),
          thrown: () => {
            throw new Error("password 456")
          },
          later: () => Effect.andThen(Effect.yieldNow, Effect.die("password 789"))
        })
      }).pipe(Effect.provide(Logger.layer([logger])))
      const streams = ["boom", "thrown", "later"].map((method, id) => bench.ask(id, method))
      yield* Effect.yieldNow
      for (const [id, stream] of streams.entries()) {
        assert.deepStrictEqual(stream.only, { jsonrpc: "2.0", id, error: { code: -32603, message: "Internal error" } })
      }
      assert.deepStrictEqual(logs.map((line) => [line.includes("Error"), /password \d+/.exec(line)?.[0]]), [
        [true, "password 123"],
        [true, "password 456"],
        [true, "password 789"]
      ])
      assert.deepStrictEqual(bench.ask(9, "ping").only, success(9))
    }))

  it.effect("an answer that cannot be written becomes -32603", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: handler({ big: () => Effect.succeed({ n: 10n }) }) })
      assert.strictEqual(codeOf(bench.ask(1, "big")), -32603)
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("a handler that interrupts itself is answered with -32603: nobody here asked for it", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({ handler: handler({ gone: () => Effect.interrupt }) })
      assert.strictEqual(codeOf(bench.ask(1, "gone")), -32603)
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("results that are text already stay text", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({
        handler: handler({ "tools/list": () => Effect.succeed(new JsonRpc.EncodedResult("{\"tools\":[]}")) })
      })
      assert.deepStrictEqual(bench.ask(1, "tools/list").only, success(1, { tools: [] }))
    }))

  it.effect("each request has its own scope, closed before the answer goes out", () =>
    Effect.gen(function*() {
      const order: Array<string> = []
      const go = yield* Deferred.make<void>()
      const scoped = (name: string, wait: Effect.Effect<void>) => () =>
        Effect.gen(function*() {
          const scope = Context.getUnsafe(yield* Effect.context<never>(), Scope.Scope)
          yield* Scope.addFinalizer(scope, Effect.andThen(wait, Effect.sync(() => order.push(`closed ${name}`))))
          return { name }
        })
      const bench = yield* readyServer({
        handler: handler({ now: scoped("now", Effect.void), later: scoped("later", Deferred.await(go)) })
      })
      const watch = (name: string) => {
        const stream = new Stream()
        return { ...stream, answer: () => void order.push(`answered ${name}`), end: () => {}, push: stream.push }
      }
      bench.accept(request(1, "now"), watch("now"))
      bench.accept(request(2, "later"), watch("later"))
      assert.deepStrictEqual(order, ["closed now", "answered now"])
      assert.strictEqual(bench.session.load().serving, 1)
      yield* Deferred.succeed(go, undefined)
      yield* Effect.yieldNow
      assert.deepStrictEqual(order, ["closed now", "answered now", "closed later", "answered later"])
      assert.deepStrictEqual(bench.session.load(), nothing)
    }))

  it.effect("[CON-07] a hundred requests at once each see their own caller, in forked fibers too", () =>
    Effect.gen(function*() {
      const bench = yield* readyServer({
        handler: handler({
          who: (message) =>
            Effect.gen(function*() {
              yield* Effect.sleep(Number(message.params?.["wait"]))
              const fiber = yield* Effect.forkChild(CurrentPrincipal)
              const inFiber = yield* Fiber.join(fiber)
              const here = yield* CurrentPrincipal
              return {
                here: Option.getOrThrow(here).subject,
                inFiber: Option.getOrThrow(inFiber).subject
              }
            })
        })
      })
      const principal = (subject: string) => Option.some({ issuer: "i", subject, scopes: [], claims: {} })
      const streams = Array.from(
        { length: 100 },
        (_, i) => bench.ask(i, "who", { wait: (i * 37) % 50 }, { principal: principal(`u${i}`) })
      )
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(
        streams.map((s) => s.only),
        streams.map((_, i) => success(i, { here: `u${i}`, inFiber: `u${i}` }))
      )
      // A caller that is not known is not somebody who was.
      const anonymous = yield* readyServer({
        services: Context.make(CurrentPrincipal, principal("outer")),
        handler: handler({ who: () => Effect.map(CurrentPrincipal, (p) => ({ known: Option.isSome(p) })) })
      })
      assert.deepStrictEqual(anonymous.ask(1, "who").only, success(1, { known: false }))
    }))
})

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
})

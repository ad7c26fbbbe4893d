import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Revisions from "@mcpfx/schema/Revisions"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Context, Deferred, Effect, Exit, Fiber, Logger, Option, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  at,
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

/** A server that serves HTTP+SSE beside Streamable HTTP, as old clients see it. */
import { assert, describe, it } from "@effect/vitest"
import { JsonRpc, Methods, Tool } from "@mcpfx/schema"
import * as McpServer from "@mcpfx/server/McpServer"
import { Progress, RequestContext } from "@mcpfx/session"
import { TestHttp, TestPeer } from "@mcpfx/testing"
import { HttpSseClient, Principal } from "@mcpfx/transport"
import { Context, Deferred, Duration, Effect, Exit, Fiber, Layer, Option, Schema, Scope } from "effect"
import { HttpClient, HttpEffect, HttpRouter, HttpServerRequest } from "effect/http"
import { TestClock } from "effect/testing"

const Echo = Tool.make("echo", { input: { text: Schema.String } })
const Wait = Tool.make("wait")
const options = { name: "old-fashioned", version: "1.0.0", sse: true } as const

const state = () => ({ waiting: 0, stopped: 0 })

const registrationsOf = (seen: ReturnType<typeof state>) =>
  Layer.mergeAll(
    McpServer.tool(Echo, ({ text }) => Effect.as(Progress.report({ progress: 1 }), text)),
    McpServer.tool(Wait, () =>
      Effect.suspend(() => {
        seen.waiting++
        return Effect.as(Effect.sleep("5 seconds"), "waited")
      }).pipe(Effect.onInterrupt(() => Effect.sync(() => seen.stopped++))))
  )

const peerOf = Effect.fnUntraced(function*(http: Pick<TestHttp.TestHttp, "client">) {
  const transport = yield* Effect.provideService(
    HttpSseClient.make({ url: "http://localhost/sse" }),
    HttpClient.HttpClient,
    http.client
  )
  return yield* TestPeer.connect(transport)
})

const params = (version: string) => ({
  protocolVersion: version,
  capabilities: {},
  clientInfo: { name: "old", version: "0" }
})

const textOf = (answer: JsonRpc.Response): unknown =>
  JsonRpc.isFailure(answer) ? answer.error : answer.result["content"]

const health = Effect.map(
  McpServer.Health,
  ({ endpoints }) => endpoints.filter(({ name }) => name === options.name).at(-1)
)

const turns = Effect.promise(() => new Promise<void>((resolve) => setTimeout(resolve, 5)))

describe("a session of HTTP+SSE", () => {
  it.effect("[SSE-01, SSE-02, SSE-05] is had beside Streamable HTTP, with the same tools", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(registrationsOf(state()), options)
      const peer = yield* peerOf(http)
      const agreed = yield* peer.request(0, "initialize", params("2024-11-05"))
      assert.isTrue(!JsonRpc.isFailure(agreed) && agreed.result["protocolVersion"] === "2024-11-05")
      yield* peer.notify("notifications/initialized")
      const answer = yield* peer.request(1, "tools/call", {
        name: "echo",
        arguments: { text: "hi" },
        _meta: { progressToken: "t" }
      })
      assert.deepStrictEqual(textOf(answer), [{ type: "text", text: "hi" }])
      const progress = yield* peer.take
      assert.deepInclude(progress, { method: "notifications/progress" })
      const modern = yield* http.post(JsonRpc.request(1, "tools/list", TestPeer.modern()))
      assert.strictEqual(modern.status, 200)
    }))

  it.effect("[LIF-03] is agreed on at the version the client asks for, or the newest with sessions", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(registrationsOf(state()), options)
      const versionFor = (asked: string) =>
        Effect.scoped(Effect.gen(function*() {
          const peer = yield* peerOf(http)
          const answer = yield* peer.request(0, "initialize", params(asked))
          return JsonRpc.isFailure(answer) ? answer.error : answer.result["protocolVersion"]
        }))
      for (const version of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
        assert.strictEqual(yield* versionFor(version), version)
      }
      assert.strictEqual(yield* versionFor("2026-07-28"), "2025-11-25")
      assert.strictEqual(yield* versionFor("1999-01-01"), "2025-11-25")
    }))

  it.effect("begins with initialize, and once", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(registrationsOf(state()), options)
      const peer = yield* peerOf(http)
      assert.isTrue(JsonRpc.isFailure(yield* peer.request(1, "tools/list")))
      assert.isFalse(JsonRpc.isFailure(yield* peer.request(2, "ping")))
      yield* peer.initialize("2024-11-05")
      assert.isTrue(JsonRpc.isFailure(yield* peer.request(3, "initialize", params("2024-11-05"))))
      const probe = yield* peer.request(4, "server/discover")
      assert.isTrue(JsonRpc.isFailure(probe) && probe.error.code === -32601)
    }))

  it.effect("ends with its stream, and what runs in it is interrupted", () =>
    Effect.gen(function*() {
      const seen = state()
      const http = yield* TestHttp.make(registrationsOf(seen), options)
      const scope = yield* Scope.make()
      const peer = yield* Scope.provide(peerOf(http), scope)
      yield* peer.initialize("2024-11-05")
      yield* peer.start(JsonRpc.request(1, "tools/call", { name: "wait" }))
      yield* turns
      assert.deepStrictEqual(seen, { waiting: 1, stopped: 0 })
      assert.deepInclude(yield* health, { sessions: 1, inFlight: 1 })
      yield* Scope.close(scope, Exit.void)
      yield* turns
      assert.deepStrictEqual(seen, { waiting: 1, stopped: 1 })
      assert.deepInclude(yield* health, { sessions: 0, inFlight: 0 })
    }))

  it.effect("that the server gives up ends its stream: the client is not left waiting", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(registrationsOf(state()), {
        ...options,
        heartbeat: "1 minute",
        limits: { requestTimeout: Duration.seconds(10) }
      })
      const peer = yield* peerOf(http)
      yield* peer.initialize("2025-11-25")
      yield* turns
      // The peer is a raw one: it does not answer the ping.
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* peer.link.closed)._tag, "TransportClosed")
    }))

  it.effect("is asked in on the stream, and answers by POST", () =>
    Effect.gen(function*() {
      const asking = McpServer.tool(Tool.make("ask"), () =>
        Effect.gen(function*() {
          const { asker } = yield* RequestContext.RequestContext
          if (asker === undefined) return "nobody to ask"
          const { roots } = yield* Effect.orDie(asker.request(Methods.RootsList, {}))
          return roots.map(({ uri }) => uri).join()
        }))
      const http = yield* TestHttp.make(asking, options)
      const peer = yield* peerOf(http)
      yield* peer.request(0, "initialize", { ...params("2024-11-05"), capabilities: { roots: {} } })
      yield* peer.notify("notifications/initialized")
      const call = yield* Effect.forkChild(peer.request(1, "tools/call", { name: "ask" }))
      const asked = yield* peer.take
      if (!("method" in asked) || !JsonRpc.isRequest(asked)) return assert.fail("not asked")
      assert.strictEqual(asked.method, "roots/list")
      yield* peer.send({ jsonrpc: "2.0", id: asked.id, result: { roots: [{ uri: "file:///a" }] } })
      assert.deepStrictEqual(textOf(yield* Fiber.join(call)), [{ type: "text", text: "file:///a" }])
    }))

  it.effect("and a hundred others come and go, and leave nothing behind", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(registrationsOf(state()), options)
      yield* Effect.forEach(Array.from({ length: 100 }), () =>
        Effect.scoped(Effect.gen(function*() {
          const peer = yield* peerOf(http)
          yield* peer.request(0, "initialize", params("2024-11-05"))
        })), { concurrency: 25, discard: true })
      yield* turns
      assert.deepInclude(yield* health, { sessions: 0, inFlight: 0 })
    }))

  it.effect("[CAN-02] is cancelled in by a message of its own", () =>
    Effect.gen(function*() {
      const seen = state()
      const http = yield* TestHttp.make(registrationsOf(seen), options)
      const peer = yield* peerOf(http)
      yield* peer.initialize("2024-11-05")
      yield* peer.start(JsonRpc.request(1, "tools/call", { name: "wait" }))
      yield* turns
      yield* peer.notify("notifications/cancelled", { requestId: 1 })
      yield* turns
      assert.deepStrictEqual(seen, { waiting: 1, stopped: 1 })
    }))
})

describe("the limits", () => {
  it.effect("of sessions are told as such", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(registrationsOf(state()), { ...options, limits: { sessions: 1 } })
      const first = yield* peerOf(http)
      yield* first.initialize("2024-11-05")
      const second = yield* peerOf(http)
      const refused = yield* Effect.flip(second.request(0, "initialize", params("2024-11-05")))
      assert.deepInclude(refused, { _tag: "HttpFailure", status: 503, retryAfter: "1" })
      assert.include(JSON.stringify(refused), "sessions")
    }))

  it.effect("[SEC-06] of who may post are those of the stream", () =>
    Effect.gen(function*() {
      const http = yield* TestHttp.make(registrationsOf(state()), {
        ...options,
        middleware: (app) =>
          Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
            Effect.provideService(
              app,
              Principal.CurrentPrincipal,
              Option.some({ issuer: "i", subject: headers["x-user"] ?? "", scopes: [], claims: {} })
            ))
      })
      let user = "ada"
      const transport = yield* Effect.provideService(
        HttpSseClient.make({ url: "http://localhost/sse", headers: Effect.sync(() => ({ "x-user": user })) }),
        HttpClient.HttpClient,
        http.client
      )
      const peer = yield* TestPeer.connect(transport)
      yield* peer.initialize("2024-11-05")
      user = "eve"
      const stolen = yield* Effect.flip(peer.request(1, "ping"))
      assert.strictEqual(stolen._tag, "SessionLost")
      user = "ada"
      assert.isFalse(JsonRpc.isFailure(yield* peer.request(2, "ping")))
    }))
})

describe("the end", () => {
  it.effect("[field SHT-02] waits for what is in flight, and for no idle stream", () =>
    Effect.gen(function*() {
      const connected = yield* Deferred.make<{ readonly client: HttpClient.HttpClient }>()
      const closed: Array<string> = []
      const scope = yield* Scope.make()
      const serving = yield* Effect.forkChild(
        Effect.scoped(Effect.gen(function*() {
          yield* Effect.addFinalizer(() => Effect.sync(() => closed.push("server")))
          const routes = McpServer.drainFirst(McpServer.layerHttp(registrationsOf(state()), options))
          const built = yield* Layer.build(Layer.provideMerge(routes, HttpRouter.layer))
          const app = Effect.orDie(Context.get(built, HttpRouter.HttpRouter).asHttpEffect())
          const context = yield* Effect.context<never>()
          const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(
            context
          )(app)
          yield* Deferred.succeed(connected, { client: TestHttp.clientOf(handler) })
          yield* Effect.sleep("1 second")
        }))
      )
      const http = yield* Deferred.await(connected)
      const busy = yield* Scope.provide(peerOf(http), scope)
      yield* busy.initialize("2024-11-05")
      const idle = yield* Effect.forEach(
        Array.from({ length: 20 }),
        () => Effect.tap(Scope.provide(peerOf(http), scope), (peer) => peer.initialize("2024-11-05"))
      )
      const answer = yield* Effect.forkChild(busy.request(1, "tools/call", { name: "wait" }))
      yield* turns
      yield* TestClock.adjust("1 second")
      yield* turns
      for (const { link } of idle) assert.strictEqual((yield* link.closed)._tag, "TransportClosed")
      assert.deepStrictEqual(closed, [])
      yield* TestClock.adjust("4 seconds")
      assert.deepStrictEqual(textOf(yield* Fiber.join(answer)), [{ type: "text", text: "waited" }])
      assert.strictEqual((yield* busy.link.closed)._tag, "TransportClosed")
      yield* Fiber.join(serving)
      assert.deepStrictEqual(closed, ["server"])
      yield* Scope.close(scope, Exit.void)
    }))
})

describe("the option", () => {
  it.effect("[SSE-08] is off by default, and names other paths", () =>
    Effect.gen(function*() {
      const without = yield* TestHttp.make(Layer.empty)
      assert.strictEqual((yield* without.send(new Request("http://localhost/sse"))).status, 404)
      const http = yield* TestHttp.make(Layer.empty, { sse: { path: "/events", messages: "/in" } })
      const reply = yield* http.send(new Request("http://localhost/events"))
      assert.strictEqual(reply.status, 200)
    }))

  it.effect("does not go with what keeps no sessions", () =>
    Effect.gen(function*() {
      for (const more of [{ sessions: "stateless" }, { revisions: ["2026-07-28"] }] as const) {
        const layer = McpServer.layerHttp(Layer.empty, { ...options, ...more })
        const error = yield* Effect.flip(Layer.build(Layer.provide(layer, HttpRouter.layer)))
        assert.strictEqual(error._tag, "InvalidOptions")
      }
    }))
})

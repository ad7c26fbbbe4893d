import { assert, describe, it } from "@effect/vitest"
import { JsonRpc } from "@mcpfx/schema"
import { McpEndpoint } from "@mcpfx/server/McpEndpoint"
import * as McpServer from "@mcpfx/server/McpServer"
import { Registry } from "@mcpfx/server/Registry"
import type { DuplicateEntry } from "@mcpfx/server/ServerError"
import { Sessions } from "@mcpfx/session"
import { layerMemory as storeMemory, SessionStore } from "@mcpfx/session/SessionStore"
import { Memory } from "@mcpfx/transport"
import { Endpoint } from "@mcpfx/transport/Endpoint"
import { Config, ConfigProvider, Console, Context, Deferred, Effect, Fiber, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"
import { register, text, tool } from "./protocol/fixtures.ts"
import { at, connect, envelope, type Json, overHttp } from "./protocol/harness.ts"
import { streams } from "./protocol/streams.ts"

const options = { name: "tester", version: "1.2.3" }
const echo = register(
  tool("echo", (params) => Effect.succeed(text(String(params.arguments?.["t"])))),
  tool("wait", () => Effect.as(Effect.sleep("1 second"), text("waited")))
)

const initialize = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "0" } }
}
const call = (id: number, name: string, more: Json = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: { t: "hi" }, ...more }
})
const byId = (lines: ReadonlyArray<Json>, id: number) => lines.find((line) => line["id"] === id)

describe("standard input and output", () => {
  it.effect("[STD-09] [SHT-01] [FRM-10] runs until the input ends, answers what is in flight, and succeeds", () =>
    Effect.gen(function*() {
      const { end, lines, send, stdio } = yield* streams
      let released = false
      const registrations = Layer.merge(
        echo,
        Layer.effectDiscard(Effect.acquireRelease(Effect.void, () =>
          Effect.sync(() => {
            released = true
          })))
      )
      const fiber = yield* Effect.forkChild(Effect.provide(McpServer.runStdio(registrations, options), stdio))
      yield* send(initialize)
      yield* send({ jsonrpc: "2.0", method: "notifications/initialized" })
      yield* send(call(1, "echo"))
      yield* send(call(2, "wait"))
      yield* send(call(3, "echo", envelope()))
      yield* end
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)
      assert.isTrue(released)
      assert.strictEqual(at(byId(lines, 0), "result", "protocolVersion"), "2025-11-25")
      assert.strictEqual(at(byId(lines, 1), "result", "content", 0, "text"), "hi")
      assert.strictEqual(at(byId(lines, 2), "result", "content", 0, "text"), "waited")
      assert.strictEqual(at(byId(lines, 3), "result", "resultType"), "complete")
    }))

  it.effect("[SUB-07] an open listen stream ends with the input and does not hold it up", () =>
    Effect.gen(function*() {
      const { end, lines, send, stdio } = yield* streams
      const fiber = yield* Effect.forkChild(Effect.provide(McpServer.runStdio(echo, options), stdio))
      yield* send({
        jsonrpc: "2.0",
        id: 9,
        method: "subscriptions/listen",
        params: { notifications: { toolsListChanged: true }, ...envelope() }
      })
      yield* Effect.yieldNow
      yield* end
      yield* Fiber.join(fiber)
      assert.strictEqual(at(byId(lines, 9), "result", "_meta", "io.modelcontextprotocol/subscriptionId"), 9)
    }))

  it.live("[STD-02] what handlers log or print stays away from standard output", () =>
    Effect.gen(function*() {
      const { end, lines, send, stdio } = yield* streams
      const printed: Array<string> = []
      const error = globalThis.console.error
      globalThis.console.error = (...values: ReadonlyArray<unknown>) => void printed.push(values.join(" "))
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          globalThis.console.error = error
        })
      )
      const before = globalThis.console.log
      const noisy = register(tool("noisy", () =>
        Effect.gen(function*() {
          globalThis.console.log("stray line")
          yield* Console.log("effect console")
          yield* Effect.logInfo("logged line")
          return text("")
        })))
      const fiber = yield* Effect.forkChild(Effect.provide(McpServer.runStdio(noisy, options), stdio))
      yield* send(initialize)
      yield* send(call(1, "noisy"))
      yield* end
      yield* Fiber.join(fiber)
      assert.strictEqual(globalThis.console.log, before)
      assert.strictEqual(printed.filter((line) => /stray line|effect console|logged line/.test(line)).length, 3)
      for (const line of lines) assert.strictEqual(line["jsonrpc"], "2.0")
    }))

  it.effect("[STD-09] as a layer it runs beside a program, and tells it when the input has ended", () =>
    Effect.gen(function*() {
      const { end, lines, send, stdio } = yield* streams
      const ended = yield* Deferred.make<void>()
      const layer = McpServer.layerStdio(echo, { ...options, onEnd: Effect.asVoid(Deferred.succeed(ended, undefined)) })
      yield* Layer.build(Layer.provide(layer, stdio))
      yield* send(initialize)
      yield* send(call(1, "echo"))
      yield* end
      yield* Deferred.await(ended)
      assert.strictEqual(at(byId(lines, 1), "result", "content", 0, "text"), "hi")
    }))

  it.effect("[TOL-11] a fault in what is registered ends it before anything is read", () =>
    Effect.gen(function*() {
      const { stdio } = yield* streams
      const twins = Layer.merge(echo, register(tool("echo", () => Effect.succeed(text("")))))
      const error = yield* Effect.flip(Effect.provide(McpServer.runStdio(twins, options), stdio))
      assert.strictEqual(error._tag, "DuplicateEntry")
    }))
})

const post = (handler: (request: Request) => Promise<Response>) => (body: Json, headers: Record<string, string> = {}) =>
  Effect.promise(() =>
    handler(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
        body: JSON.stringify(body)
      })
    )
  )

const json = (response: Response) => Effect.promise(() => response.json())
const web = <E>(
  registrations: Layer.Layer<never, E, McpServer.Provided>,
  more: Partial<McpServer.WebOptions> = {}
) =>
  Effect.acquireRelease(
    Effect.sync(() => McpServer.toWebHandler(registrations, { ...options, sessions: "stateful", ...more })),
    ({ dispose }) => Effect.promise(dispose)
  )

const modernHeaders = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "echo" }

describe("HTTP", () => {
  it.effect("[HTTP-35] [HTTP-12] serves both eras as a fetch handler", () =>
    Effect.gen(function*() {
      const { handler } = yield* web(echo)
      const send = post(handler)
      const hello = yield* send(initialize)
      const id = hello.headers.get("mcp-session-id")
      assert.isString(id)
      const legacy = yield* send(call(1, "echo"), { "mcp-session-id": id ?? "", "mcp-protocol-version": "2025-11-25" })
      assert.strictEqual(at(yield* json(legacy), "result", "content", 0, "text"), "hi")
      const modern = yield* send(call(2, "echo", envelope()), modernHeaders)
      assert.strictEqual(at(yield* json(modern), "result", "resultType"), "complete")
      const gone = yield* send(call(3, "echo"), { "mcp-session-id": "gone" })
      assert.deepStrictEqual([gone.status, at(yield* json(gone), "error", "code")], [404, -32001])
    }))

  it.effect("[LIF-17] without sessions it keeps none", () =>
    Effect.gen(function*() {
      const { handler } = yield* web(echo, { sessions: "stateless" })
      const send = post(handler)
      const hello = yield* send(initialize)
      assert.isNull(hello.headers.get("mcp-session-id"))
      const legacy = yield* send(call(1, "echo"), { "mcp-protocol-version": "2025-06-18" })
      assert.strictEqual(at(yield* json(legacy), "result", "content", 0, "text"), "hi")
      for (const method of ["GET", "DELETE"]) {
        const refused = yield* Effect.promise(() =>
          handler(new Request("http://localhost/mcp", { method, headers: { accept: "text/event-stream" } }))
        )
        assert.strictEqual(refused.status, 405)
      }
    }))

  it.effect("[HTTP-53] [META-13] [VER-01] statuses of 2026-07-28 come with their errors", () =>
    Effect.gen(function*() {
      const { handler } = yield* web(
        Layer.merge(echo, register(tool("ask", () => Effect.succeed(text("")), { asks: ["sampling"] })))
      )
      const send = Effect.fnUntraced(function*(body: Json, headers: Record<string, string>) {
        const response = yield* post(handler)(body, headers)
        const answer = yield* json(response)
        assert.strictEqual(at(answer, "id"), body["id"])
        return [response.status, at(answer, "error", "code")]
      })
      const version = { "mcp-protocol-version": "2026-07-28" }
      const ping = { jsonrpc: "2.0", id: 1, method: "ping", params: envelope() }
      assert.deepStrictEqual(yield* send(ping, { ...version, "mcp-method": "ping" }), [404, -32601])
      const ask = call(2, "ask", envelope())
      assert.deepStrictEqual(yield* send(ask, { ...modernHeaders, "mcp-name": "ask" }), [400, -32021])
      const unknown = call(3, "nope", envelope())
      assert.deepStrictEqual(yield* send(unknown, { ...modernHeaders, "mcp-name": "nope" }), [200, -32602])
    }))

  it.effect("[HTTP-02] [HTTP-03] [HTP-21] by default it answers to the loopback interface alone", () =>
    Effect.gen(function*() {
      const { handler } = yield* web(echo)
      const refused = yield* Effect.promise(() =>
        handler(
          new Request("http://mcp.example.com/mcp", {
            method: "POST",
            headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
            body: JSON.stringify(initialize)
          })
        )
      )
      assert.strictEqual(refused.status, 403)
      assert.strictEqual((yield* post(handler)(initialize, { origin: "https://evil.example" })).status, 403)
    }))

  it.effect("[CON-04] its limits hold for requests, whoever runs them", () =>
    Effect.gen(function*() {
      const { handler } = yield* web(echo, { limits: { sessions: 1, httpBodyIn: 1000 } })
      assert.strictEqual((yield* post(handler)(initialize)).status, 200)
      assert.strictEqual((yield* post(handler)(initialize)).status, 503)
      assert.strictEqual((yield* post(handler)({ ...initialize, pad: "x".repeat(2000) })).status, 413)
    }))

  it.effect("[HTTP-01] on a path of an application that has others", () =>
    Effect.gen(function*() {
      const routes = Layer.merge(
        McpServer.layerHttp(echo, { ...options, path: "/tools" }),
        McpServer.layerHttp(register(tool("other", () => Effect.succeed(text("")))), { ...options, path: "/others" })
      )
      const { dispose, handler } = HttpRouter.toWebHandler(routes, { disableLogger: true })
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const list = Effect.fnUntraced(function*(path: string) {
        const response = yield* Effect.promise(() =>
          handler(
            new Request(`http://localhost${path}`, {
              method: "POST",
              headers: {
                "content-type": "application/json",
                accept: "application/json, text/event-stream",
                "mcp-protocol-version": "2026-07-28",
                "mcp-method": "tools/list"
              },
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: envelope() })
            })
          )
        )
        return Array.from(Object(at(yield* json(response), "result", "tools")), (each) => at(each, "name"))
      })
      assert.deepStrictEqual(yield* list("/tools"), ["echo", "wait"])
      assert.deepStrictEqual(yield* list("/others"), ["other"])
    }))
})

class Database extends Context.Service<Database, { readonly id: number }>()("test/Database") {}

describe("several endpoints", () => {
  it.effect("[CON-01] one value of registrations makes many endpoints, which share what comes from outside and nothing else", () =>
    Effect.gen(function*() {
      let databases = 0
      let built = 0
      const database = Layer.sync(Database, () => ({ id: ++databases }))
      const registrations: Layer.Layer<never, DuplicateEntry, Registry | Database> = Layer.effectDiscard(
        Effect.gen(function*() {
          built++
          const registry = yield* Registry
          const { id } = yield* Database
          yield* registry.register(tool("db", () => Effect.succeed(text(`database ${id}`))))
          yield* registry.register(tool("built", () => Effect.succeed(text(String(built)))))
        })
      )
      class First extends Context.Service<First, McpEndpoint["Service"]>()("test/First") {}
      class Second extends Context.Service<Second, McpEndpoint["Service"]>()("test/Second") {}
      const endpoint = McpServer.layer(registrations, options)
      const both = Layer.merge(
        Layer.provide(Layer.effect(First, McpEndpoint), endpoint),
        Layer.provide(Layer.effect(Second, McpEndpoint), McpServer.layer(registrations, options))
      ).pipe(Layer.provide(database))
      const context = yield* Layer.build(both)
      for (const self of [Context.get(context, First), Context.get(context, Second)]) {
        for (const client of [connect(self, "2025-11-25"), connect(self, "2026-07-28"), overHttp(self, "2026-07-28")]) {
          const list = yield* client.request("tools/list")
          assert.deepStrictEqual(Array.from(Object(at(list.result, "tools")), (each) => at(each, "name")), [
            "built",
            "db"
          ])
          const called = yield* client.request("tools/call", { name: "db" })
          assert.strictEqual(at(called.result, "content", 0, "text"), "database 1")
        }
      }
      assert.deepStrictEqual([databases, built], [1, 2])
    }))

  it.effect("[CON-01] the same endpoint layer twice in one graph is two endpoints", () =>
    Effect.gen(function*() {
      let built = 0
      const counting = Layer.merge(echo, Layer.effectDiscard(Effect.sync(() => built++)))
      const endpoint = McpServer.layer(counting, options)
      yield* Layer.build(Layer.merge(endpoint, Layer.provide(Layer.effectDiscard(Endpoint), endpoint)))
      assert.strictEqual(built, 2)
    }))

  it.effect("[LIF-17] a directory of one's own keeps the sessions", () =>
    Effect.gen(function*() {
      let opened = 0
      const counting = Layer.effect(
        Sessions.Sessions,
        Effect.map(Sessions.Sessions, (inner) => ({
          ...inner,
          open: (options: Parameters<typeof inner.open>[0]) => {
            opened++
            return inner.open(options)
          }
        }))
      )
      const layer = McpServer.layerWith(echo, options, Layer.provide(counting, Sessions.layerMemory))
      const endpoint = Context.get(yield* Layer.build(layer), McpEndpoint)
      overHttp(endpoint, "2025-06-18").hello()
      connect(endpoint, "2025-06-18")
      assert.strictEqual(opened, 2)
    }))

  it.effect("[LIF-17] endpoints that are given one session store go on with each other's sessions", () =>
    Effect.gen(function*() {
      const store = Context.get(yield* Layer.build(storeMemory), SessionStore)
      const start = Effect.map(
        Layer.build(McpServer.layer(echo, options)),
        (context) => Context.get(context, McpEndpoint)
      ).pipe(Effect.provideService(SessionStore, store))
      const [one, two] = [yield* start, yield* start]
      const first = overHttp(one, "2025-06-18")
      first.hello()
      const second = overHttp(two, "2025-06-18", { sessionId: first.sessionId })
      const sent = yield* Effect.promise(() => second.later("tools/call", { name: "echo", arguments: { t: "moved" } }))
      assert.strictEqual(at(sent.result, "content", 0, "text"), "moved")
    }))
})

describe("in memory", () => {
  it.effect("[TRN-01] both eras at once over one connection, in text as on a wire", () =>
    Effect.gen(function*() {
      const endpoint = Context.get(yield* Layer.build(McpServer.layer(echo, options)), Endpoint)
      const received: Array<JsonRpc.Message> = []
      const inbox: Endpoint["Service"] = {
        handle: ({ message }) => Effect.as(Effect.sync(() => received.push(message)), {}),
        admitBatch: () => Effect.void,
        attach: () => Effect.void,
        terminate: () => Effect.void
      }
      const { client } = yield* Memory.pair(inbox, endpoint)
      const send = (id: number, method: string, params: JsonRpc.JsonObject) =>
        client.send(JsonRpc.request(id, method, params))
      yield* send(1, "initialize", initialize.params)
      for (let id = 2; id < 1002; id++) {
        yield* send(id, "tools/call", {
          name: "echo",
          arguments: { t: id },
          ...(id % 2 === 0 ? envelope() : undefined)
        })
      }
      yield* Effect.repeat(Effect.yieldNow, { until: () => received.length === 1001, times: 10_000 })
      for (let id = 2; id < 1002; id++) {
        const answer = received.find((message) => "id" in message && message.id === id)
        assert.strictEqual(at(answer, "result", "content", 0, "text"), String(id))
        assert.strictEqual(at(answer, "result", "resultType"), id % 2 === 0 ? "complete" : undefined)
      }
    }))
})

describe("the end", () => {
  it.effect("[SHT-02] drainFirst stops the endpoints before what serves them", () =>
    Effect.gen(function*() {
      const events: Array<string> = []
      const scope = yield* Effect.scope
      const self = yield* Deferred.make<McpEndpoint["Service"]>()
      const server = Layer.effectDiscard(Effect.gen(function*() {
        yield* Effect.addFinalizer(() => Effect.sync(() => events.push("sockets closed")))
        yield* Deferred.succeed(self, yield* McpEndpoint)
      }))
      const serving = McpServer.drainFirst(Layer.provide(server, McpServer.layer(echo, options)))
      const closing = yield* Effect.forkIn(
        Effect.scoped(Effect.andThen(Layer.build(serving), Effect.sleep("1 minute"))),
        scope
      )
      const endpoint = yield* Deferred.await(self)
      const client = connect(endpoint, "2026-07-28")
      const listening = Array.from({ length: 50 }, () =>
        overHttp(endpoint, "2026-07-28").start("subscriptions/listen", { notifications: { toolsListChanged: true } }))
      yield* TestClock.adjust("59500 millis")
      const running = client.start("tools/call", { name: "wait" })
      yield* TestClock.adjust("500 millis")
      assert.deepStrictEqual(events, [])
      assert.strictEqual((yield* McpServer.Health).status, "draining")
      for (const each of listening) {
        assert.isDefined(each.answer)
      }
      yield* TestClock.adjust("500 millis")
      yield* Fiber.join(closing)
      assert.strictEqual(at(running.result, "content", 0, "text"), "waited")
      assert.deepStrictEqual(events, ["sockets closed"])
    }))

  it.effect("[SHT-02] Health says what is going on", () =>
    Effect.gen(function*() {
      const seen = (yield* McpServer.Health).endpoints.length
      yield* Effect.scoped(Effect.gen(function*() {
        const context = yield* Layer.build(McpServer.layer(echo, { ...options, name: "healthy" }))
        const endpoint = Context.get(context, McpEndpoint)
        connect(endpoint, "2025-11-25").start("tools/call", { name: "wait" })
        connect(endpoint, "2026-07-28").start("subscriptions/listen", { notifications: {} })
        const health = yield* McpServer.Health
        assert.deepStrictEqual(health.endpoints.at(-1), {
          name: "healthy",
          version: "1.2.3",
          status: "serving",
          inFlight: 2,
          listening: 1,
          sessions: 1
        })
      }))
      assert.strictEqual((yield* McpServer.Health).endpoints.length, seen)
    }))
})

describe("configuration", () => {
  it.effect("[EXT-01] options may come from configuration", () =>
    Effect.gen(function*() {
      const provider = ConfigProvider.fromUnknown({ MCP: { NAME: "configured", PAGE: 1 } })
      const layer = McpServer.layerConfig(echo, {
        name: Config.String("NAME"),
        version: Config.succeed("2.0.0"),
        pageSize: Config.Int("PAGE")
      })
      const configured = Layer.provide(layer, ConfigProvider.layer(ConfigProvider.nested(provider, "MCP")))
      const endpoint = Context.get(yield* Layer.build(configured), McpEndpoint)
      assert.strictEqual(endpoint.health().name, "configured")
      const list = yield* connect(endpoint, "2026-07-28").request("tools/list")
      assert.strictEqual(Object(at(list.result, "tools")).length, 1)
      const missing = McpServer.layerHttpConfig(echo, { name: Config.String("NOPE"), version: Config.succeed("1") })
      const error = yield* Effect.flip(Layer.build(Layer.provide(missing, HttpRouter.layer)))
      assert.strictEqual(error._tag, "ConfigError")
    }))
})

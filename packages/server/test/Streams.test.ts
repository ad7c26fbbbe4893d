/** Which messages go on which stream, as a peer sees it. */
import { assert, describe, it } from "@effect/vitest"
import { JsonRpc } from "@mcpfx/schema"
import * as Methods from "@mcpfx/schema/Methods"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Progress from "@mcpfx/session/Progress"
import { RequestContext } from "@mcpfx/session/RequestContext"
import { Deferred, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Inside, register, spy, text, tool } from "./protocol/fixtures.ts"
import {
  at,
  type Client,
  connect,
  envelope,
  type Json,
  legacyVersions,
  overHttp,
  type Sent,
  serve
} from "./protocol/harness.ts"
import { streams } from "./protocol/streams.ts"

const modern = "2026-07-28"
const options = { name: "tester", version: "1.2.3" }
const methods = (messages: ReadonlyArray<Json>) => messages.map((message) => message["method"])
const isRequest = (message: Json) => "method" in message && "id" in message
const listening = { notifications: { toolsListChanged: true } }

describe("requests of the server", () => {
  it.effect("[RPC-17] [STD-11] on a pipe go to clients with sessions alone, whatever a client of 2026-07-28 does", () =>
    Effect.gen(function*() {
      const { end, lines, send, stdio } = yield* streams
      const inside: Inside = { registry: undefined, bus: undefined }
      const capabilities = { roots: {}, sampling: {}, elicitation: {} }
      const registrations = register(tool("busy", () =>
        Effect.gen(function*() {
          yield* Progress.report({ progress: 1 })
          yield* McpServer.log("error", "careful")
          const { asker } = yield* RequestContext
          if (asker === undefined) return text("nobody to ask")
          const { roots } = yield* Effect.orDie(asker.request(Methods.RootsList, {}))
          return text(`${roots.length} roots`)
        })))
      const server = McpServer.runStdio(Layer.merge(registrations, spy(inside)), options)
      const fiber = yield* Effect.forkChild(Effect.provide(server, stdio))
      const request = (id: number, method: string, params: Json) => send({ jsonrpc: "2.0", id, method, params })
      const meta = envelope({
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "io.modelcontextprotocol/logLevel": "debug",
        progressToken: "p"
      })
      yield* request(1, "server/discover", meta)
      yield* request(2, "subscriptions/listen", { ...listening, ...meta })
      yield* request(3, "tools/call", { name: "busy", arguments: {}, ...meta })
      for (const [at, method] of ["tools/list", "ping", "roots/list", "no/such"].entries()) {
        yield* request(10 + at, method, meta)
      }
      yield* TestClock.adjust("1 second")
      yield* inside.bus?.publish({ kind: "tools" }) ?? Effect.void
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(lines.filter(isRequest), [])
      assert.includeMembers(methods(lines), [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed",
        "notifications/progress",
        "notifications/message"
      ])
      assert.strictEqual(at(lines.find(({ id }) => id === 3), "result", "content", 0, "text"), "nobody to ask")
      // The same tool asks a client that has a session.
      yield* request(20, "initialize", {
        protocolVersion: "2025-11-25",
        capabilities,
        clientInfo: { name: "x", version: "0" }
      })
      yield* send({ jsonrpc: "2.0", method: "notifications/initialized" })
      yield* request(21, "tools/call", { name: "busy", arguments: {} })
      yield* TestClock.adjust("1 second")
      const asked = lines.filter(isRequest)
      assert.deepStrictEqual(methods(asked), ["roots/list"])
      yield* send({ jsonrpc: "2.0", id: asked[0]?.["id"], result: { roots: [{ uri: "file:///a" }] } })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(at(lines.find(({ id }) => id === 21), "result", "content", 0, "text"), "1 roots")
      yield* end
      yield* Fiber.join(fiber)
      assert.strictEqual(lines.filter(isRequest).length, 1)
    }))

  for (const version of legacyVersions) {
    it.effect(`[PNG-02] ${version}: a client that does not answer pings loses its session`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(register(tool("t", () => Effect.succeed(text("")))), {
          heartbeat: "30 seconds",
          limits: { requestTimeout: Duration.seconds(10) }
        })
        const [alive, dead, wordless] = [
          connect(endpoint, version),
          connect(endpoint, version),
          connect(endpoint, modern)
        ]
        for (let i = 0; i < 3; i++) {
          yield* TestClock.adjust("30 seconds")
          const ping = alive.wire?.unsolicited[i]
          assert.strictEqual(at(ping, "method"), "ping")
          alive.raw({ jsonrpc: "2.0", id: at(ping, "id"), result: {} })
        }
        assert.deepStrictEqual(methods(dead.wire?.unsolicited ?? []), ["ping", "notifications/cancelled"])
        assert.deepStrictEqual(wordless.wire?.unsolicited, [])
        assert.strictEqual(endpoint.health().sessions, 1)
      }))
  }
})

describe("log messages", () => {
  it.effect("[LOG-04] go on the stream of their own request, before its answer, and on no other", () =>
    Effect.gen(function*() {
      const late: Array<Effect.Effect<void>> = []
      const gate = yield* Deferred.make<void>()
      const endpoint = yield* serve(register(tool("logs", (params) =>
        Effect.gen(function*() {
          const tag = String(params.arguments?.["tag"])
          const context = yield* RequestContext
          late.push(Effect.provideService(McpServer.log("error", `${tag}, too late`), RequestContext, context))
          yield* McpServer.log("info", `${tag} starts`)
          yield* Deferred.await(gate)
          yield* McpServer.log("info", `${tag} ends`)
          return text(tag)
        }))))
      const call = (client: Client, tag: string, level?: string) =>
        client.start("tools/call", {
          name: "logs",
          arguments: { tag },
          ...(level === undefined ? undefined : { _meta: { "io.modelcontextprotocol/logLevel": level } })
        })
      const pipe = connect(endpoint, modern)
      const http = overHttp(endpoint, modern)
      const streams = [pipe, http].map((client) => client.start("subscriptions/listen", listening))
      const calls = [call(pipe, "a", "info"), call(pipe, "b", "info"), call(http, "c", "info"), call(http, "d", "info")]
      const silent = [call(pipe, "e"), call(http, "f")]
      yield* Deferred.succeed(gate, undefined)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(late.length, 6)
      yield* Effect.all(late)
      yield* TestClock.adjust("1 second")
      const said = (sent: Sent) => sent.pushed.map((message) => at(message, "params", "data"))
      for (const [index, tag] of ["a", "b", "c", "d"].entries()) {
        const sent = calls[index]
        assert.isDefined(sent)
        assert.deepStrictEqual(sent && said(sent), [`${tag} starts`, `${tag} ends`])
        assert.strictEqual(at(sent?.result, "content", 0, "text"), tag)
      }
      for (const sent of silent) assert.deepStrictEqual([sent.pushed, sent.closed], [[], true])
      for (const sent of streams) {
        assert.deepStrictEqual(methods(sent.pushed), ["notifications/subscriptions/acknowledged"])
      }
      assert.deepStrictEqual(pipe.wire?.unsolicited, [])
    }))
})

describe("listen streams", () => {
  it.effect("[SUB-02] nothing overtakes an acknowledgement that has to wait", () =>
    Effect.gen(function*() {
      const inside: Inside = { registry: undefined, bus: undefined }
      const endpoint = yield* serve(
        Layer.merge(register(tool("t", () => Effect.succeed(text("")))), spy(inside))
      )
      const client = connect(endpoint, modern)
      const written = yield* Deferred.make<void>()
      const out: Array<unknown> = []
      const message = JsonRpc.request(1, "subscriptions/listen", {
        ...listening,
        ...JSON.parse(JSON.stringify(envelope()))
      })
      yield* endpoint.endpoint.handle({
        message,
        facts: client.facts(),
        outlet: {
          answer: () => {},
          end: () => {},
          push: (message) => {
            const method = at(message, "method")
            const wait = method === "notifications/subscriptions/acknowledged" ? Deferred.await(written) : Effect.void
            return Effect.andThen(wait, Effect.sync(() => void out.push(method)))
          }
        }
      })
      yield* inside.bus?.publish({ kind: "tools" }) ?? Effect.void
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(out, [])
      yield* Deferred.succeed(written, undefined)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(out, ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"])
    }))

  it.effect("[SUB-08] a server of 2026-07-28 sends notifications/cancelled about listen requests on a pipe, and no others", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register(
        tool("waits", () => Effect.never),
        tool("dies", () => Effect.die(new Error("no")))
      ))
      const [pipe, http] = [connect(endpoint, modern), overHttp(endpoint, modern)]
      const others: Array<Sent> = []
      for (const client of [pipe, http]) {
        others.push(client.start("tools/call", { name: "waits" }), client.start("tools/call", { name: "dies" }))
      }
      const taken = pipe.start("tools/call", { name: "waits" }, "taken back")
      pipe.notify("notifications/cancelled", { requestId: "taken back" })
      const over = pipe.start("subscriptions/listen", listening, "over")
      pipe.notify("notifications/cancelled", { requestId: "over" })
      const streams = [
        pipe.start("subscriptions/listen", listening, "open"),
        http.start("subscriptions/listen", listening)
      ]
      const closing = yield* Effect.forkChild(endpoint.shutdown)
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(closing)
      const notices = [...others, taken, over, ...streams].flatMap((sent) =>
        sent.pushed.filter(({ method }) => method === "notifications/cancelled")
      )
      assert.deepStrictEqual(notices.map((notice) => at(notice, "params", "requestId")), ["open"])
      assert.deepStrictEqual(pipe.wire?.unsolicited, [])
    }))
})

describe("cancelling", () => {
  const waits = (ended: Array<unknown>) =>
    register(
      tool("waits", (params) =>
        Effect.onInterrupt(Effect.never, () => Effect.sync(() => void ended.push(params.arguments?.["tag"]))))
    )
  const start = (client: Client, tag: string, id: number) =>
    client.start("tools/call", { name: "waits", arguments: { tag } }, id)

  it.effect("[CAN-02] on a pipe a notice ends the request of its own connection, not one of the same id elsewhere", () =>
    Effect.gen(function*() {
      const ended: Array<unknown> = []
      const endpoint = yield* serve(waits(ended))
      const [mine, theirs, web] = [connect(endpoint, modern), connect(endpoint, modern), overHttp(endpoint, modern)]
      const sent = [start(mine, "mine", 1), start(mine, "next", 2), start(theirs, "theirs", 1), start(web, "web", 1)]
      mine.notify("notifications/cancelled", { requestId: 1 })
      mine.notify("notifications/cancelled", { requestId: "2" })
      mine.notify("notifications/cancelled", { requestId: 3 })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ended, ["mine"])
      assert.deepStrictEqual(sent.map(({ answer }) => answer), [undefined, undefined, undefined, undefined])
    }))

  it.effect("[CAN-02] over HTTP the end of its stream ends a request, and a notice does not", () =>
    Effect.gen(function*() {
      const ended: Array<unknown> = []
      const client = overHttp(yield* serve(waits(ended)), modern)
      const [left] = [start(client, "left", 1), start(client, "stays", 1)]
      client.notify("notifications/cancelled", { requestId: 1, ...envelope() })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ended, [])
      left.disconnect()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(ended, ["left"])
    }))
})

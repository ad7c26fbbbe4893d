import { assert, describe, it } from "@effect/vitest"
import { ChangeBus, make as makeBus } from "@mcpfx/server/ChangeBus"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Progress from "@mcpfx/session/Progress"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import { Effect, Exit, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { contents, type Inside, prompt, register, resource, spy, template, text, tool } from "./protocol/fixtures.ts"
import { at, Client, connect, type Json, legacyVersions, overHttp, serve, Wire } from "./protocol/harness.ts"

const modern = "2026-07-28"
const registered = register(
  tool("t", () => Effect.succeed(text(""))),
  prompt("p", () => Effect.succeed({ messages: [] })),
  resource("demo://a", Effect.succeed(contents("demo://a", ""))),
  resource("demo://b", Effect.succeed(contents("demo://b", ""))),
  template("demo://dir/{x}", () => Effect.succeed(contents("demo://dir/x", "")))
)

const start = (options: Partial<McpServer.Options> = {}) =>
  Effect.gen(function*() {
    const inside: Inside = { registry: undefined, bus: undefined }
    const endpoint = yield* serve(Layer.merge(registered, spy(inside)), options)
    const { bus, registry } = inside
    if (bus === undefined || registry === undefined) throw new Error("not built")
    return { endpoint, bus, registry }
  })

const methods = (messages: ReadonlyArray<Json>) => messages.map((message) => message["method"])
const touch = (bus: ChangeBus["Service"], uri: string) => bus.publish({ kind: "resource", uri })
const everything = {
  notifications: {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["demo://a", "demo://dir"]
  }
}

describe("subscriptions/listen", () => {
  it.effect("[SUB-01] [SUB-02] [SUB-05] [META-14] acknowledges first, then tells what was asked for, each with the id", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      for (const id of [7, "7", "", 0]) {
        const client = new Client(endpoint, modern, new Wire())
        const sent = client.start("subscriptions/listen", {
          notifications: { toolsListChanged: true, resourceSubscriptions: ["demo://a"] }
        }, id)
        const _meta = { "io.modelcontextprotocol/subscriptionId": id }
        assert.deepStrictEqual(sent.pushed, [{
          jsonrpc: "2.0",
          method: "notifications/subscriptions/acknowledged",
          params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["demo://a"] }, _meta }
        }])
        yield* bus.publish({ kind: "prompts" })
        yield* bus.publish({ kind: "resources" })
        yield* touch(bus, "demo://b")
        yield* bus.publish({ kind: "tools" })
        yield* TestClock.adjust("1 second")
        yield* touch(bus, "demo://a")
        assert.deepStrictEqual(sent.pushed.slice(1), [
          { jsonrpc: "2.0", method: "notifications/tools/list_changed", params: { _meta } },
          { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "demo://a", _meta } }
        ])
        assert.isFalse(sent.closed)
        client.notify("notifications/cancelled", { requestId: id })
        yield* TestClock.adjust("1 second")
      }
    }))

  it.effect("[SUB-02] [field LIF-14] only what is offered is honoured", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start({
        capabilities: { tools: { listChanged: false }, prompts: false, resources: { subscribe: false } }
      })
      const sent = connect(endpoint, modern).start("subscriptions/listen", everything)
      assert.deepStrictEqual(at(sent.pushed[0], "params", "notifications"), { resourcesListChanged: true })
      for (const kind of ["tools", "prompts"] as const) yield* bus.publish({ kind })
      yield* touch(bus, "demo://a")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(sent.pushed.length, 1)
      yield* bus.publish({ kind: "resources" })
      assert.strictEqual(sent.pushed.length, 2)
    }))

  it.effect("[RPC-24] a server with nothing to announce does not have the method", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register())
      assert.strictEqual(connect(endpoint, modern).start("subscriptions/listen", everything).code, -32601)
    }))

  it.effect("[SUB-02] a filter is asked for, an empty one is granted", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* start()
      const client = connect(endpoint, modern)
      for (const params of [{}, { notifications: 5 }, { notifications: { toolsListChanged: "yes" } }]) {
        assert.strictEqual(client.start("subscriptions/listen", params).code, -32602, JSON.stringify(params))
      }
      const sent = client.start("subscriptions/listen", { notifications: {} })
      assert.deepStrictEqual(at(sent.pushed[0], "params", "notifications"), {})
    }))

  it.effect("[SUB-02] what changes before the acknowledgement is out waits behind it", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      const client = connect(endpoint, modern)
      const sent = client.start("subscriptions/listen", everything, 1, 0)
      yield* bus.publish({ kind: "tools" })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent.pushed, [])
      sent.resume()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(methods(sent.pushed), [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed"
      ])
    }))

  it.effect("[SUB-05] [STD-13] two streams of one connection are told apart", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      const client = connect(endpoint, modern)
      const tools = client.start("subscriptions/listen", { notifications: { toolsListChanged: true } }, 1)
      const prompts = client.start("subscriptions/listen", { notifications: { promptsListChanged: true } }, "1")
      assert.strictEqual(endpoint.health().listening, 2)
      yield* bus.publish({ kind: "tools" })
      yield* bus.publish({ kind: "prompts" })
      assert.deepStrictEqual(methods(tools.pushed)[1], "notifications/tools/list_changed")
      assert.deepStrictEqual(methods(prompts.pushed)[1], "notifications/prompts/list_changed")
    }))

  it.effect("[SUB-11] what lies below a watched URI is told under its own", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      const sent = connect(endpoint, modern).start("subscriptions/listen", everything)
      for (const uri of ["demo://dir/x", "demo://a#part", "demo://ab", "demo://directory"]) yield* touch(bus, uri)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(sent.pushed.slice(1).map((message) => at(message, "params", "uri")), [
        "demo://dir/x",
        "demo://a#part"
      ])
    }))

  it.effect("[field SUB-02] a storm becomes few messages, the last of it included", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      const sent = connect(endpoint, modern).start("subscriptions/listen", everything)
      for (let i = 0; i < 200; i++) {
        yield* bus.publish({ kind: "tools" })
        yield* TestClock.adjust("500 micros")
      }
      yield* TestClock.adjust("1 second")
      assert.strictEqual(sent.pushed.length, 3)
    }))

  it.effect("[SUB-10] neither progress nor log messages travel on it", () =>
    Effect.gen(function*() {
      const { bus, endpoint, registry } = yield* start()
      yield* registry.register(
        tool(
          "loud",
          () => Effect.as(Effect.andThen(Progress.report({ progress: 1 }), Effect.logError("loud")), text(""))
        )
      )
      const client = connect(endpoint, modern)
      const _meta = { progressToken: 1, "io.modelcontextprotocol/logLevel": "debug" }
      const sent = client.start("subscriptions/listen", { ...everything, _meta })
      const called = client.start("tools/call", { name: "loud", _meta })
      assert.deepStrictEqual(methods(called.pushed), ["notifications/progress", "notifications/message"])
      yield* bus.publish({ kind: "tools" })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(methods(sent.pushed), [
        "notifications/subscriptions/acknowledged",
        "notifications/tools/list_changed"
      ])
    }))

  it.effect("[STD-14] [HTTP-62] it ends without a word when the client cancels or leaves", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      const client = connect(endpoint, modern)
      const cancelled = client.start("subscriptions/listen", everything, 9)
      const left = overHttp(endpoint, modern).start("subscriptions/listen", everything)
      client.notify("notifications/cancelled", { requestId: 9 })
      left.disconnect()
      yield* bus.publish({ kind: "tools" })
      yield* TestClock.adjust("1 second")
      for (const sent of [cancelled, left]) {
        assert.strictEqual(sent.pushed.length, 1)
        assert.isUndefined(sent.answer)
      }
      assert.strictEqual(endpoint.health().listening, 0)
    }))

  it.effect("[SUB-07] [SUB-08] at shutdown it ends with its result, on connections with a notice before", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* start()
      const stdio = connect(endpoint, modern).start("subscriptions/listen", everything, 1)
      const http = overHttp(endpoint, modern).start("subscriptions/listen", everything, "1")
      yield* endpoint.shutdown
      for (const [sent, id] of [[stdio, 1], [http, "1"]] as const) {
        assert.strictEqual(at(sent.result, "resultType"), "complete")
        assert.strictEqual(at(sent.result, "_meta", "io.modelcontextprotocol/subscriptionId"), id)
      }
      assert.strictEqual(at(stdio.pushed[1], "method"), "notifications/cancelled")
      assert.strictEqual(at(stdio.pushed[1], "params", "requestId"), 1)
      assert.strictEqual(http.pushed.length, 1)
    }))

  it.effect("[SUB-06] past the limit of streams one caller gets no more, others do", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* start({ limits: { listenStreams: 1 } })
      const as = (subject: string) =>
        overHttp(endpoint, modern, { principal: { issuer: "https://as", subject, scopes: [], claims: {} } })
      const first = as("ada").start("subscriptions/listen", everything)
      const second = yield* as("ada").request("subscriptions/listen", everything)
      assert.strictEqual(second.code, -32603)
      assert.deepStrictEqual(at(second.error, "data"), { limit: "listenStreams" })
      assert.isFalse(as("bob").start("subscriptions/listen", everything).closed)
      first.disconnect()
      assert.isFalse(as("ada").start("subscriptions/listen", everything).closed)
    }))

  it.effect("[SUB-06] past the limit of watched resources the rest is not acknowledged", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* start({ limits: { watched: 1 } })
      const sent = connect(endpoint, modern).start("subscriptions/listen", everything)
      assert.deepStrictEqual(at(sent.pushed[0], "params", "notifications", "resourceSubscriptions"), ["demo://a"])
    }))
})

describe("sessions", () => {
  for (const version of legacyVersions) {
    it.effect(`[TOL-04] [RES-02] [PRM-01] ${version}: changed lists are told, once the client is ready`, () =>
      Effect.gen(function*() {
        const { bus, endpoint, registry } = yield* start()
        const client = new Client(endpoint, version, new Wire())
        const told = client.wire?.unsolicited ?? []
        client.start("initialize", {
          protocolVersion: version,
          capabilities: {},
          clientInfo: { name: "x", version: "0" }
        })
        yield* bus.publish({ kind: "tools" })
        assert.deepStrictEqual(told, [])
        client.notify("notifications/initialized")
        yield* TestClock.adjust("1 second")
        yield* registry.register(tool("late", () => Effect.succeed(text(""))))
        yield* bus.publish({ kind: "prompts" })
        yield* bus.publish({ kind: "resources" })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(methods(told), [
          "notifications/tools/list_changed",
          "notifications/prompts/list_changed",
          "notifications/resources/list_changed"
        ])
      }))

    it.effect(`[field LIF-14] ${version}: what was not announced is not told`, () =>
      Effect.gen(function*() {
        const { bus, endpoint } = yield* start({
          capabilities: { tools: { listChanged: false }, resources: { listChanged: false } }
        })
        const client = connect(endpoint, version)
        for (const kind of ["tools", "resources", "prompts"] as const) yield* bus.publish({ kind })
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(methods(client.wire?.unsolicited ?? []), ["notifications/prompts/list_changed"])
      }))

    it.effect(`[RES-03] [SUB-11] ${version}: updates go to those who subscribed, until they no longer do`, () =>
      Effect.gen(function*() {
        const { bus, endpoint } = yield* start()
        const [client, other] = [connect(endpoint, version), connect(endpoint, version)]
        for (const uri of ["demo://a", "demo://dir"]) yield* client.request("resources/subscribe", { uri })
        const told = client.wire?.unsolicited ?? []
        for (const uri of ["demo://a", "demo://b", "demo://dir/x"]) yield* touch(bus, uri)
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(
          told,
          ["demo://a", "demo://dir/x"].map((uri) => ({
            jsonrpc: "2.0",
            method: "notifications/resources/updated",
            params: { uri }
          }))
        )
        yield* client.request("resources/unsubscribe", { uri: "demo://a" })
        yield* touch(bus, "demo://a")
        yield* TestClock.adjust("1 second")
        assert.strictEqual(told.length, 2)
        assert.deepStrictEqual(other.wire?.unsolicited, [])
      }))
  }

  it.effect("[SUB-03] subscriptions die with their session", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      const client = overHttp(endpoint, "2025-11-25")
      client.hello()
      const stream = new Wire()
      yield* endpoint.endpoint.attach(client.facts(), stream.link)
      yield* client.request("resources/subscribe", { uri: "demo://a" })
      yield* touch(bus, "demo://a")
      assert.strictEqual(stream.unsolicited.length, 1)
      yield* endpoint.endpoint.terminate(client.facts())
      for (let i = 0; i < 10; i++) {
        yield* touch(bus, "demo://a")
        yield* TestClock.adjust("1 second")
      }
      assert.strictEqual(stream.unsolicited.length, 1)
      assert.strictEqual(endpoint.health().sessions, 0)
    }))

  it.effect("[HTTP-24] [SUB-05] what is told while a session has no stream waits for the next one, once each", () =>
    Effect.gen(function*() {
      const { bus, endpoint } = yield* start()
      const client = overHttp(endpoint, "2025-06-18")
      client.hello()
      yield* client.request("resources/subscribe", { uri: "demo://a" })
      yield* client.request("resources/subscribe", { uri: "demo://b" })
      for (let i = 0; i < 10; i++) {
        yield* bus.publish({ kind: "tools" })
        for (const uri of ["demo://a", "demo://b"]) yield* touch(bus, uri)
        yield* TestClock.adjust("30 millis")
      }
      yield* client.request("resources/unsubscribe", { uri: "demo://b" })
      const stream = new Wire()
      const scope = yield* Scope.make()
      yield* Scope.provide(endpoint.endpoint.attach(client.facts(), stream.link), scope)
      assert.deepStrictEqual(methods(stream.unsolicited), [
        "notifications/tools/list_changed",
        "notifications/resources/updated"
      ])
      assert.strictEqual(at(stream.unsolicited[1], "params", "uri"), "demo://a")
      yield* TestClock.adjust("1 second")
      yield* Scope.close(scope, Exit.void)
      // Between two streams, too.
      yield* bus.publish({ kind: "prompts" })
      yield* TestClock.adjust("1 second")
      const next = new Wire()
      yield* endpoint.endpoint.attach(client.facts(), next.link)
      assert.strictEqual(stream.unsolicited.length, 2)
      assert.deepStrictEqual(methods(next.unsolicited), ["notifications/prompts/list_changed"])
      yield* bus.publish({ kind: "tools" })
      yield* TestClock.adjust("1 second")
      assert.strictEqual(next.unsolicited.length, 2)
    }))

  it.effect("[CON-04] past the session's limit a subscription is refused, the others stay", () =>
    Effect.gen(function*() {
      const { endpoint } = yield* start({ limits: { subscriptions: 1 } })
      const client = connect(endpoint, "2025-11-25")
      assert.deepStrictEqual((yield* client.request("resources/subscribe", { uri: "demo://a" })).result, {})
      assert.strictEqual((yield* client.request("resources/subscribe", { uri: "demo://b" })).code, -32000)
      assert.deepStrictEqual((yield* client.request("resources/subscribe", { uri: "demo://a" })).result, {})
    }))
})

describe("both", () => {
  it.effect("[CCH-12] who may not see a resource does not hear of it", () =>
    Effect.gen(function*() {
      const inside: Inside = { registry: undefined, bus: undefined }
      const sees = (context: RequestContext["Service"]) => context.clientInfo?.name === "friend"
      const endpoint = yield* serve(Layer.merge(
        spy(inside),
        register(
          resource("demo://secret", Effect.succeed(contents("demo://secret", "")), { visible: sees }),
          resource("demo://open", Effect.succeed(contents("demo://open", "")))
        )
      ))
      const uris = ["demo://secret", "demo://open"]
      const listening = connect(endpoint, modern).start("subscriptions/listen", {
        notifications: { resourceSubscriptions: uris }
      })
      // The acknowledgement does not tell what is there from what is not.
      assert.deepStrictEqual(at(listening.pushed[0], "params", "notifications", "resourceSubscriptions"), uris)
      const session = connect(endpoint, "2025-11-25")
      for (const uri of uris) yield* session.request("resources/subscribe", { uri })
      for (const uri of uris) yield* inside.bus === undefined ? Effect.void : touch(inside.bus, uri)
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(listening.pushed.slice(1).map((each) => at(each, "params", "uri")), ["demo://open"])
      assert.deepStrictEqual(session.wire?.unsolicited.map((each) => at(each, "params", "uri")), ["demo://open"])
    }))

  it.effect("handlers and background fibers announce with McpServer", () =>
    Effect.gen(function*() {
      const announcing = Layer.merge(
        registered,
        Layer.effectDiscard(Effect.forkScoped(Effect.andThen(
          Effect.sleep("1 minute"),
          Effect.andThen(McpServer.resourceUpdated("demo://a"), McpServer.listChanged("tools"))
        )))
      )
      const endpoint = yield* serve(announcing)
      const sent = connect(endpoint, modern).start("subscriptions/listen", everything)
      yield* TestClock.adjust("2 minutes")
      assert.deepStrictEqual(methods(sent.pushed.slice(1)), [
        "notifications/resources/updated",
        "notifications/tools/list_changed"
      ])
    }))

  it.effect("two endpoints tell only their own changes, unless they are given one bus", () =>
    Effect.gen(function*() {
      const one = yield* start()
      const two = yield* start()
      const [first, second] = [one, two].map(({ endpoint }) =>
        connect(endpoint, modern).start("subscriptions/listen", everything)
      )
      yield* one.bus.publish({ kind: "tools" })
      assert.deepStrictEqual([first?.pushed.length, second?.pushed.length], [2, 1])
      const shared = yield* makeBus
      const both = yield* Effect.all([start(), start()]).pipe(Effect.provideService(ChangeBus, shared))
      const sent = both.map(({ endpoint }) => connect(endpoint, modern).start("subscriptions/listen", everything))
      yield* shared.publish({ kind: "tools" })
      assert.deepStrictEqual(sent.map((each) => each.pushed.length), [2, 2])
    }))
})

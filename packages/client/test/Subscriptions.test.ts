import { assert, describe, it } from "@effect/vitest"
import { McpClient, type McpClientError } from "@mcpfx/client"
import { type JsonRpc, Methods, Prompt, Resource, Revisions, Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { ScriptedServer, TestServer } from "@mcpfx/testing"
import { Duration, Effect, Exit, Fiber, Layer, Logger, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, joined, legacy, modern, settle } from "./support/client.ts"

const { make, result, silence } = ScriptedServer

const tagOf = <A, R>(effect: Effect.Effect<A, McpClientError.McpClientError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason._tag)

const idOf = (message: JsonRpc.Message) => "id" in message ? message.id : undefined
const subscription = (id: unknown) => ({ _meta: { "io.modelcontextprotocol/subscriptionId": id } })

const everything = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true }
}

/** A server of 2026-07-28 that acknowledges every listen request with what was asked for. */
const listening = (more: ScriptedServer.Script = {}, options: ScriptedServer.Options = {}) =>
  make(
    modern({
      "subscriptions/listen": (request, server) =>
        Effect.as(
          Effect.orDie(server.notify("notifications/subscriptions/acknowledged", {
            notifications: request.params?.["notifications"],
            ...subscription(request.id)
          })),
          silence
        ),
      ...more
    }, everything),
    options
  )

const stateful = (more: ScriptedServer.Script = {}, options: ScriptedServer.Options = {}) =>
  make(legacy({ "resources/subscribe": result({}), "resources/unsubscribe": result({}), ...more }, everything), options)

const take = <A, E>(stream: Stream.Stream<A, E>, n: number) => Stream.runCollect(Stream.take(stream, n))

const Touch = Tool.make("touch", { input: { kind: Schema.String, uri: Schema.optionalKey(Schema.String) } })
const Registrations = Layer.mergeAll(
  McpServer.tool(Touch, ({ kind, uri }) =>
    Effect.as(
      kind === "resource"
        ? McpServer.resourceUpdated(uri ?? "")
        : kind === "tools" || kind === "prompts" || kind === "resources"
        ? McpServer.listChanged(kind)
        : Effect.void,
      "done"
    )),
  McpServer.resource(Resource.make("note://1", { name: "note" }), "one"),
  McpServer.resource(Resource.make("note://2", { name: "other" }), "two"),
  McpServer.prompt(Prompt.make("p"), () => Effect.succeed("p"))
)

for (const { version } of Revisions.all) {
  it.layer(TestServer.layer(Registrations, { revision: version, server: { limits: { coalesce: Duration.zero } } }))(
    `on ${version}`,
    (it) => {
      it.effect("[SUB-01, SUB-11, RES-03] gives the changes that were asked for, and no others", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const touch = (kind: string, uri?: string) => client.call(Touch, uri === undefined ? { kind } : { kind, uri })
          const { changes, honoured } = yield* client.subscribe({ tools: true, uris: ["note://1"] })
          assert.deepInclude(honoured(), { tools: true, prompts: false, uris: ["note://1"] })
          yield* touch("prompts")
          yield* touch("resource", "note://2")
          yield* touch("resource", "note://1")
          yield* touch("tools")
          assert.deepStrictEqual(yield* take(changes, 2), [{ kind: "resource", uri: "note://1" }, { kind: "tools" }])
        }))

      it.effect("[STD-13] gives each subscription its own, and the others theirs", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const one = yield* client.subscribe({ uris: ["note://1"] })
          const both = yield* client.subscribe({ uris: ["note://1", "note://2"] })
          yield* Effect.scoped(client.subscribe({ uris: ["note://1"] }))
          yield* client.call(Touch, { kind: "resource", uri: "note://2" })
          yield* client.call(Touch, { kind: "resource", uri: "note://1" })
          assert.deepStrictEqual(yield* take(one.changes, 1), [{ kind: "resource", uri: "note://1" }])
          assert.deepStrictEqual(yield* take(both.changes, 2), [
            { kind: "resource", uri: "note://2" },
            { kind: "resource", uri: "note://1" }
          ])
        }))
    }
  )
}

describe("a subscription", () => {
  it.effect("[SUB-04] says what is honoured, and is not offered where that is nothing", () =>
    Effect.gen(function*() {
      const less = yield* make(modern({
        "subscriptions/listen": (request, server) =>
          Effect.as(
            Effect.orDie(server.notify("notifications/subscriptions/acknowledged", {
              notifications: request.params?.["nothing"] ?? { toolsListChanged: true },
              ...subscription(request.id)
            })),
            silence
          )
      }, everything))
      const client = yield* clientOf(less)
      const { honoured } = yield* client.subscribe({ tools: true, prompts: true, uris: ["a://1"] })
      assert.deepStrictEqual(honoured(), { tools: true, prompts: false, resources: false, uris: [] })
      const nothing = yield* make(modern({}, { tools: {} }))
      const other = yield* clientOf(nothing)
      assert.strictEqual(yield* tagOf(other.subscribe({ tools: true })), "NotOffered")
      assert.notInclude(nothing.methods(), "subscriptions/listen")
    }))

  it.effect("[LIF-09, field LIF-14] is not offered by an older server that announces nothing of it", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({}, { tools: { listChanged: false }, resources: {} }))
      const client = yield* clientOf(server)
      assert.strictEqual(yield* tagOf(client.subscribe({ tools: true, uris: ["a://1"] })), "NotOffered")
      assert.notInclude(server.methods(), "resources/subscribe")
    }))

  it.effect("fails when the server does not agree in time, and takes its request back", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({ "subscriptions/listen": silence }, everything), { kind: "stdio" })
      const client = yield* clientOf(server, { timeout: "10 seconds" })
      const subscribing = yield* Effect.forkChild(tagOf(client.subscribe({ tools: true })))
      yield* server.expect("subscriptions/listen")
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* Fiber.join(subscribing), "TimedOut")
      yield* server.expect("notifications/cancelled")
    }))

  it.effect("fails as the server refuses", () =>
    Effect.gen(function*() {
      const server = yield* stateful({ "resources/subscribe": ScriptedServer.error(-32002, "No such resource") })
      const client = yield* clientOf(server)
      assert.strictEqual(yield* tagOf(client.subscribe({ uris: ["a://1"] })), "Refused")
    }))

  it.effect("[SUB-05, STD-13] of 2026-07-28 takes what names it, and nothing else", () =>
    Effect.gen(function*() {
      const server = yield* listening()
      const client = yield* clientOf(server)
      const { changes } = yield* client.subscribe({ tools: true })
      const id = idOf(yield* server.expect("subscriptions/listen"))
      yield* server.notify("notifications/tools/list_changed", subscription(999))
      yield* server.notify("notifications/tools/list_changed", subscription(String(id)))
      yield* server.notify("notifications/tools/list_changed")
      yield* server.notify("notifications/tools/list_changed", subscription(id))
      assert.deepStrictEqual(yield* take(changes, 1), [{ kind: "tools" }])
      yield* settle
      const rest = yield* Effect.forkChild(take(changes, 1))
      yield* settle
      assert.isUndefined(rest.pollUnsafe())
    }))

  it.effect("ends with its scope, and so does its stream", () =>
    Effect.gen(function*() {
      const server = yield* listening({}, { kind: "stdio" })
      const client = yield* clientOf(server)
      const scope = yield* Scope.make()
      const { changes } = yield* Scope.provide(client.subscribe({ tools: true }), scope)
      const reading = yield* Effect.forkChild(Stream.runCollect(changes))
      yield* server.expect("subscriptions/listen")
      yield* Scope.close(scope, Exit.void)
      assert.deepStrictEqual(yield* Fiber.join(reading), [])
      yield* server.expect("notifications/cancelled")
    }))

  it.effect("[RES-03] shares one request of an older revision, which the last one takes back", () =>
    Effect.gen(function*() {
      const server = yield* stateful()
      const client = yield* clientOf(server)
      const scopes = yield* Effect.all([Scope.make(), Scope.make()])
      for (const scope of scopes) yield* Scope.provide(client.subscribe({ uris: ["a://1"] }), scope)
      const [first, second] = scopes
      yield* Scope.close(first, Exit.void)
      assert.deepStrictEqual(server.methods().filter((method) => method.startsWith("resources/")), [
        "resources/subscribe"
      ])
      yield* Scope.close(second, Exit.void)
      assert.deepStrictEqual(server.methods().filter((method) => method.startsWith("resources/")), [
        "resources/subscribe",
        "resources/unsubscribe"
      ])
      yield* Effect.scoped(client.subscribe({ uris: ["a://1"] }))
      assert.lengthOf(server.methods().filter((method) => method === "resources/subscribe"), 2)
    }))

  it.effect("[field SUB-02] keeps the newest changes for a reader that is behind", () =>
    Effect.gen(function*() {
      const server = yield* stateful()
      const client = yield* clientOf(server)
      const { changes } = yield* client.subscribe({ tools: true, uris: ["a://"] })
      for (let n = 0; n < 2000; n++) yield* server.notify("notifications/resources/updated", { uri: `a://${n}` })
      yield* settle
      const [oldest] = yield* take(changes, 1024)
      assert.deepStrictEqual(oldest, { kind: "resource", uri: "a://976" })
    }))
})

describe("a subscription whose connection is lost", () => {
  it.effect("[SUB-09, STD-16] is made again, and counts everything as changed", () =>
    Effect.gen(function*() {
      for (const start of [listening, stateful]) {
        const server = yield* start({}, { kind: "stdio" })
        const client = yield* clientOf(server, { reconnect: true })
        const { changes } = yield* client.subscribe({ tools: true, uris: ["a://1"] })
        const reading = yield* Effect.forkChild(take(changes, 2))
        yield* settle
        yield* server.hangUp
        assert.deepStrictEqual(yield* joined(reading), [{ kind: "tools" }, { kind: "resource", uri: "a://1" }])
        assert.strictEqual(server.connections().made, 2)
      }
    }))

  it.effect("fails at once where connections are not made again", () =>
    Effect.gen(function*() {
      for (const start of [listening, stateful]) {
        const server = yield* start({}, { kind: "stdio" })
        const client = yield* clientOf(server)
        const { changes } = yield* client.subscribe({ tools: true })
        const reading = yield* Effect.forkChild(tagOf(Stream.runDrain(changes)))
        yield* settle
        yield* server.hangUp
        assert.strictEqual(yield* Fiber.join(reading), "ConnectionLost")
      }
    }))

  it.effect("[field SHT-06] fails at once when the client is closed", () =>
    Effect.gen(function*() {
      for (const start of [listening, stateful]) {
        const server = yield* start()
        const scope = yield* Scope.make()
        const client = yield* Scope.provide(clientOf(server, { reconnect: true }), scope)
        const { changes } = yield* client.subscribe({ tools: true })
        const reading = yield* Effect.forkChild(tagOf(Stream.runDrain(changes)))
        yield* settle
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* Fiber.join(reading), "ConnectionLost")
      }
    }))

  it.effect("gives up after ten attempts in a row", () =>
    Effect.gen(function*() {
      let isGone = false
      const server = yield* make(modern({
        "server/discover": () => isGone ? ScriptedServer.hangUp : ScriptedServer.discovered(everything),
        "subscriptions/listen": (request, server) =>
          Effect.as(
            Effect.orDie(server.notify("notifications/subscriptions/acknowledged", {
              notifications: request.params?.["notifications"],
              ...subscription(request.id)
            })),
            silence
          )
      }))
      const client = yield* clientOf(server, { reconnect: true, revisions: ["2026-07-28"] })
      const { changes } = yield* client.subscribe({ tools: true })
      const reading = yield* Effect.forkChild(tagOf(Stream.runDrain(changes)))
      yield* settle
      isGone = true
      yield* server.hangUp
      for (let minute = 0; minute < 600 && reading.pollUnsafe() === undefined; minute++) {
        yield* settle
        yield* TestClock.adjust("10 seconds")
      }
      assert.strictEqual(yield* Fiber.join(reading), "NoCommonRevision")
    }))

  it.effect("[SUB-07, SUB-09] is asked for again when the server ended it in order", () =>
    Effect.gen(function*() {
      let listens = 0
      const server = yield* make(modern({
        "subscriptions/listen": (request, server) =>
          Effect.as(
            Effect.orDie(server.notify("notifications/subscriptions/acknowledged", {
              notifications: request.params?.["notifications"],
              ...subscription(request.id)
            })),
            ++listens === 1 ? result({ resultType: "complete", ...subscription(request.id) }) : silence
          )
      }, everything))
      const client = yield* clientOf(server)
      const { changes } = yield* client.subscribe({ prompts: true })
      const reading = yield* Effect.forkChild(take(changes, 1))
      assert.deepStrictEqual(yield* joined(reading), [{ kind: "prompts" }])
      assert.strictEqual(listens, 2)
      assert.strictEqual(server.connections().made, 1)
    }))
})

describe("logs", () => {
  it.effect("[LOG-02] asks an older server for a level, and asks again on a new session", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "logging/setLevel": result({}) }, { logging: {} }), { kind: "stdio" })
      const client = yield* clientOf(server, { reconnect: true })
      const reading = yield* Effect.forkChild(take(client.logs, 2))
      yield* settle
      yield* client.setLogLevel("warning")
      yield* server.notify("notifications/message", { level: "error", data: { disk: "full" }, logger: "fs" })
      yield* server.notify("notifications/message", { level: "loud", data: "?" })
      yield* settle
      yield* server.hangUp
      yield* settle
      yield* client.ping
      yield* server.notify("notifications/message", { level: "alert", data: "again" })
      assert.deepStrictEqual(yield* Fiber.join(reading), [
        { level: "error", data: { disk: "full" }, logger: "fs" },
        { level: "alert", data: "again" }
      ])
      const levels = server.received().filter((each) => "method" in each && each.method === "logging/setLevel")
      assert.deepStrictEqual(levels.map((each) => "params" in each && each.params), [{ level: "warning" }, {
        level: "warning"
      }])
    }))

  it.effect("[LOG-03] says with each request of 2026-07-28 which logs it wants", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({
        "tools/call": result({ resultType: "complete", content: [] })
      }, { tools: {}, logging: {} }))
      const client = yield* clientOf(server)
      const levelOf = (message: JsonRpc.Message) => {
        const meta = "params" in message ? message.params?.["_meta"] : undefined
        return Object(meta)["io.modelcontextprotocol/logLevel"]
      }
      yield* client.callTool("t")
      assert.isUndefined(levelOf(yield* server.expect("tools/call")))
      yield* client.setLogLevel("debug")
      yield* client.callTool("t")
      assert.strictEqual(levelOf(yield* server.expect("tools/call")), "debug")
      yield* client.callTool("t", {}, { meta: { "io.modelcontextprotocol/logLevel": "error" } })
      assert.strictEqual(levelOf(yield* server.expect("tools/call")), "error")
      assert.notInclude(server.methods(), "logging/setLevel")
    }))

  it.effect("[field RPC-08] takes any notification, and gives those of a method to who listens", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      const client = yield* clientOf(server)
      const reading = yield* Effect.forkChild(take(client.notifications(Methods.ToolsListChanged), 1))
      yield* settle
      yield* server.notify("notifications/vendor/unheard-of", { a: 1 })
      yield* server.notify("notifications/tools/list_changed")
      assert.lengthOf(yield* Fiber.join(reading), 1)
      yield* client.notifyRaw("notifications/vendor/other", { b: 2 })
      yield* server.expect("notifications/vendor/other")
    }))

  it.effect("[PNG-01, field HST-09] answers a ping of the server, and refuses what it has no handler for", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      yield* clientOf(server)
      yield* server.expect("notifications/initialized")
      yield* server.send({ jsonrpc: "2.0", id: "p", method: "ping" })
      yield* server.send({ jsonrpc: "2.0", id: "s", method: "sampling/createMessage", params: {} })
      const answer = (id: string) => server.expectMessage(id, (message) => !("method" in message) && message.id === id)
      assert.deepInclude(yield* answer("p"), { result: {} })
      assert.deepInclude(yield* answer("s"), {
        error: { code: -32601, message: "Method not found: sampling/createMessage" }
      })
    }))

  it.effect("[field RPC-05] outlives an error that names no request", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
      const server = yield* make(legacy())
      const client = yield* Effect.provide(clientOf(server), Logger.layer([logger]))
      yield* server.send({ jsonrpc: "2.0", error: { code: -32700, message: "Parse error" } })
      yield* client.ping
      assert.deepStrictEqual(lines, ["the other side could not read a message: -32700 Parse error"])
    }))
})

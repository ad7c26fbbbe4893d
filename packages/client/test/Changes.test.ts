/** What a subscription tells, and what it makes of servers that tell too much, too little, or go away. */
import { assert, describe, it } from "@effect/vitest"
import type { McpClient, Subscriptions } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, joined, legacy, modern, settle } from "./support/client.ts"

const { make, result, silence } = ScriptedServer

const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true } }
const key = "io.modelcontextprotocol/subscriptionId"
const tools = (...names: ReadonlyArray<string>) => ({
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  tools: names.map((name) => ({ name, inputSchema: { type: "object" } }))
})

/** Agrees to a listen request, to all of it or to less. */
const agreeing = (honoured?: JsonRpc.JsonObject) => (request: JsonRpc.Request, server: ScriptedServer.ScriptedServer) =>
  Effect.as(
    Effect.orDie(server.notify("notifications/subscriptions/acknowledged", {
      notifications: honoured ?? request.params?.["notifications"] ?? {},
      _meta: { [key]: request.id }
    })),
    silence
  )

const idOf = (message: JsonRpc.Message | undefined) =>
  message !== undefined && JsonRpc.isRequest(message) ? message.id : undefined

/** The id of the subscription, where there is one to tell apart from others. */
const listening = (server: ScriptedServer.ScriptedServer) =>
  idOf(server.received().findLast((message) => "method" in message && message.method === "subscriptions/listen"))

const changed = (server: ScriptedServer.ScriptedServer, id = listening(server)) =>
  server.notify("notifications/tools/list_changed", id === undefined ? {} : { _meta: { [key]: id } })

/** Lists the tools at each change, as a host does, and keeps what it saw. */
const following = Effect.fnUntraced(
  function*(client: McpClient.McpClient["Service"], self: Subscriptions.Subscription) {
    const seen: Array<ReadonlyArray<string>> = []
    yield* Effect.forkChild(
      Stream.runForEach(
        self.changes,
        () => Effect.map(client.tools, (listed) => void seen.push(listed.map(({ name }) => name)))
      )
    )
    return seen
  }
)

describe("on 2026-07-28", () => {
  it.effect("[SUB-04] what the server agreed to is told, also where it is less than was asked for", () =>
    Effect.gen(function*() {
      const server = yield* make(
        modern({ "subscriptions/listen": agreeing({ toolsListChanged: true }) }, capabilities)
      )
      const client = yield* clientOf(server)
      const { honoured } = yield* client.subscribe({ tools: true, prompts: true, uris: ["a:b"] })
      assert.deepStrictEqual(honoured(), { tools: true, prompts: false, resources: false, uris: [] })
    }))

  it.effect("[SUB-04] a server that agrees to nothing of it is a typed failure", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({ "subscriptions/listen": agreeing({}) }, capabilities))
      const client = yield* clientOf(server)
      const { reason } = yield* Effect.flip(Effect.scoped(client.subscribe({ tools: true })))
      assert.strictEqual(reason._tag, "NotOffered")
    }))

  it.effect("[SUB-09] a connection that was lost is listened on again, and what was missed counts as changed", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({ "subscriptions/listen": agreeing() }, capabilities), { kind: "stdio" })
      const client = yield* clientOf(server, { reconnect: true })
      const { changes } = yield* client.subscribe({ tools: true })
      yield* server.expect("subscriptions/listen")
      const fiber = yield* Effect.forkChild(Stream.runCollect(Stream.take(changes, 2)))
      yield* server.hangUp
      // Nobody sends a request meanwhile: the subscription itself brings the connection back.
      const again = yield* joined(yield* Effect.forkChild(server.expect("subscriptions/listen")))
      assert.strictEqual(server.connections().made, 2)
      yield* settle
      yield* changed(server, idOf(again))
      assert.deepStrictEqual(yield* Fiber.join(fiber), [{ kind: "tools" }, { kind: "tools" }])
    }))

  it.effect("[STD-13] [field SUB-06] notifications of another subscription, or of none, are not its own", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({ "subscriptions/listen": agreeing() }, capabilities))
      const client = yield* clientOf(server)
      const { changes } = yield* client.subscribe({ tools: true })
      const id = idOf(yield* server.expect("subscriptions/listen"))
      const fiber = yield* Effect.forkChild(Stream.runHead(changes))
      yield* server.notify("notifications/tools/list_changed")
      yield* changed(server, "another")
      yield* settle
      assert.isUndefined(fiber.pollUnsafe())
      yield* changed(server, id)
      yield* settle
      assert.isDefined(fiber.pollUnsafe())
    }))
})

describe("a host that lists at each change", () => {
  for (const [era, script] of [["legacy", legacy], ["modern", modern]] as const) {
    const start = Effect.fnUntraced(function*(list: ScriptedServer.Script[string]) {
      const server = yield* make(script({ "tools/list": list, "subscriptions/listen": agreeing() }, capabilities))
      const client = yield* clientOf(server)
      const self = yield* client.subscribe({ tools: true })
      return { server, seen: yield* following(client, self) }
    })
    const lists = (server: ScriptedServer.ScriptedServer) =>
      server.methods().filter((method) => method === "tools/list").length

    it.effect(`[field SUB-02] [field SUB-05] ${era}: a storm of changes makes it list a few times, one after the other, and the last state is seen`, () =>
      Effect.gen(function*() {
        let state = 0
        let running = 0
        let most = 0
        const { seen, server } = yield* start(() =>
          Effect.gen(function*() {
            most = Math.max(most, ++running)
            const now = state
            yield* Effect.sleep("50 millis")
            running--
            return result(tools(`state ${now}`))
          })
        )
        for (let i = 1; i <= 200; i++) {
          state = i
          yield* changed(server)
          yield* TestClock.adjust("500 micros")
        }
        yield* TestClock.adjust("1 second")
        yield* settle
        yield* TestClock.adjust("1 second")
        assert.isAtMost(lists(server), 4)
        assert.strictEqual(most, 1)
        assert.deepStrictEqual(seen.at(-1), ["state 200"])
      }))

    it.effect(`[field SUB-01] ${era}: a server that announces whenever it is listed is listed once for all of it, and then no more`, () =>
      Effect.gen(function*() {
        let rounds = 0
        const { seen, server } = yield* start((_, server) =>
          Effect.gen(function*() {
            if (++rounds <= 3) yield* Effect.repeat(Effect.orDie(changed(server)), { times: 19 })
            yield* Effect.sleep("50 millis")
            return result(tools(`round ${rounds}`))
          })
        )
        yield* changed(server)
        for (let i = 0; i < 40; i++) {
          yield* settle
          yield* TestClock.adjust("50 millis")
        }
        assert.strictEqual(lists(server), 4)
        assert.deepStrictEqual(seen.at(-1), ["round 4"])
      }))
  }
})

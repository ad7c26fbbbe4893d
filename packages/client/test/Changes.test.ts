/** What a host that follows a subscription makes of a server that tells too much. */
import { assert, describe, it } from "@effect/vitest"
import type { McpClient, Subscriptions } from "@mcpfx/client"
import { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, legacy, modern, settle } from "./support/client.ts"

const { make, result, silence } = ScriptedServer

const capabilities = { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true } }
const key = "io.modelcontextprotocol/subscriptionId"
const tools = (...names: ReadonlyArray<string>) => ({
  resultType: "complete",
  ttlMs: 0,
  cacheScope: "private",
  tools: names.map((name) => ({ name, inputSchema: { type: "object" } }))
})

/** Agrees to a listen request. */
const agreeing = (request: JsonRpc.Request, server: ScriptedServer.ScriptedServer) =>
  Effect.as(
    Effect.orDie(server.notify("notifications/subscriptions/acknowledged", {
      notifications: request.params?.["notifications"] ?? {},
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

describe("a host that lists at each change", () => {
  for (const [era, script] of [["legacy", legacy], ["modern", modern]] as const) {
    const start = Effect.fnUntraced(function*(list: ScriptedServer.Script[string]) {
      const server = yield* make(script({ "tools/list": list, "subscriptions/listen": agreeing }, capabilities))
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

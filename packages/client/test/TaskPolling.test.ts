/** Looking at tasks of servers that are not always there. */
import { assert, describe, it } from "@effect/vitest"
import { ClientElicitation } from "@mcpfx/client"
import { type JsonRpc, Task } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, joined, modern, reasonOf } from "./support/client.ts"

const task = (status: string, more: JsonRpc.JsonObject = {}): JsonRpc.JsonObject => ({
  taskId: "t",
  status,
  createdAt: "2026-01-01T00:00:00Z",
  lastUpdatedAt: "2026-01-01T00:00:00Z",
  ttlMs: 60_000,
  pollIntervalMs: 2000,
  ...more
})

const complete = (result: JsonRpc.JsonObject) => ScriptedServer.result({ resultType: "complete", ...result })

const capabilities = { tools: {}, extensions: { [Task.extensionId]: {} } }

/** A server that makes a task of each call, and whose looks go as `looks` says, the last one for ever. */
const serving = (
  looks: ReadonlyArray<ScriptedServer.Reply | (() => ScriptedServer.Reply)>,
  given: JsonRpc.JsonObject = capabilities
) => {
  let at = 0
  return ScriptedServer.make(modern({
    "tools/call": ScriptedServer.result({ resultType: "task", ...task("working") }),
    "tasks/get": () => {
      const look = looks[Math.min(at++, looks.length - 1)] ?? ScriptedServer.result({})
      return typeof look === "function" ? look() : look
    },
    "tasks/update": complete({}),
    "tasks/cancel": complete({})
  }, given))
}

const done = complete(task("completed", { result: { resultType: "complete", content: [] } }))

describe("looking at a task", () => {
  it.effect("[TKL-07] [TKX-12] looks no more often than the server says", () =>
    Effect.gen(function*() {
      const server = yield* serving([complete(task("working")), done])
      const client = yield* clientOf(server, { tasks: { listen: false } })
      const { wait } = yield* client.callTask("any")
      const looks = () => server.methods().filter((method) => method === "tasks/get").length
      const waiting = yield* Effect.forkChild(wait, { startImmediately: true })
      yield* TestClock.adjust(1999)
      assert.strictEqual(looks(), 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(looks(), 1)
      yield* TestClock.adjust(2000)
      assert.strictEqual(looks(), 2)
      assert.deepEqual((yield* joined(waiting)).content, [])
    }).pipe(Effect.scoped))

  it.effect("[TKX-09] [TKX-12] what the server has not taken in yet is not sent again before it is time to look", () =>
    Effect.gen(function*() {
      const requestedSchema = { type: "object", properties: {} }
      const ask = { method: "elicitation/create", params: { message: "Who?", requestedSchema } }
      const asking = complete(task("input_required", { inputRequests: { who: ask } }))
      const server = yield* serving([asking, asking, asking, done])
      let asked = 0
      const answers = ClientElicitation.layerForm(() =>
        Effect.sync(() => {
          asked++
          return ClientElicitation.accept()
        })
      )
      const client = yield* clientOf(server, { tasks: { listen: false } }).pipe(Effect.provide(answers))
      const count = (name: string) => server.methods().filter((method) => method === name).length
      const waiting = yield* Effect.forkChild(client.task("t").wait, { startImmediately: true })
      yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })
      assert.deepEqual([count("tasks/get"), count("tasks/update")], [2, 2])
      yield* TestClock.adjust(1999)
      assert.deepEqual([count("tasks/get"), count("tasks/update")], [2, 2])
      yield* TestClock.adjust(1)
      assert.deepEqual([count("tasks/get"), count("tasks/update")], [3, 3])
      yield* TestClock.adjust(2000)
      assert.deepEqual((yield* joined(waiting)).content, [])
      assert.strictEqual(asked, 1)
    }).pipe(Effect.scoped))

  it.effect("[TKX-12] a task that asks on and on is not looked at without a pause", () =>
    Effect.gen(function*() {
      let key = 0
      const server = yield* serving([() => {
        const params = { message: "And?", requestedSchema: { type: "object", properties: {} } }
        const inputRequests = { [`k${key++}`]: { method: "elicitation/create", params } }
        return complete(task("input_required", { inputRequests }))
      }])
      const answers = ClientElicitation.layerForm(() => Effect.succeed(ClientElicitation.accept()))
      const client = yield* clientOf(server, { tasks: { listen: false } }).pipe(Effect.provide(answers))
      yield* Effect.forkScoped(client.task("t").wait, { startImmediately: true })
      const rest = Effect.forEach(Array.from({ length: 500 }), () => Effect.yieldNow, { discard: true })
      yield* rest
      const before = key
      assert.isAtMost(before, 12)
      yield* rest
      assert.strictEqual(key, before)
      yield* TestClock.adjust(2000)
      yield* rest
      assert.isAbove(key, before)
      assert.isAtMost(key, before + 12)
    }).pipe(Effect.scoped))

  it.effect("[TKX-03] a server that did not announce the extension may not make tasks", () =>
    Effect.gen(function*() {
      const server = yield* serving([done], { tools: {} })
      const client = yield* clientOf(server, { tasks: true })
      const reason = yield* reasonOf(client.callTask("any"))
      assert.strictEqual(reason._tag, "NotOffered")
      const plain = yield* serving([done], { tools: {} })
      assert.strictEqual((yield* reasonOf(client.callTool("any")))._tag, "BadAnswer")
      const other = yield* clientOf(plain)
      const bad = yield* reasonOf(other.callTool("any"))
      assert.strictEqual(bad._tag, "BadAnswer")
    }).pipe(Effect.scoped))

  it.effect("[TKX-04] a task that does not say how it ended is a typed failure", () =>
    Effect.forEach(["completed", "failed"], (status) =>
      Effect.gen(function*() {
        const server = yield* serving([complete(task(status))])
        const client = yield* clientOf(server, { tasks: { listen: false } })
        const { wait } = yield* client.callTask("any")
        const waiting = yield* Effect.forkChild(Effect.flip(wait), { startImmediately: true })
        assert.strictEqual((yield* joined(waiting)).reason._tag, "BadAnswer")
      }).pipe(Effect.scoped)))
})

/** Looking at tasks of servers that are not always there. */
import { assert, describe, it } from "@effect/vitest"
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
const serving = (looks: ReadonlyArray<ScriptedServer.Reply>, given: JsonRpc.JsonObject = capabilities) => {
  let at = 0
  return ScriptedServer.make(modern({
    "tools/call": ScriptedServer.result({ resultType: "task", ...task("working") }),
    "tasks/get": () => looks[Math.min(at++, looks.length - 1)] ?? ScriptedServer.result({}),
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

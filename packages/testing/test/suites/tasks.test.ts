/** The tasks suite: handlers that run as tasks, written once, through the client on every revision and transport. */
import { assert, describe, layer } from "@effect/vitest"
import { ClientElicitation, McpClient, Negotiation } from "@mcpfx/client"
import * as Matrix from "@mcpfx/tooling/matrix"
import { Effect, Fiber, Layer, Stream } from "effect"
import { type Cell, cellsOf, since } from "./cells.ts"
import { Blend, Brew, Grind, Ground, info, registrations, Roast, Taste } from "./tasksRegistrations.ts"

const forms = ClientElicitation.layerForm(({ message }) =>
  Effect.succeed(ClientElicitation.accept({ name: message.replace("?", "") }))
)

const clientOf = (cell: Cell) =>
  McpClient.layer({
    revisions: [cell.revision],
    connectTimeout: "20 seconds",
    probeTimeout: "20 seconds",
    tasks: true
  }).pipe(
    Layer.provide(forms),
    Layer.provide(cell.layer),
    Layer.provide(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))
  )

const suite = (cell: Cell) => {
  const modern = cell.revision === "2026-07-28"
  const core = cell.revision === "2025-11-25"
  layer(clientOf(cell), { excludeTestServices: true, timeout: "60 seconds" })(
    `tasks, ${cell.revision}, ${cell.transport}`,
    (it) => {
      Matrix.track({ suite: "tasks", revision: cell.revision, transport: cell.transport })

      it.effect("[TKL-01] [TKX-15] is offered by the revisions that have it, in their own words", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const { capabilities } = yield* client.server
          assert.strictEqual(capabilities.tasks?.requests?.tools?.call !== undefined, core)
          assert.strictEqual(capabilities.tasks?.list !== undefined, core && cell.transport !== "http")
          assert.strictEqual(capabilities.extensions?.["io.modelcontextprotocol/tasks"] !== undefined, modern)
        }))

      it.effect("[TOL-08] [TOL-16] a plain call gives what it gives, however the server runs it", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          assert.deepEqual(yield* client.call(Brew, { cups: 2 }), { cups: 2 })
          assert.strictEqual((yield* Effect.flip(client.call(Brew, { cups: 0 })))._tag, "Empty")
          const { content } = yield* client.callTool("sip")
          assert.deepEqual(content, [{ type: "text", text: "sipped" }])
        }))

      it.effect("[TOL-23] [TKL-09] a tool that has to be a task is one, or is refused", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          if (core || modern) {
            assert.deepEqual((yield* client.callTool("roast")).content, [{ type: "text", text: "roasted" }])
            assert.deepEqual((yield* client.call(Roast)).content, [{ type: "text", text: "roasted" }])
            return
          }
          const { reason } = yield* Effect.flip(client.callTool("roast"))
          assert.deepInclude(reason, { _tag: "Refused", code: -32601 })
        }))

      it.effect("a call asks as ever, and a task asks in its own way: the handler is the same", () =>
        Effect.gen(function*() {
          if (!since(cell, "2025-06-18")) return
          const client = yield* McpClient.McpClient
          const text = [{ type: "text", text: "first, second, third" }] as const
          assert.deepEqual((yield* client.callTool("taste")).content, text)
          if (!core && !modern) return
          const task = yield* client.callTask(Taste)
          assert.isString(task.id)
          assert.deepEqual((yield* task.wait).content, text)
        }))

      if (!core && !modern) return

      it.effect("[TKL-02] [TKL-05] [TKX-04] a handle, its status, and its result, as often as one likes", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const task = yield* client.callTask(Brew, { cups: 3 }, { ttl: "1 minute" })
          const first = yield* task.status
          assert.include(["working", "completed"], first?.status)
          assert.strictEqual(first?.ttlMs, core ? 60_000 : 3_600_000)
          assert.deepEqual(yield* task.wait, { cups: 3 })
          assert.deepEqual(yield* task.wait, { cups: 3 })
          assert.deepEqual(yield* client.task(task.id ?? "", Brew).wait, { cups: 3 })
          assert.strictEqual((yield* task.status)?.statusMessage, "cup 3")
        }))

      it.effect("[TKL-08] [TKX-07] a failure of the tool is the tool's own, whatever its task is called", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const task = yield* client.callTask(Brew, { cups: 0 })
          assert.strictEqual((yield* Effect.flip(task.wait))._tag, "Empty")
          assert.strictEqual((yield* task.status)?.status, core ? "failed" : "completed")
        }))

      it.effect("[TKL-08] [TKX-09] cancels for good", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const key = `${cell.revision}/${cell.transport}`
          const task = yield* client.callTask(Grind, { key })
          const waiting = yield* Effect.forkChild(Effect.flip(task.wait), { startImmediately: true })
          yield* Stream.runDrain(Stream.takeUntil(task.changes, ({ statusMessage }) => statusMessage === "grinding"))
          yield* task.cancel
          const error = yield* Fiber.join(waiting)
          assert.strictEqual(error.reason._tag, "TaskCancelled")
          const { stopped } = yield* client.call(Ground, { key }).pipe(
            Effect.repeat({ until: ({ stopped }) => stopped, times: 200 })
          )
          assert.isTrue(stopped)
          assert.strictEqual((yield* task.status)?.status, "cancelled")
        }))

      it.effect("[TKL-07] shows how the task stands, to its end", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const task = yield* client.callTask(Brew, { cups: 5 })
          const changes = yield* Stream.runCollect(task.changes)
          assert.strictEqual(changes.at(-1)?.status, "completed")
          assert.deepEqual(new Set(changes.map(({ taskId }) => taskId)), new Set([task.id]))
        }))

      it.effect("[TKX-16] a call that becomes a task when it is told", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const { content } = yield* client.call(Blend)
          assert.deepEqual(content, [{ type: "text", text: `${modern ? "a task" : "a call"} for whose` }])
        }))

      it.effect("[TKL-10] lists its tasks where it can be told from others", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          if (core && cell.transport !== "http") {
            assert.isAbove((yield* client.tasks).length, 3)
            return
          }
          const { reason } = yield* Effect.flip(client.tasks)
          assert.strictEqual(reason._tag, "NotOffered")
        }))

      it.effect("[TKL-09] [TKX-10] knows no other tasks", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          for (const effect of [client.task("none").status, client.task("none").wait, client.task("none").cancel]) {
            const { reason } = yield* Effect.flip(Effect.asVoid(effect))
            assert.deepInclude(reason, { _tag: "Refused", code: -32602 })
          }
        }))

      it.effect("fifty tasks at once, each with its own result", () =>
        Effect.gen(function*() {
          const client = yield* McpClient.McpClient
          const results = yield* Effect.forEach(
            Array.from({ length: 50 }, (_, index) => index % 4 + 1),
            (cups) => Effect.flatMap(client.callTask(Brew, { cups }), (task) => task.wait),
            { concurrency: "unbounded" }
          )
          assert.deepEqual(results.map(({ cups }) => cups), Array.from({ length: 50 }, (_, index) => index % 4 + 1))
        }))
    }
  )
}

describe("the tasks suite", () => {
  for (const cell of cellsOf({ registrations, info, program: "./tasksServer.ts" })) suite(cell)
})

/** Tasks of 2025-11-25 with version 1 of the TypeScript SDK at the other end. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { McpClient } from "@mcpfx/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Layer } from "effect"
import { fileURLToPath } from "node:url"

const program = (name: string) => fileURLToPath(new URL(`../../src/interop/${name}`, import.meta.url))

const sdkClient = Effect.acquireRelease(
  Effect.promise(async () => {
    const client = new Client({ name: "sdk1", version: "1.0.0" }, { capabilities: { elicitation: { form: {} } } })
    client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { name: "Ada" } }))
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [program("tasksServer.ts")], stderr: "ignore" })
    )
    return client
  }),
  (client) => Effect.promise(() => client.close())
)

/** What a call as a task tells on its way. */
const told = (client: Client, name: string, args: Record<string, unknown>) =>
  Effect.promise(async () => {
    const stream = client.experimental.tasks.callToolStream({ name, arguments: args }, CallToolResultSchema, {
      task: { ttl: 60_000 }
    })
    const types: Array<string> = []
    let id = ""
    let text: string | undefined
    for await (const message of stream) {
      types.push(message.type)
      if (message.type === "taskCreated") id = message.task.taskId
      if (message.type === "error") text = message.error.message
      if (message.type === "result") {
        const [block] = message.result.content
        text = block?.type === "text" ? block.text : undefined
      }
    }
    return { id, text, types }
  })

describe("tasks with the TypeScript SDK, version 1", () => {
  it.live("[TKL-02] [TKL-05] [TKL-07] its client runs calls of our server as tasks", () =>
    Effect.gen(function*() {
      const client = yield* sdkClient
      const { id, text, types } = yield* told(client, "work", { millis: 100 })
      assert.strictEqual(text, "{\"slept\":100}")
      assert.deepEqual([types[0], types.at(-1)], ["taskCreated", "result"])
      const { status, ttl } = yield* Effect.promise(() => client.experimental.tasks.getTask(id))
      assert.deepEqual([status, ttl], ["completed", 60_000])
      const { tasks } = yield* Effect.promise(() => client.experimental.tasks.listTasks())
      assert.deepEqual(tasks.map(({ taskId }) => taskId), [id])
    }).pipe(Effect.scoped), 60_000)

  it.live("[TKL-06] its client answers what our task asks", () =>
    Effect.gen(function*() {
      const client = yield* sdkClient
      const { text } = yield* told(client, "ask", {})
      assert.strictEqual(text, "hello Ada")
    }).pipe(Effect.scoped), 60_000)

  it.live("[TKL-08] its client cancels a task of ours", () =>
    Effect.gen(function*() {
      const client = yield* sdkClient
      const cancelled = yield* Effect.promise(async () => {
        const stream = client.experimental.tasks.callToolStream(
          { name: "work", arguments: { millis: 60_000 } },
          CallToolResultSchema,
          { task: {} }
        )
        for await (const message of stream) {
          if (message.type === "taskCreated") return client.experimental.tasks.cancelTask(message.task.taskId)
        }
        return undefined
      })
      assert.strictEqual(cancelled?.status, "cancelled")
    }).pipe(Effect.scoped), 60_000)

  it.live("[TKL-05] [TKL-08] [TOL-23] our client runs calls of its server as tasks", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const task = yield* client.callTask("work", { millis: 50 }, { ttl: "1 minute" })
      assert.strictEqual((yield* task.status)?.ttlMs, 60_000)
      assert.deepEqual((yield* task.wait).content, [{ type: "text", text: "slept 50" }])
      assert.deepEqual((yield* client.callTool("work", { millis: 50 })).content, [{ type: "text", text: "slept 50" }])
      const failing = yield* client.callTask("work", { millis: 1, fails: true })
      assert.isTrue((yield* failing.wait).isError)
      const long = yield* client.callTask("work", { millis: 60_000 })
      yield* long.cancel
      assert.strictEqual((yield* Effect.flip(long.wait)).reason._tag, "TaskCancelled")
      assert.strictEqual((yield* client.tasks).length, 4)
    }).pipe(
      Effect.provide(
        McpClient.layerStdio({
          command: [process.execPath, program("sdk1TasksServer.ts")],
          revisions: ["2025-11-25"]
        }).pipe(Layer.provide(NodeServices.layer))
      )
    ), 60_000)
})

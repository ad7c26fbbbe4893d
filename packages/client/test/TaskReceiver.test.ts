/** Asks that run as tasks of the client, on 2025-11-25, in messages. */
import { assert, describe, it } from "@effect/vitest"
import { ClientElicitation, ClientSampling, McpClient, Negotiation } from "@mcpfx/client"
import { JsonRpc, McpError } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { ClientTransport } from "@mcpfx/transport"
import { Deferred, Effect, Exit, Layer } from "effect"
import { TestClock } from "effect/testing"
import { settle } from "./support/client.ts"

const setting = (asks = true) =>
  Effect.gen(function*() {
    const go = Deferred.makeUnsafe<void>()
    const seen = { interrupted: 0 }
    const handlers = Layer.mergeAll(
      ClientElicitation.layerForm(({ message }) =>
        message === "reject"
          ? Effect.die(new Error("secret detail"))
          : Effect.as(Deferred.await(go), ClientElicitation.accept({ name: "Ada" })).pipe(
            Effect.onInterrupt(() => Effect.sync(() => seen.interrupted++))
          )
      ),
      ClientSampling.layer(() => Effect.fail(new McpError.UserRejected()))
    )
    const server = yield* ScriptedServer.make({ initialize: ScriptedServer.initialized("2025-11-25", {}) })
    yield* Layer.build(
      McpClient.layer({ revisions: ["2025-11-25"], tasks: { asks } }).pipe(
        Layer.provide(handlers),
        Layer.provide(Layer.succeed(ClientTransport.ClientTransport, server.transport)),
        Layer.provide(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))
      )
    )
    const hello = yield* server.expect("initialize")
    let last = 0
    const ask = (method: string, params: JsonRpc.JsonObject) =>
      Effect.gen(function*() {
        const id = `ask-${++last}`
        yield* Effect.orDie(server.send(JsonRpc.request(id, method, params)))
        for (let turns = 0; turns < 100; turns++) {
          const answer = server.received().find((message) => JsonRpc.isResponse(message) && message.id === id)
          if (answer !== undefined && JsonRpc.isResponse(answer)) return answer
          yield* Effect.yieldNow
        }
        return yield* Effect.die(new Error(`no answer to ${method}`))
      })
    const result = (method: string, params: JsonRpc.JsonObject) =>
      Effect.map(ask(method, params), (answer) => JsonRpc.isFailure(answer) ? {} : answer.result)
    const form = (message: string, task: JsonRpc.JsonObject | undefined = {}) => ({
      message,
      requestedSchema: { type: "object", properties: { name: { type: "string" } } },
      ...(task === undefined ? {} : { task })
    })
    const begin = (message: string, task: JsonRpc.JsonObject = {}) =>
      Effect.map(result("elicitation/create", form(message, task)), (created): JsonRpc.JsonObject => {
        const made = created["task"]
        return typeof made === "object" && made !== null ? { ...made } : {}
      })
    return { ask, begin, form, go, hello, result, seen }
  })

const codeOf = (answer: JsonRpc.Response) => JsonRpc.isFailure(answer) ? answer.error.code : undefined

describe("tasks of a client", () => {
  it.effect("[TKL-01] declares them for what it can be asked, and only when it is told to", () =>
    Effect.gen(function*() {
      const { hello } = yield* setting()
      const capabilities = "params" in hello ? hello.params?.["capabilities"] : undefined
      assert.deepInclude(capabilities, {
        tasks: { list: {}, cancel: {}, requests: { sampling: { createMessage: {} }, elicitation: { create: {} } } }
      })
      const plain = yield* setting(false)
      const others = "params" in plain.hello ? plain.hello.params?.["capabilities"] : undefined
      assert.doesNotHaveAnyKeys(others, ["tasks"])
      // Whoever does not do tasks answers as ever.
      Deferred.doneUnsafe(plain.go, Exit.void)
      assert.deepInclude(yield* plain.result("elicitation/create", plain.form("who?", {})), { action: "accept" })
      assert.strictEqual(codeOf(yield* plain.ask("tasks/get", { taskId: "x" })), -32601)
    }).pipe(Effect.scoped))

  it.effect("[TKL-02] [TKL-05] answers at once with a task, and later with what it gave", () =>
    Effect.gen(function*() {
      const { begin, go, result } = yield* setting()
      const task = yield* begin("who?", { ttl: 5000 })
      assert.deepInclude(task, { status: "working", ttl: 5000, pollInterval: 1000 })
      const taskId = task["taskId"]
      assert.deepEqual(yield* result("tasks/get", { taskId }), task)
      assert.deepEqual((yield* result("tasks/list", {}))["tasks"], [task])
      Deferred.doneUnsafe(go, Exit.void)
      assert.deepEqual(yield* result("tasks/result", { taskId }), {
        action: "accept",
        content: { name: "Ada" },
        _meta: { "io.modelcontextprotocol/related-task": { taskId } }
      })
      assert.deepInclude(yield* result("tasks/get", { taskId }), { status: "completed" })
    }).pipe(Effect.scoped))

  it.effect("[TKL-08] cancels for good, and not what has ended", () =>
    Effect.gen(function*() {
      const { ask, begin, result, seen } = yield* setting()
      const { taskId } = yield* begin("who?")
      yield* settle
      assert.deepInclude(yield* result("tasks/cancel", { taskId }), { taskId, status: "cancelled" })
      yield* settle
      assert.strictEqual(seen.interrupted, 1)
      assert.strictEqual(codeOf(yield* ask("tasks/cancel", { taskId })), -32602)
      assert.strictEqual(codeOf(yield* ask("tasks/result", { taskId })), -32600)
    }).pipe(Effect.scoped))

  it.effect("[TKL-05] [TKL-09] gives the error that the ask gave, and knows no other tasks", () =>
    Effect.gen(function*() {
      const { ask, begin, result } = yield* setting()
      const rejected = yield* result("sampling/createMessage", { messages: [], maxTokens: 1, task: {} })
      const task = rejected["task"]
      const taskId = typeof task === "object" && task !== null && "taskId" in task ? task.taskId : undefined
      assert.strictEqual(codeOf(yield* ask("tasks/result", { taskId })), -1)
      const broken = yield* begin("reject")
      const answer = yield* ask("tasks/result", { taskId: broken["taskId"] })
      assert.strictEqual(codeOf(answer), -32603)
      assert.notInclude(JSON.stringify(answer), "secret")
      assert.deepInclude(yield* result("tasks/get", { taskId: broken["taskId"] }), { status: "failed" })
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        assert.strictEqual(codeOf(yield* ask(method, { taskId: "none" })), -32602, method)
      }
      assert.strictEqual(codeOf(yield* ask("tasks/list", { cursor: "made up" })), -32602)
    }).pipe(Effect.scoped))

  it.effect("[TKL-03] forgets a task when its time is over", () =>
    Effect.gen(function*() {
      const { ask, begin, seen } = yield* setting()
      const { taskId } = yield* begin("who?", { ttl: 2000 })
      yield* TestClock.adjust(2000)
      assert.strictEqual(codeOf(yield* ask("tasks/get", { taskId })), -32602)
      assert.strictEqual(seen.interrupted, 1)
    }).pipe(Effect.scoped))
})

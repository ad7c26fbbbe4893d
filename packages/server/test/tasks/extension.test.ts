/** The extension of tasks on 2026-07-28, in messages. */
import { assert, describe, it } from "@effect/vitest"
import { McpServer } from "@mcpfx/server"
import { Deferred, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { at, connect, type Json, overHttp, type Sent, serve } from "../protocol/harness.ts"
import { Bench, core, declaring, elicitation, idOf, modern, Plain, served, settle } from "./support.ts"

const missing = { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } }

const shown = (sent: Sent): Json => {
  const { result } = sent
  if (typeof result !== "object" || result === null) return {}
  const { _meta: _, ...rest } = { ...result } as Json
  return rest
}

const extensionClient = (bench: Bench, options: Partial<McpServer.Options> = {}) =>
  Effect.map(served(bench, options), (endpoint) => {
    const client = connect(endpoint, modern)
    const get = (taskId: string) => client.request("tasks/get", declaring({ taskId }))
    return { client, get }
  })

describe("the tasks extension of 2026-07-28", () => {
  it.effect("[TKX-15] [EXT-02] is announced where a tool may run as a task, and nowhere else", () =>
    Effect.gen(function*() {
      const { client } = yield* extensionClient(new Bench())
      const discovered = yield* client.request("server/discover")
      assert.deepEqual(at(discovered.result, "capabilities", "extensions"), { "io.modelcontextprotocol/tasks": {} })
      assert.isUndefined(at(discovered.result, "capabilities", "tasks"))
      const bare = connect(yield* serve(McpServer.tool(Plain, () => Effect.succeed("plain"))), modern)
      const other = yield* bare.request("server/discover")
      assert.isUndefined(at(other.result, "capabilities", "extensions"))
      assert.strictEqual((yield* bare.request("tasks/get", declaring({ taskId: "x" }))).code, -32601)
    }).pipe(Effect.scoped))

  it.effect("[TKX-04] [TKX-05] a call becomes a task that is there at once, flat, and `working`", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const { client, get } = yield* extensionClient(bench)
      const sent = yield* client.request("tools/call", declaring({ name: "job", arguments: { wait: 500 } }))
      const { resultType, ...task } = shown(sent)
      assert.strictEqual(resultType, "task")
      assert.deepInclude(task, { status: "working", ttlMs: 3_600_000, pollIntervalMs: 1000 })
      assert.deepEqual(shown(yield* get(idOf(sent))), { resultType: "complete", ...task })
      yield* TestClock.adjust(500)
      const done = shown(yield* get(idOf(sent)))
      assert.deepInclude(done, { status: "completed", resultType: "complete" })
      assert.deepEqual(done["result"], { content: [{ type: "text", text: "done" }], resultType: "complete" })
      assert.strictEqual(bench.scopes, 1)
    }).pipe(Effect.scoped))

  it.effect("[TKX-01] [TKX-10] runs as any other call where the client did not say that it knows tasks", () =>
    Effect.gen(function*() {
      const { client } = yield* extensionClient(new Bench())
      const plain = yield* client.request("tools/call", { name: "job" })
      assert.strictEqual(at(plain.result, "resultType"), "complete")
      // A wish in the words of 2025-11-25 means nothing here.
      const wish = yield* client.request("tools/call", declaring({ name: "plain", task: { ttl: 1000 } }))
      assert.strictEqual(at(wish.result, "resultType"), "complete")
    }).pipe(Effect.scoped))

  it.effect("[TKX-02] refuses with -32021 and status 400 what cannot be done without the extension", () =>
    Effect.gen(function*() {
      const client = overHttp(yield* served(new Bench()), modern)
      const must = client.start("tools/call", { name: "must" })
      assert.deepInclude(must.error, { code: -32021, data: missing })
      assert.strictEqual(must.rejected?.httpStatus, 400)
      for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
        const sent = client.start(method, { taskId: "x", inputResponses: {} })
        assert.deepInclude(sent.error, { code: -32021, data: missing }, method)
        assert.strictEqual(sent.rejected?.httpStatus, 400, method)
      }
      const listen = client.start("subscriptions/listen", { notifications: { taskIds: ["x"] } })
      assert.deepInclude(listen.error, { code: -32021, data: missing })
    }).pipe(Effect.scoped))

  it.effect("[TKX-10] has neither tasks/result nor tasks/list, and does not know tasks that are not there", () =>
    Effect.gen(function*() {
      const { client } = yield* extensionClient(new Bench())
      assert.strictEqual((yield* client.request("tasks/result", declaring({ taskId: "x" }))).code, -32601)
      assert.strictEqual((yield* client.request("tasks/list", declaring())).code, -32601)
      for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
        const sent = yield* client.request(method, declaring({ taskId: "x", inputResponses: {} }))
        assert.strictEqual(sent.code, -32602, method)
      }
    }).pipe(Effect.scoped))

  it.effect("[TKX-14] a task is nobody else's", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const principal = { issuer: "i", subject: "s", scopes: [], claims: {} }
      const mine = overHttp(endpoint, modern, { principal })
      const other = overHttp(endpoint, modern, { principal: { ...principal, clientId: "other" } })
      const id = idOf(yield* mine.request("tools/call", declaring({ name: "job" })))
      assert.isAtLeast(id.length, 32)
      yield* settle
      assert.strictEqual((yield* other.request("tasks/get", declaring({ taskId: id }))).code, -32602)
      assert.strictEqual((yield* other.request("tasks/cancel", declaring({ taskId: id }))).code, -32602)
      assert.isUndefined((yield* mine.request("tasks/get", declaring({ taskId: id }))).code)
    }).pipe(Effect.scoped))

  it.effect("[TKX-07] a tool that fails completes its task; an error of the call fails it", () =>
    Effect.gen(function*() {
      const { client, get } = yield* extensionClient(new Bench())
      const failing = yield* client.request("tools/call", declaring({ name: "failing" }))
      yield* settle
      const failed = shown(yield* get(idOf(failing)))
      assert.deepInclude(failed, { status: "completed", statusMessage: "broken: the pipe" })
      assert.strictEqual(at(failed, "result", "isError"), true)
      const refusing = yield* client.request("tools/call", declaring({ name: "refusing" }))
      yield* settle
      const refused = shown(yield* get(idOf(refusing)))
      assert.deepInclude(refused, { status: "failed", statusMessage: "not this one" })
      assert.deepEqual(refused["error"], { code: -32602, message: "not this one", data: { why: "because" } })
      assert.isUndefined(refused["result"])
      const dying = yield* client.request("tools/call", declaring({ name: "dying" }))
      yield* settle
      assert.deepEqual(shown(yield* get(idOf(dying)))["error"], { code: -32603, message: "Internal error" })
    }).pipe(Effect.scoped))

  it.effect("[TKX-08] [TKX-09] asks in the task, takes answers one by one, and leaves strange keys alone", () =>
    Effect.gen(function*() {
      const { client, get } = yield* extensionClient(new Bench())
      const id = idOf(yield* client.request("tools/call", declaring({ name: "asking" }, elicitation)))
      yield* settle
      const asking = shown(yield* get(id))
      assert.strictEqual(asking["status"], "input_required")
      assert.deepEqual(Object.keys({ ...Object(asking["inputRequests"]) }), ["first", "elicit-1"])
      assert.deepInclude(at(asking, "inputRequests", "first"), { method: "elicitation/create" })
      const update = (inputResponses: Json) => client.request("tasks/update", declaring({ taskId: id, inputResponses }))
      const wrong = yield* update({ first: { action: "perhaps" } })
      assert.strictEqual(wrong.code, -32602)
      const partial = yield* update({ first: { action: "accept", content: { name: "a" } }, strange: { x: 1 } })
      assert.deepEqual(shown(partial), { resultType: "complete" })
      const rest = shown(yield* get(id))
      assert.strictEqual(rest["status"], "input_required")
      assert.deepEqual(Object.keys({ ...Object(rest["inputRequests"]) }), ["elicit-1"])
      yield* update({ first: { action: "decline" }, "elicit-1": { action: "cancel" } })
      yield* settle
      const done = shown(yield* get(id))
      assert.strictEqual(done["status"], "completed")
      assert.strictEqual(
        at(done, "result", "content", 0, "text"),
        JSON.stringify([{ action: "accept", content: { name: "a" } }, { action: "cancel" }])
      )
      assert.deepEqual(shown(yield* update({ first: { action: "decline" } })), { resultType: "complete" })
    }).pipe(Effect.scoped))

  it.effect("[TKX-09] cancels with an empty word, as often as one likes", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const { client, get } = yield* extensionClient(bench)
      const id = idOf(yield* client.request("tools/call", declaring({ name: "job", arguments: { wait: 500 } })))
      yield* settle
      for (let times = 0; times < 2; times++) {
        assert.deepEqual(shown(yield* client.request("tasks/cancel", declaring({ taskId: id }))), {
          resultType: "complete"
        })
      }
      yield* settle
      assert.strictEqual(bench.interrupted, 1)
      assert.deepInclude(shown(yield* get(id)), { status: "cancelled" })
    }).pipe(Effect.scoped))

  it.effect("[TKX-13] progress is the status of the task; nothing else is told", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const { client, get } = yield* extensionClient(bench)
      const params = declaring({ name: "counting" })
      const sent = yield* client.request("tools/call", {
        ...params,
        _meta: { ...Object(params["_meta"]), progressToken: 1 }
      })
      yield* settle
      assert.deepInclude(shown(yield* get(idOf(sent))), { status: "working", statusMessage: "half" })
      assert.deepEqual([sent.pushed, client.wire?.unsolicited], [[], []])
    }).pipe(Effect.scoped))

  it.effect("[TKX-13] tells listeners how their tasks stand, and nobody of other tasks", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const { client } = yield* extensionClient(bench)
      const id = idOf(yield* client.request("tools/call", declaring({ name: "counting" })))
      const listen = client.start("subscriptions/listen", declaring({ notifications: { taskIds: [id, "none"] } }), "l")
      yield* settle
      assert.deepEqual(listen.pushed[0], {
        jsonrpc: "2.0",
        method: "notifications/subscriptions/acknowledged",
        params: { notifications: { taskIds: [id] }, _meta: { "io.modelcontextprotocol/subscriptionId": "l" } }
      })
      assert.deepInclude(listen.pushed[1], { method: "notifications/tasks" })
      assert.deepInclude(listen.pushed[1]?.["params"], {
        taskId: id,
        status: "working",
        _meta: { "io.modelcontextprotocol/subscriptionId": "l" }
      })
      yield* TestClock.adjust(1000)
      Deferred.doneUnsafe(bench.go, Exit.void)
      yield* TestClock.adjust(1000)
      assert.deepInclude(listen.pushed.at(-1)?.["params"], { status: "completed" })
      assert.strictEqual(at(listen.pushed.at(-1), "params", "result", "content", 0, "text"), "counted")
      assert.isFalse(listen.closed)
      listen.disconnect()
    }).pipe(Effect.scoped))

  it.effect("[TKX-14] a task of the other dialect can be looked up, in the words of this one", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const old = connect(endpoint, core)
      const id = idOf(old.start("tools/call", { name: "failing", task: { ttl: 7000 } }))
      yield* settle
      const client = connect(endpoint, modern)
      const got = shown(yield* client.request("tasks/get", declaring({ taskId: id })))
      assert.deepInclude(got, { status: "completed", ttlMs: 7000 })
      assert.isUndefined(at(got, "result", "_meta", "io.modelcontextprotocol/related-task"))
    }).pipe(Effect.scoped))
})

/** Tasks of 2025-11-25, in messages. */
import { assert, describe, it } from "@effect/vitest"
import { McpServer } from "@mcpfx/server"
import { Deferred, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { at, overHttp, serve } from "../protocol/harness.ts"
import { Bench, connected, core, coreClient, elicitation, idOf, Plain, served, settle, taskOf } from "./support.ts"

describe("tasks of 2025-11-25", () => {
  it.effect("[TKL-01] [TKX-15] announces what it does, and nothing where no tool may run as a task", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const { hello } = connected(endpoint, core)
      assert.deepEqual(at(hello?.result, "capabilities", "tasks"), {
        list: {},
        cancel: {},
        requests: { tools: { call: {} } }
      })
      assert.isUndefined(at(hello?.result, "capabilities", "extensions"))
      assert.isUndefined(at(connected(endpoint, "2025-06-18").hello?.result, "capabilities", "tasks"))
      const bare = yield* serve(McpServer.tool(Plain, () => Effect.succeed("plain")))
      const other = connected(bare, core)
      assert.isUndefined(at(other.hello?.result, "capabilities", "tasks"))
      assert.strictEqual(other.client.start("tasks/get", { taskId: "x" }).code, -32601)
      // Whoever does not do tasks runs the call as any other.
      assert.isDefined(at(other.client.start("tools/call", { name: "plain", task: {} }).result, "content"))
    }).pipe(Effect.scoped))

  it.effect("[TKL-10] offers no list where callers cannot be told apart", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const nobody = overHttp(endpoint, core)
      const hello = nobody.hello()
      assert.deepEqual(at(hello?.result, "capabilities", "tasks"), { cancel: {}, requests: { tools: { call: {} } } })
      assert.strictEqual((yield* nobody.request("tasks/list")).code, -32601)
      const principal = { issuer: "i", subject: "s", scopes: [], claims: {} }
      const somebody = overHttp(endpoint, core, { principal })
      assert.isDefined(at(somebody.hello()?.result, "capabilities", "tasks", "list"))
      const id = idOf(somebody.start("tools/call", { name: "job", task: {} }))
      const other = overHttp(endpoint, core, { principal: { ...principal, subject: "t" } })
      other.hello()
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        assert.strictEqual((yield* other.request(method, { taskId: id })).code, -32602, method)
      }
      assert.deepEqual(at((yield* other.request("tasks/list")).result, "tasks"), [])
      assert.strictEqual(at((yield* somebody.request("tasks/list")).result, "tasks", 0, "taskId"), id)
    }).pipe(Effect.scoped))

  it.effect("[TKL-02] [TKL-03] [HST-03] answers at once with the task, which works", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = yield* coreClient(bench)
      const sent = client.start("tools/call", { name: "job", arguments: { wait: 5000 }, task: { ttl: 60_000 } })
      const task = taskOf(sent)
      assert.deepInclude(task, { status: "working", ttl: 60_000, pollInterval: 1000 })
      assert.strictEqual(task["createdAt"], "1970-01-01T00:00:00.000Z")
      assert.isUndefined(at(sent.result, "resultType"))
      assert.strictEqual(
        at(sent.result, "_meta", "io.modelcontextprotocol/model-immediate-response"),
        "It takes a while."
      )
      assert.strictEqual(bench.started, 0, "the answer comes before the handler begins")
      yield* settle
      assert.strictEqual(bench.started, 1)
      const got = yield* client.request("tasks/get", { taskId: idOf(sent) })
      assert.deepEqual(got.result, task)
    }).pipe(Effect.scoped))

  it.effect("[TKL-05] tasks/result waits for the end, and gives the result of the call", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = yield* coreClient(bench)
      const id = idOf(client.start("tools/call", { name: "job", arguments: { wait: 5000 }, task: {} }))
      const waiting = client.start("tasks/result", { taskId: id })
      yield* TestClock.adjust(4999)
      assert.isFalse(waiting.closed)
      yield* TestClock.adjust(1)
      assert.deepEqual(waiting.result, {
        content: [{ type: "text", text: "done" }],
        _meta: { "io.modelcontextprotocol/related-task": { taskId: id } }
      })
      assert.strictEqual(bench.scopes, 1)
      const got = yield* client.request("tasks/get", { taskId: id })
      assert.deepInclude(got.result, { status: "completed", lastUpdatedAt: "1970-01-01T00:00:05.000Z" })
      assert.isUndefined(at(got.result, "result"))
      assert.deepEqual((yield* client.request("tasks/result", { taskId: id })).result, waiting.result)
    }).pipe(Effect.scoped))

  it.effect("[TKL-08] a result that says that the tool failed fails the task, with the reason", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench())
      const id = idOf(client.start("tools/call", { name: "failing", task: {} }))
      const result = yield* client.request("tasks/result", { taskId: id })
      assert.deepInclude(result.result, { isError: true })
      const got = yield* client.request("tasks/get", { taskId: id })
      assert.deepInclude(got.result, { status: "failed", statusMessage: "broken: the pipe" })
    }).pipe(Effect.scoped))

  it.effect("[TKL-05] an error of the call is the error of tasks/result; a defect says nothing", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench())
      const refused = idOf(client.start("tools/call", { name: "refusing", task: {} }))
      const result = yield* client.request("tasks/result", { taskId: refused })
      assert.deepEqual(result.error, { code: -32602, message: "not this one", data: { why: "because" } })
      const died = idOf(client.start("tools/call", { name: "dying", task: {} }))
      const broken = yield* client.request("tasks/result", { taskId: died })
      assert.deepEqual(broken.error, { code: -32603, message: "Internal error" })
      const got = yield* client.request("tasks/get", { taskId: died })
      assert.deepInclude(got.result, { status: "failed", statusMessage: "Internal error" })
    }).pipe(Effect.scoped))

  it.effect("[TKL-09] [TOL-23] keeps to what the tool says about tasks", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench())
      assert.strictEqual(client.start("tools/call", { name: "must" }).code, -32601)
      assert.strictEqual(client.start("tools/call", { name: "plain", task: {} }).code, -32601)
      assert.isDefined(at(client.start("tools/call", { name: "plain" }).result, "content"))
      const list = yield* client.request("tools/list")
      const tools = at(list.result, "tools")
      const supports = Array.isArray(tools)
        ? Object.fromEntries(tools.map((tool) => [at(tool, "name"), at(tool, "execution", "taskSupport")]))
        : {}
      assert.deepInclude(supports, { job: "optional", must: "required", plain: undefined })
    }).pipe(Effect.scoped))

  it.effect("[TKL-08] cancels a task for good, and refuses to cancel one that has ended", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = yield* coreClient(bench)
      const id = idOf(client.start("tools/call", { name: "job", arguments: { wait: 5000 }, task: {} }))
      yield* settle
      const cancelled = yield* client.request("tasks/cancel", { taskId: id })
      assert.deepInclude(cancelled.result, { taskId: id, status: "cancelled" })
      yield* settle
      assert.strictEqual(bench.interrupted, 1)
      assert.strictEqual((yield* client.request("tasks/cancel", { taskId: id })).code, -32602)
      assert.strictEqual((yield* client.request("tasks/result", { taskId: id })).code, -32600)
      yield* TestClock.adjust(10_000)
      assert.deepInclude((yield* client.request("tasks/get", { taskId: id })).result, { status: "cancelled" })
    }).pipe(Effect.scoped))

  it.effect("[TKL-08] a handler that does not end when it is told to does not change what was said", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = yield* coreClient(bench)
      const id = idOf(client.start("tools/call", { name: "stubborn", task: {} }))
      yield* settle
      const cancelled = yield* client.request("tasks/cancel", { taskId: id })
      assert.deepInclude(cancelled.result, { status: "cancelled" })
      Deferred.doneUnsafe(bench.go, Exit.void)
      yield* settle
      assert.deepInclude((yield* client.request("tasks/get", { taskId: id })).result, { status: "cancelled" })
    }).pipe(Effect.scoped))

  it.effect("[TKL-09] refuses tasks and cursors it does not know", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench())
      for (const method of ["tasks/get", "tasks/result", "tasks/cancel"]) {
        assert.strictEqual((yield* client.request(method, { taskId: "none" })).code, -32602, method)
      }
      assert.strictEqual((yield* client.request("tasks/list", { cursor: "made up" })).code, -32602)
    }).pipe(Effect.scoped))

  it.effect("[TKL-10] lists the tasks of the caller, page by page", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench(), { pageSize: 2 })
      const ids: Array<string> = []
      for (let n = 0; n < 5; n++) {
        ids.push(idOf(client.start("tools/call", { name: "job", task: {} })))
        yield* TestClock.adjust(1)
      }
      const seen: Array<unknown> = []
      let cursor: unknown
      do {
        const page = yield* client.request("tasks/list", cursor === undefined ? {} : { cursor })
        const tasks = at(page.result, "tasks")
        if (Array.isArray(tasks)) seen.push(...tasks.map((task) => at(task, "taskId")))
        cursor = at(page.result, "nextCursor")
      } while (cursor !== undefined)
      assert.deepEqual(seen, ids)
    }).pipe(Effect.scoped))

  it.effect("[TKL-06] asks on the stream of tasks/result, and says for which task", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const { client } = connected(endpoint, core, elicitation)
      const id = idOf(client.start("tools/call", { name: "asking", task: {} }))
      yield* settle
      const status = () => Effect.map(client.request("tasks/get", { taskId: id }), (got) => at(got.result, "status"))
      assert.strictEqual(yield* status(), "input_required")
      const waiting = client.start("tasks/result", { taskId: id })
      yield* settle
      assert.strictEqual(waiting.pushed.length, 2)
      const [first, second] = waiting.pushed
      assert.deepInclude(first, { method: "elicitation/create" })
      assert.deepEqual(at(first, "params", "_meta", "io.modelcontextprotocol/related-task"), { taskId: id })
      client.raw({ jsonrpc: "2.0", id: at(first, "id"), result: { action: "accept", content: { name: "a" } } })
      yield* settle
      assert.strictEqual(yield* status(), "input_required")
      client.raw({ jsonrpc: "2.0", id: at(second, "id"), result: { action: "decline" } })
      yield* settle
      assert.deepEqual(
        at(waiting.result, "content", 0, "text"),
        JSON.stringify([
          { action: "accept", content: { name: "a" } },
          { action: "decline" }
        ])
      )
      assert.strictEqual(yield* status(), "completed")
    }).pipe(Effect.scoped))

  it.effect("[TKL-06] the newest tasks/result takes over what an older one asks", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const { client } = connected(endpoint, core, elicitation)
      const id = idOf(client.start("tools/call", { name: "asking", task: {} }))
      yield* settle
      const older = client.start("tasks/result", { taskId: id })
      yield* settle
      const newer = client.start("tasks/result", { taskId: id })
      yield* settle
      assert.strictEqual(newer.pushed.length, 2)
      assert.deepEqual(
        older.pushed.slice(2).map((message) => message["method"]),
        ["notifications/cancelled", "notifications/cancelled"]
      )
      for (const message of newer.pushed) {
        client.raw({ jsonrpc: "2.0", id: message["id"], result: { action: "cancel" } })
      }
      yield* settle
      assert.isTrue(older.closed && newer.closed)
    }).pipe(Effect.scoped))

  it.effect("[TKL-06] and gives it back when it ends before", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const { client } = connected(endpoint, core, elicitation)
      const id = idOf(client.start("tools/call", { name: "asking", task: {} }))
      yield* settle
      const older = client.start("tasks/result", { taskId: id })
      client.start("tasks/result", { taskId: id }, "newer")
      yield* settle
      const before = older.pushed.length
      client.notify("notifications/cancelled", { requestId: "newer" })
      yield* settle
      const again = older.pushed.slice(before).filter(({ method }) => method === "elicitation/create")
      assert.strictEqual(again.length, 2)
    }).pipe(Effect.scoped))

  it.effect("[CAN-06] cancelling the request that waits leaves the task alone, and its questions open", () =>
    Effect.gen(function*() {
      const endpoint = yield* served(new Bench())
      const { client } = connected(endpoint, core, elicitation)
      const id = idOf(client.start("tools/call", { name: "asking", task: {} }))
      yield* settle
      const waiting = client.start("tasks/result", { taskId: id }, "waiting")
      yield* settle
      client.notify("notifications/cancelled", { requestId: "waiting" })
      yield* settle
      assert.isTrue(waiting.ended)
      const again = client.start("tasks/result", { taskId: id })
      yield* settle
      assert.strictEqual(again.pushed.length, 2)
    }).pipe(Effect.scoped))

  it.effect("[TKL-03] a client that cannot be asked is not: the handler is told", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench())
      const id = idOf(client.start("tools/call", { name: "asking", task: {} }))
      const result = yield* client.request("tasks/result", { taskId: id })
      assert.deepInclude(result.result, { isError: true })
    }).pipe(Effect.scoped))

  it.effect("[PRG-07] progress goes on under the token of the call, and says for which task", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = yield* coreClient(bench)
      const id = idOf(client.start("tools/call", { name: "counting", task: {}, _meta: { progressToken: "p" } }))
      yield* settle
      const told = () => client.wire?.unsolicited.filter((each) => each["method"] === "notifications/progress") ?? []
      assert.deepInclude(told()[0], {
        params: {
          progressToken: "p",
          progress: 1,
          total: 2,
          message: "half",
          _meta: { "io.modelcontextprotocol/related-task": { taskId: id } }
        }
      })
      assert.deepInclude((yield* client.request("tasks/get", { taskId: id })).result, { statusMessage: "half" })
      const waiting = client.start("tasks/result", { taskId: id })
      yield* TestClock.adjust(1000)
      assert.strictEqual(waiting.pushed.length, 1, "the stream of who waits is nearer")
      assert.deepInclude((yield* client.request("tasks/get", { taskId: id })).result, { statusMessage: "2 of 2" })
      Deferred.doneUnsafe(bench.go, Exit.void)
      yield* settle
      assert.isTrue(waiting.closed)
    }).pipe(Effect.scoped))

  it.effect("[TKL-07] tells of a change of status, for those who like to hear of it", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench())
      const id = idOf(client.start("tools/call", { name: "job", arguments: { wait: 10 }, task: {} }))
      yield* TestClock.adjust(10)
      const notices = client.wire?.unsolicited.filter((each) => each["method"] === "notifications/tasks/status") ?? []
      assert.strictEqual(notices.length, 1)
      assert.deepInclude(notices[0]?.["params"], { taskId: id, status: "completed", pollInterval: 1000 })
      assert.isUndefined(at(notices[0], "params", "_meta"))
    }).pipe(Effect.scoped))

  it.effect("[TKL-03] forgets a task when its time is over, and ends its handler", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = yield* coreClient(bench)
      const running = idOf(
        client.start("tools/call", { name: "job", arguments: { wait: 90_000 }, task: { ttl: 5000 } })
      )
      const done = idOf(client.start("tools/call", { name: "job", task: { ttl: 5000 } }))
      const waiting = client.start("tasks/result", { taskId: running })
      yield* TestClock.adjust(4999)
      assert.deepInclude((yield* client.request("tasks/get", { taskId: done })).result, { status: "completed" })
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* client.request("tasks/get", { taskId: done })).code, -32602)
      assert.strictEqual((yield* client.request("tasks/get", { taskId: running })).code, -32602)
      assert.strictEqual(waiting.code, -32602)
      assert.strictEqual(bench.interrupted, 1)
      assert.deepEqual(at((yield* client.request("tasks/list")).result, "tasks"), [])
    }).pipe(Effect.scoped))

  it.effect("[TKL-03] grants no more time than the limit, and no less than makes sense", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench())
      const ttl = (task: { readonly ttl?: number }) => taskOf(client.start("tools/call", { name: "job", task }))["ttl"]
      assert.strictEqual(ttl({ ttl: 10 ** 12 }), 86_400_000)
      assert.strictEqual(ttl({ ttl: -5 }), 1000)
      assert.strictEqual(ttl({}), 3_600_000)
    }).pipe(Effect.scoped))

  it.effect("[TKL-03] goes on when the client has gone and its session is over", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const endpoint = yield* served(bench)
      const first = connected(endpoint, core).client
      const id = idOf(first.start("tools/call", { name: "job", arguments: { wait: 1000 }, task: {} }))
      yield* settle
      first.wire?.close()
      yield* settle
      assert.strictEqual(bench.interrupted, 0)
      yield* TestClock.adjust(1000)
      const second = connected(endpoint, core).client
      assert.deepInclude((yield* second.request("tasks/get", { taskId: id })).result, { status: "completed" })
    }).pipe(Effect.scoped))

  it.effect("refuses more tasks than the limits allow, and names the limit", () =>
    Effect.gen(function*() {
      const client = yield* coreClient(new Bench(), { limits: { tasks: 3, tasksPerPrincipal: 2 } })
      const call = () => client.start("tools/call", { name: "job", arguments: { wait: 1000 }, task: {} })
      call()
      call()
      assert.deepInclude(call().error, { data: { limit: "tasksPerPrincipal" } })
      yield* TestClock.adjust(1000)
      assert.isDefined(at(call().result, "task"))
      assert.deepInclude(call().error, { data: { limit: "tasks" } })
    }).pipe(Effect.scoped))
})

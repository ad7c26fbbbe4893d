/** Calls that become tasks when their handler says so. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { at, connect, type Json, type Sent } from "../protocol/harness.ts"
import { Bench, connected, core, declaring, elicitation, idOf, modern, served, settle } from "./support.ts"

const answerTo = (sent: Sent): Json => {
  const [key = ""] = Object.keys({ ...Object(at(sent.result, "inputRequests")) })
  return {
    inputResponses: { [key]: { action: "accept", content: { name: "Ada" } } },
    requestState: at(sent.result, "requestState")
  }
}

describe("calls that become tasks when told", () => {
  it.effect("[TKX-16] asks in rounds until it is a task, then in the task", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = connect(yield* served(bench), modern)
      const call = (more: Json = {}) =>
        client.request("tools/call", declaring({ name: "rebuild", arguments: {}, ...more }, elicitation))
      const asked = yield* call()
      assert.strictEqual(at(asked.result, "resultType"), "input_required")
      assert.isUndefined(at(asked.result, "taskId"))
      assert.strictEqual(bench.scopes, 1, "the first pass has ended")
      const created = yield* call(answerTo(asked))
      assert.strictEqual(at(created.result, "resultType"), "task")
      assert.isUndefined(at(created.result, "requestState"))
      const id = idOf(created)
      assert.strictEqual(bench.scopes, 1, "the second goes on")
      yield* settle
      const get = client.request("tasks/get", declaring({ taskId: id }))
      assert.strictEqual(at((yield* get).result, "status"), "input_required")
      yield* client.request(
        "tasks/update",
        declaring({ taskId: id, inputResponses: { "elicit-1": { action: "decline" } } })
      )
      yield* TestClock.adjust(1000)
      const done = yield* get
      assert.strictEqual(at(done.result, "status"), "completed")
      assert.strictEqual(
        at(done.result, "result", "content", 0, "text"),
        `${id} for Ada {"action":"decline"}`
      )
      assert.strictEqual(bench.scopes, 2)
      assert.strictEqual(bench.started, 2)
    }).pipe(Effect.scoped))

  it.effect("[TKX-01] is a result where it ends before", () =>
    Effect.gen(function*() {
      const client = connect(yield* served(new Bench()), modern)
      const call = (more: Json = {}) =>
        client.request(
          "tools/call",
          declaring({ name: "rebuild", arguments: { detach: false }, ...more }, elicitation)
        )
      const done = yield* call(answerTo(yield* call()))
      assert.strictEqual(at(done.result, "content", 0, "text"), "at once for Ada")
      assert.strictEqual(at(done.result, "resultType"), "complete")
    }).pipe(Effect.scoped))

  it.effect("[CAN-03] is cancelled like any call before, and left alone after", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = connect(yield* served(bench), modern)
      const waits = declaring({ name: "rebuild", arguments: {} }, elicitation)
      const asked = yield* client.request("tools/call", waits)
      const before = bench.interrupted
      const sent = yield* client.request("tools/call", { ...waits, ...answerTo(asked) })
      client.notify("notifications/cancelled", { requestId: 102 })
      sent.disconnect()
      yield* settle
      assert.strictEqual(bench.interrupted, before)
      yield* client.request("tasks/cancel", declaring({ taskId: idOf(sent) }))
      yield* settle
      assert.strictEqual(bench.interrupted, before + 1)
    }).pipe(Effect.scoped))

  it.effect("[TKX-01] goes on as a call where the client knows no tasks", () =>
    Effect.gen(function*() {
      const client = connect(yield* served(new Bench()), modern)
      const meta = { _meta: { "io.modelcontextprotocol/clientCapabilities": elicitation } }
      const call = { name: "rebuild", arguments: {}, ...meta }
      const asked = yield* client.request("tools/call", call)
      const again = yield* client.request("tools/call", { ...call, ...answerTo(asked) })
      assert.strictEqual(at(again.result, "resultType"), "input_required", "it asks in rounds to its end")
    }).pipe(Effect.scoped))

  it.effect("is refused where there is no room for a task, and its handler ends", () =>
    Effect.gen(function*() {
      const bench = new Bench()
      const client = connect(yield* served(bench, { limits: { tasks: 0 } }), modern)
      const call = (more: Json = {}) =>
        client.request("tools/call", declaring({ name: "rebuild", arguments: {}, ...more }, elicitation))
      const refused = yield* call(answerTo(yield* call()))
      assert.deepInclude(refused.error, { data: { limit: "tasks" } })
      yield* settle
      assert.strictEqual(bench.scopes, 2)
    }).pipe(Effect.scoped))

  it.effect("is a task at once on 2025-11-25, with its questions in it", () =>
    Effect.gen(function*() {
      const { client } = connected(yield* served(new Bench()), core, elicitation)
      const id = idOf(client.start("tools/call", { name: "rebuild", arguments: {}, task: {} }))
      yield* settle
      const got = yield* client.request("tasks/get", { taskId: id })
      assert.deepInclude(got.result, { status: "input_required" })
    }).pipe(Effect.scoped))
})

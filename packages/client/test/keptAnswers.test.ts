/** Answers of 2026-07-28 that are used again. */
import { assert, describe, it } from "@effect/vitest"
import { type JsonRpc, Resource } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { ScriptedServer, TestHttp } from "@mcpfx/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, legacy, modern, namesOf, reasonOf, settle, tool } from "./support/client.ts"

const { make, result } = ScriptedServer

describe("kept answers", () => {
  const hints = (ttlMs: number, cacheScope = "private") => ({ resultType: "complete", ttlMs, cacheScope })
  const counting = (answer: JsonRpc.JsonObject) => {
    const count = { sent: 0 }
    return { count, reply: () => (count.sent++, result(answer)) }
  }

  it.effect("[CCH-06] are used for as long as the server says, and not longer", () =>
    Effect.gen(function*() {
      const { count, reply } = counting({ tools: [tool("a")], ...hints(1000) })
      const client = yield* clientOf(yield* make(modern({ "tools/list": reply }, { tools: {} })))
      yield* client.tools
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual(namesOf(yield* client.tools), ["a"])
      assert.strictEqual(count.sent, 1)
      yield* TestClock.adjust("1 millis")
      yield* client.tools
      assert.strictEqual(count.sent, 2)
    }))

  for (
    const [what, answer] of Object.entries({
      "zero": hints(0),
      "negative": hints(-5),
      "absent": { resultType: "complete" }
    })
  ) {
    it.effect(`[CCH-06] are not kept when the time is ${what}`, () =>
      Effect.gen(function*() {
        const { count, reply } = counting({ tools: [], ...answer })
        const client = yield* clientOf(yield* make(modern({ "tools/list": reply }, { tools: {} })))
        yield* client.tools
        yield* client.tools
        assert.strictEqual(count.sent, 2)
      }))
  }

  it.effect("[CCH-03] are kept apart by method and params", () =>
    Effect.gen(function*() {
      const read = counting({ contents: [{ uri: "a://1", text: "one" }], ...hints(1000) })
      const client = yield* clientOf(yield* make(modern({ "resources/read": read.reply }, { resources: {} })))
      yield* client.readResource("a://1")
      yield* client.readResource("a://1")
      yield* client.readResource("a://2")
      assert.strictEqual(read.count.sent, 2)
    }))

  it.effect("[CCH-03] are not used for requests with headers or _meta of their own", () =>
    Effect.gen(function*() {
      const read = counting({ contents: [{ uri: "a://1", text: "one" }], ...hints(1000) })
      const client = yield* clientOf(yield* make(modern({ "resources/read": read.reply }, { resources: {} })))
      yield* client.readResource("a://1")
      yield* client.readResource("a://1", { headers: { authorization: "Bearer other" } })
      yield* client.readResource("a://1", { meta: { "example.com/tenant": "t" } })
      assert.strictEqual(read.count.sent, 3)
    }))

  it.effect("[CCH-05] are kept apart by caller where they are private, and shared where they are public", () =>
    Effect.gen(function*() {
      let who = "ada"
      const secret = counting({ contents: [], ...hints(1000) })
      const open = counting({ tools: [], ...hints(1000, "public") })
      const server = yield* make(modern({ "resources/read": secret.reply, "tools/list": open.reply }, {
        resources: {},
        tools: {}
      }))
      const client = yield* clientOf(server, { caller: Effect.sync(() => who) })
      const both = Effect.all([client.readResource("a://1"), client.tools])
      yield* both
      who = "bob"
      yield* both
      who = "ada"
      yield* both
      assert.deepStrictEqual([secret.count.sent, open.count.sent], [2, 1])
    }))

  it.effect("[CCH-06] are dropped by a notification that concerns them", () =>
    Effect.gen(function*() {
      const list = counting({ tools: [], ...hints(60_000) })
      const read = counting({ contents: [], ...hints(60_000) })
      const server = yield* make(modern({ "tools/list": list.reply, "resources/read": read.reply }, {
        resources: {},
        tools: {}
      }))
      const client = yield* clientOf(server)
      const all = Effect.all([client.tools, client.readResource("a://folder/1"), client.readResource("a://other")])
      yield* all
      yield* server.notify("notifications/resources/updated", { uri: "a://folder" })
      yield* settle
      yield* all
      assert.deepStrictEqual([list.count.sent, read.count.sent], [1, 3])
      yield* server.notify("notifications/tools/list_changed")
      yield* settle
      yield* all
      assert.deepStrictEqual([list.count.sent, read.count.sent], [2, 3])
    }))

  it.effect("[CCH-06] are not kept when the change came while they were on their way", () =>
    Effect.gen(function*() {
      let sent = 0
      const server = yield* make(modern({
        "tools/list": (_, server) =>
          Effect.gen(function*() {
            sent++
            yield* Effect.orDie(server.notify("notifications/tools/list_changed"))
            return result({ tools: [], ...hints(60_000) })
          })
      }, { tools: {} }))
      const client = yield* clientOf(server)
      yield* client.tools
      yield* client.tools
      assert.strictEqual(sent, 2)
    }))

  it.effect("[CCH-04] are never those that ask for input", () =>
    Effect.gen(function*() {
      const read = counting({
        resultType: "input_required",
        inputRequests: { a: { method: "roots/list" } },
        ttlMs: 60_000,
        cacheScope: "private"
      })
      const client = yield* clientOf(yield* make(modern({ "resources/read": read.reply }, { resources: {} })))
      const reason = yield* reasonOf(client.readResource("a://1"))
      assert.deepInclude(reason, { _tag: "InputNeeded", required: { roots: {} } })
      yield* Effect.flip(client.readResource("a://1"))
      assert.strictEqual(read.count.sent, 2)
    }))

  it.effect("[CCH-03] are those of 2026-07-28 alone", () =>
    Effect.gen(function*() {
      const { count, reply } = counting({ tools: [], ttlMs: 60_000 })
      const client = yield* clientOf(yield* make(legacy({ "tools/list": reply }, { tools: {} })))
      yield* client.tools
      yield* client.tools
      assert.strictEqual(count.sent, 2)
    }))

  it.effect("[CCH-08] are not asked for before somebody wants them", () =>
    Effect.gen(function*() {
      const { count, reply } = counting({ tools: [], ...hints(10) })
      const client = yield* clientOf(yield* make(modern({ "tools/list": reply }, { tools: {} })))
      yield* client.tools
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(count.sent, 1)
    }))

  it.effect("are off with a capacity of 0", () =>
    Effect.gen(function*() {
      const { count, reply } = counting({ tools: [], ...hints(1000) })
      const client = yield* clientOf(yield* make(modern({ "tools/list": reply }, { tools: {} })), { cacheCapacity: 0 })
      yield* client.tools
      yield* client.tools
      assert.strictEqual(count.sent, 2)
    }))

  it.effect("[CCH-12] open nothing to others: the server decides at each request of its own, whatever may be kept", () =>
    Effect.gen(function*() {
      const Secret = Resource.make("app://secret", { name: "secret" })
      const http = yield* TestHttp.make(McpServer.resource(Secret, "for friends", {
        visible: ({ clientInfo }) => clientInfo?.name === "friend",
        cache: { ttlMs: 60_000, scope: "public" }
      }))
      const transport = yield* http.transport()
      const calling = (name: string) =>
        clientOf({ transport }, { info: { name, version: "1" }, revisions: ["2026-07-28"] })
      const friend = yield* calling("friend")
      const stranger = yield* calling("stranger")
      const uri = "app://secret"
      assert.deepInclude(yield* friend.readResource(uri), { contents: [{ uri, text: "for friends" }] })
      for (let round = 0; round < 2; round++) {
        assert.deepStrictEqual(yield* stranger.resources, [])
        assert.deepInclude(yield* reasonOf(stranger.readResource(uri)), { _tag: "ResourceNotFound", uri })
      }
    }))
})

/** Answers of 2026-07-28 that are used again, and those that are not. */
import { assert, describe, it } from "@effect/vitest"
import { ResponseCache } from "@mcpfx/client"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, legacy, modern, settle } from "./support/client.ts"

const { make, result } = ScriptedServer

const hints = { resultType: "complete", ttlMs: 60_000, cacheScope: "private" }
const capabilities = { tools: {}, resources: {}, prompts: {} }
const script: ScriptedServer.Script = {
  "tools/list": result({ ...hints, tools: [{ name: "t", inputSchema: { type: "object" } }] }),
  "prompts/list": result({ ...hints, prompts: [{ name: "p" }] }),
  "resources/list": result({ ...hints, resources: [{ name: "r", uri: "a:b" }] }),
  "resources/read": ({ params }) => {
    const uri = String(params?.["uri"])
    return result({ ...hints, contents: [{ uri, text: `text of ${uri}` }] })
  }
}
const count = (server: ScriptedServer.ScriptedServer, method: string) =>
  server.methods().filter((each) => each === method).length

describe("kept answers", () => {
  it.effect("[CCH-03] stand for the same method and params, and for no others", () =>
    Effect.gen(function*() {
      const server = yield* make(modern(script, capabilities))
      const client = yield* clientOf(server)
      for (let i = 0; i < 2; i++) {
        assert.strictEqual((yield* client.tools)[0]?.name, "t")
        assert.strictEqual((yield* client.prompts)[0]?.name, "p")
        assert.strictEqual((yield* client.resources)[0]?.name, "r")
        for (const uri of ["a:1", "a:2"]) {
          assert.deepInclude((yield* client.readResource(uri)).contents[0], { text: `text of ${uri}` })
        }
      }
      assert.deepStrictEqual(
        ["tools/list", "prompts/list", "resources/list", "resources/read"].map((method) => count(server, method)),
        [1, 1, 1, 2]
      )
    }))

  it.effect("[CCH-03] do not stand for a request with other headers or members of _meta", () =>
    Effect.gen(function*() {
      const server = yield* make(modern(script, capabilities))
      const client = yield* clientOf(server)
      yield* client.readResource("a:1")
      yield* client.readResource("a:1", { meta: { "example.com/who": "ada" } })
      yield* client.readResource("a:1", { headers: { "x-tenant": "b" } })
      yield* client.readResource("a:1")
      assert.strictEqual(count(server, "resources/read"), 3)
    }))

  it.effect("[CCH-05] are kept apart by caller where they are private, and shared where they are public", () =>
    Effect.gen(function*() {
      let scope = "private"
      let caller = "ada"
      const server = yield* make(modern({
        "resources/read": () => result({ ...hints, cacheScope: scope, contents: [{ uri: "a:b", text: caller }] })
      }, capabilities))
      const client = yield* clientOf(server, { caller: Effect.sync(() => caller) })
      const read = (uri: string, who: string) =>
        Effect.suspend(() => {
          caller = who
          return Effect.map(client.readResource(uri), ({ contents: [first] }) => first)
        })
      assert.deepInclude(yield* read("a:b", "ada"), { text: "ada" })
      assert.deepInclude(yield* read("a:b", "bob"), { text: "bob" })
      assert.deepInclude(yield* read("a:b", "ada"), { text: "ada" })
      assert.strictEqual(count(server, "resources/read"), 2)
      scope = "public"
      assert.deepInclude(yield* read("a:c", "ada"), { text: "ada" })
      assert.deepInclude(yield* read("a:c", "bob"), { text: "ada" })
      assert.strictEqual(count(server, "resources/read"), 3)
    }))

  it("[CCH-04] are none of those that answered an input, ask for one, or say that they may not be kept", () => {
    const cache = ResponseCache.make()
    const table = cache.table<object>(() => false)
    const uri = { uri: "a:b" }
    const kept = (params: object, answer: object) => {
      table.put(params, "", answer, 0, 0)
      return table.get(params, "", 1) !== undefined || cache.size() > 0
    }
    assert.isFalse(kept({ ...uri, inputResponses: {} }, hints))
    assert.isFalse(kept({ ...uri, requestState: "s" }, hints))
    assert.isFalse(kept(uri, { ...hints, resultType: "input_required" }))
    assert.isFalse(kept(uri, { ...hints, ttlMs: 0 }))
    assert.isTrue(kept(uri, hints))
    assert.isUndefined(table.get({ ...uri, requestState: "s" }, "", 1))
  })

  it.effect("[CCH-08] are asked for again when they are wanted and never by themselves", () =>
    Effect.gen(function*() {
      const server = yield* make(modern(script, capabilities))
      const client = yield* clientOf(server)
      yield* client.tools
      const before = server.methods().length
      for (let i = 0; i < 60; i++) {
        yield* TestClock.adjust("1 minute")
        yield* settle
      }
      assert.strictEqual(server.methods().length, before)
      yield* client.tools
      yield* client.tools
      assert.strictEqual(count(server, "tools/list"), 2)
    }))

  it.effect("[CCH-06] are dropped by a notification that concerns them, and by no other", () =>
    Effect.gen(function*() {
      const server = yield* make(modern(script, capabilities))
      const client = yield* clientOf(server)
      yield* client.tools
      yield* client.prompts
      yield* server.notify("notifications/tools/list_changed")
      yield* settle
      yield* client.tools
      yield* client.prompts
      assert.deepStrictEqual([count(server, "tools/list"), count(server, "prompts/list")], [2, 1])
    }))

  it.effect("[CCH-06] are none on older revisions, whatever a server adds to its answers", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy(script, capabilities))
      const client = yield* clientOf(server)
      yield* client.tools
      yield* client.tools
      assert.strictEqual(count(server, "tools/list"), 2)
    }))
})

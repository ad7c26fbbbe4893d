import { assert, describe, it } from "@effect/vitest"
import { type McpClientError, Pages } from "@mcpfx/client"
import { type JsonRpc, Methods, type Tool } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Fiber, Logger, References } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, legacy, modern } from "./support/client.ts"

const { error, make, result } = ScriptedServer

const reasonOf = <A, R>(effect: Effect.Effect<A, McpClientError.McpClientError, R>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

const tool = (name: string) => ({ name, inputSchema: { type: "object" } })

const paged = (pages: Readonly<Record<string, JsonRpc.JsonObject>>) => ({ params }: JsonRpc.Request) => {
  const cursor = params?.["cursor"]
  const page = pages[typeof cursor === "string" ? `at ${cursor}` : "first"]
  return page === undefined ? error(-32602, "Invalid cursor") : result(page)
}

/** What was logged as a warning while `effect` ran. */
const warned = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ logLevel, message }) => {
      if (logLevel === "Warn") lines.push(String(Array.isArray(message) ? message[0] : message))
    })
    const value = yield* effect.pipe(
      Effect.provide(Logger.layer([logger])),
      Effect.provideService(References.MinimumLogLevel, "Debug")
    )
    return { value, lines }
  })

describe("pages", () => {
  it.effect("[PAG-01, field PAG-03] follows opaque cursors to the last page", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/list": paged({
          first: { tools: [tool("a")], nextCursor: "ø/=?" },
          "at ø/=?": { tools: [tool("b"), tool("c")], nextCursor: "2" },
          "at 2": { tools: [tool("d")] }
        })
      }, { tools: {} }))
      const client = yield* clientOf(server)
      assert.deepStrictEqual((yield* client.tools).map(({ name }) => name), ["a", "b", "c", "d"])
    }))

  it.effect("[PAG-02, field SCH-09] takes an empty cursor for a cursor, and null for the end", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "prompts/list": paged({
          first: { prompts: [{ name: "a" }], nextCursor: "" },
          "at ": { prompts: [{ name: "b", description: null }], nextCursor: null }
        })
      }, { prompts: {} }))
      const client = yield* clientOf(server)
      assert.deepStrictEqual(yield* client.prompts, [{ name: "a" }, { name: "b" }])
    }))

  it.effect("[field PAG-01] stops at cursors that go in a circle, and names the server", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/list": paged({
          first: { tools: [tool("a")], nextCursor: "c1" },
          "at c1": { tools: [tool("a")], nextCursor: "c2" },
          "at c2": { tools: [tool("a")], nextCursor: "c1" }
        })
      }, { tools: {} }))
      const client = yield* clientOf(server)
      const failure = yield* Effect.flip(client.tools)
      assert.deepInclude(failure.reason, { _tag: "PagesUnbounded", server: "scripted" })
      assert.strictEqual(failure.message, "scripted: the cursors go in a circle")
      assert.strictEqual(server.methods().filter((method) => method === "tools/list").length, 3)
    }))

  it.effect("[field PAG-01] stops at too many pages and at too many items", () =>
    Effect.gen(function*() {
      let count = 0
      const server = yield* make(legacy({
        "tools/list": () => result({ tools: [tool(`t${++count}`)], nextCursor: `c${count}` })
      }, { tools: {} }))
      const few = yield* clientOf(server, { pages: { maxPages: 3 } })
      assert.deepInclude(yield* reasonOf(few.tools), { detail: "more than 3 pages" })
      assert.strictEqual(count, 3)
      const small = yield* clientOf(server, { pages: { maxItems: 2 } })
      assert.deepInclude(yield* reasonOf(small.tools), { detail: "more than 2 items" })
      const plain = yield* clientOf(server)
      assert.deepInclude(yield* reasonOf(plain.tools), { detail: "more than 100 pages" })
    }))

  it.effect("[CCH-10, field PAG-05] begins anew when a cursor is not valid any more, and lists nothing twice", () =>
    Effect.gen(function*() {
      let isChanged = false
      const server = yield* make(modern({
        "tools/list": ({ params }) => {
          const cursor = params?.["cursor"]
          const hints = { ttlMs: 60_000, cacheScope: "private", resultType: "complete" }
          if (cursor === undefined) {
            return result({ tools: [tool("a"), tool("b")], nextCursor: isChanged ? "new" : "old", ...hints })
          }
          if (cursor === "old") {
            isChanged = true
            return error(-32602, "Invalid cursor")
          }
          return result({ tools: [tool("b"), tool("e")], ...hints })
        }
      }, { tools: {} }))
      const client = yield* clientOf(server)
      assert.deepStrictEqual((yield* client.tools).map(({ name }) => name), ["a", "b", "e"])
    }))

  it.effect("[field PAG-05] gives up on a server whose cursors are never valid", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/list": ({ params }) =>
          params?.["cursor"] === undefined
            ? result({ tools: [tool("a")], nextCursor: "x" })
            : error(-32602, "Invalid cursor")
      }, { tools: {} }))
      const client = yield* clientOf(server)
      assert.deepInclude(yield* reasonOf(client.tools), { _tag: "Refused", code: -32602 })
      assert.strictEqual(server.methods().filter((method) => method === "tools/list").length, 6)
    }))

  it.effect("can be interrupted between pages", () =>
    Effect.gen(function*() {
      const pages = Pages.all({
        server: "s",
        bounds: { maxPages: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY },
        key: String,
        page: (cursor) => Effect.as(Effect.sleep("1 second"), { items: [1], nextCursor: `${cursor}.` })
      })
      const fiber = yield* Effect.forkChild(pages)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(fiber)
    }))
})

describe("odd items", () => {
  it.effect("[field SCH-05, field SCH-06] hides no tool because of another one, and tells of each once", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "tools/list": result({
          tools: [
            tool("good"),
            { name: "no-root", inputSchema: { $schema: "http://json-schema.org/draft-07/schema#" } },
            { name: "union", inputSchema: { anyOf: [{ type: "object" }] } },
            { name: "null", inputSchema: null },
            { inputSchema: { type: "object" } },
            { name: "none", inputSchema: { type: "object", additionalProperties: false } }
          ]
        })
      }, { tools: {} }))
      const { lines, value } = yield* warned(Effect.gen(function*() {
        const client = yield* clientOf(server)
        yield* client.tools
        return yield* client.tools
      }))
      assert.deepStrictEqual(value.map(({ name }: Tool.Descriptor) => name), ["good", "no-root", "union", "none"])
      assert.deepStrictEqual(lines.map((line) => line.split(": ").slice(0, 2).join(": ")), [
        "tools/list: \"no-root\" is put right",
        "tools/list: \"union\" is put right",
        "tools/list: \"null\" is left out",
        "tools/list: item 4 is left out"
      ])
    }))

  it.effect("[field SCH-05] are left out of the other lists as well", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "resources/list": result({ resources: [{ uri: 7, name: "x" }, { uri: "a://1", name: "one" }] }),
        "resources/templates/list": result({ resourceTemplates: [null, { uriTemplate: "a://{n}", name: "many" }] }),
        "prompts/list": result({ prompts: ["hello", { name: "p", _meta: null }] })
      }, { resources: {}, prompts: {} }))
      const client = yield* clientOf(server)
      assert.deepStrictEqual((yield* client.resources).map(({ uri }) => uri), ["a://1"])
      assert.deepStrictEqual((yield* client.resourceTemplates).map(({ name }) => name), ["many"])
      assert.deepStrictEqual(yield* client.prompts, [{ name: "p" }])
    }))

  it.effect("fail the list where it is none", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "tools/list": result({ tools: "many" }) }, { tools: {} }))
      const client = yield* clientOf(server)
      assert.strictEqual((yield* reasonOf(client.tools))._tag, "BadAnswer")
    }))
})

describe("what is not offered", () => {
  it.effect("[LIF-09, field LIF-12] is an empty list, and otherwise a typed failure, and nothing is sent", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy())
      const client = yield* clientOf(server)
      assert.deepStrictEqual(
        yield* Effect.all([client.tools, client.resources, client.resourceTemplates, client.prompts]),
        [[], [], [], []]
      )
      const direct: ReadonlyArray<Effect.Effect<unknown, McpClientError.McpClientError>> = [
        client.callTool("t"),
        client.readResource("a://1"),
        client.getPrompt("p"),
        client.complete({ type: "ref/prompt", name: "p" }, { name: "n", value: "" }),
        client.setLogLevel("info")
      ]
      for (const each of direct) {
        assert.deepInclude(yield* reasonOf(each), { _tag: "NotOffered", revision: "2025-11-25" })
      }
      yield* server.expect("notifications/initialized")
      assert.deepStrictEqual(server.methods(), ["server/discover", "initialize", "notifications/initialized"])
    }))

  it.effect("[field LIF-12] is still sent raw, for servers that say less than they do", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({ "tools/call": result({ content: [] }) }))
      const client = yield* clientOf(server)
      assert.deepStrictEqual(yield* client.requestRaw("tools/call", { name: "t" }), { content: [] })
    }))

  it.effect("[field LIF-12] keeps a refusal to the request that it is about", () =>
    Effect.gen(function*() {
      const server = yield* make(legacy({
        "resources/list": result({ resources: [] }),
        "prompts/list": error(-32601)
      }, { resources: {}, prompts: {} }))
      const client = yield* clientOf(server)
      assert.deepStrictEqual(yield* client.resourceTemplates, [])
      assert.deepStrictEqual(yield* client.resources, [])
      assert.deepInclude(yield* reasonOf(client.prompts), { _tag: "Refused", code: -32601 })
    }))

  it.effect("is a method that the revision does not have", () =>
    Effect.gen(function*() {
      const server = yield* make(modern({}, { tools: {} }))
      const client = yield* clientOf(server)
      assert.deepInclude(yield* reasonOf(client.request(Methods.Ping, {})), {
        _tag: "NotOffered",
        what: "ping",
        revision: "2026-07-28"
      })
    }))
})

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
      assert.deepStrictEqual((yield* client.tools).map(({ name }) => name), ["a"])
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
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
      yield* all
      assert.deepStrictEqual([list.count.sent, read.count.sent], [1, 3])
      yield* server.notify("notifications/tools/list_changed")
      yield* Effect.repeat(Effect.yieldNow, { times: 20 })
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
})

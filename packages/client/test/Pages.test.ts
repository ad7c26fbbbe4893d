/** Lists of many pages, as good and bad servers give them. */
import { assert, describe, it } from "@effect/vitest"
import { Pages } from "@mcpfx/client"
import type { ClientOptions } from "@mcpfx/client"
import type { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { clientOf, legacy, modern, namesOf, reasonOf, settle, tool } from "./support/client.ts"

const { error, hangUp, make, result } = ScriptedServer

const eras = { legacy, modern }
const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }
const invalidCursor = error(-32602, "Invalid cursor")
const cursorOf = (message: JsonRpc.Message): unknown => "params" in message ? message.params?.["cursor"] : undefined

/** The cursors that came, one for each request. */
const cursors = (server: ScriptedServer.ScriptedServer) =>
  server.received().filter((message) => "method" in message && message.method === "tools/list").map(cursorOf)

type Page = readonly [names: ReadonlyArray<string>, nextCursor?: string | undefined]

const page = ([names, nextCursor]: Page, more: JsonRpc.JsonObject = {}) =>
  result({
    ...hints,
    ...more,
    tools: names.map((name) => tool(name)),
    ...(nextCursor === undefined ? {} : { nextCursor })
  })

/** Answers by cursor. */
const paged = (pages: ReadonlyMap<unknown, Page>) => (message: JsonRpc.Request) => {
  const found = pages.get(cursorOf(message))
  return found === undefined ? invalidCursor : page(found)
}

const serving = (list: ScriptedServer.Script[string], era: "legacy" | "modern" = "legacy") =>
  make(eras[era]({ "tools/list": list }, { tools: { listChanged: true } }))

const listOf = (server: ScriptedServer.ScriptedServer, options?: ClientOptions.ClientOptions) =>
  Effect.map(Effect.flatMap(clientOf(server, options), ({ tools }) => tools), namesOf)

for (const era of ["legacy", "modern"] as const) {
  describe(`pages of a ${era} server`, () => {
    it.effect("[PAG-01] [PAG-02] [field PAG-04] have any size, and their cursors go back as they came", () =>
      Effect.gen(function*() {
        const odd = ["", " ", "a/b?c=d&é🎉", "{\"page\":2}", "0"]
        const pages = new Map<unknown, Page>([[undefined, [[], odd[0]]]])
        for (const [i, cursor] of odd.entries()) {
          pages.set(cursor, [Array.from({ length: i * i }, (_, n) => `t${i}-${n}`), odd[i + 1]])
        }
        const server = yield* serving(paged(pages), era)
        assert.strictEqual((yield* listOf(server)).length, 0 + 1 + 4 + 9 + 16)
        assert.deepStrictEqual(cursors(server), [undefined, ...odd])
      }))

    it.effect("[TOL-08] [field PAG-03] [field SCH-02] [field SCH-03] are all there, and the tools of the last are checked as those of the first", () =>
      Effect.gen(function*() {
        const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
        const all = Array.from({ length: 120 }, (_, n) => tool(`t${n}`, { outputSchema }))
        const pages = new Map<unknown, JsonRpc.JsonObject>([
          [undefined, { tools: all.slice(0, 50), nextCursor: "50" }],
          ["50", { tools: all.slice(50, 100), nextCursor: "100" }],
          ["100", { tools: all.slice(100) }]
        ])
        const server = yield* make(eras[era]({
          "tools/list": (message) => result({ ...hints, ...pages.get(cursorOf(message)) }),
          "tools/call": ({ params }) =>
            result({
              resultType: "complete",
              content: [],
              structuredContent: { n: params?.["name"] === "t101" ? "wrong" : 1 }
            })
        }, { tools: {} }))
        const client = yield* clientOf(server)
        assert.strictEqual((yield* client.tools).length, 120)
        assert.deepStrictEqual((yield* client.callTool("t119")).structuredContent, { n: 1 })
        assert.strictEqual((yield* reasonOf(client.callTool("t101")))._tag, "BadOutput")
      }))
  })
}

describe("the end of a list", () => {
  it.effect("[field SCH-09] may be a cursor that is null", () =>
    Effect.gen(function*() {
      const server = yield* serving(result({ tools: [tool("a")], nextCursor: null }))
      assert.deepStrictEqual(yield* listOf(server), ["a"])
      assert.deepStrictEqual(cursors(server), [undefined])
    }))

  it.effect("[field PAG-01] comes where the cursors go in a circle, with a failure that names the server", () =>
    Effect.gen(function*() {
      const server = yield* serving(paged(
        new Map<unknown, Page>([[undefined, [["a"], "c1"]], ["c1", [["a"], "c2"]], ["c2", [["a"], "c1"]]])
      ))
      const failure = yield* Effect.flip(listOf(server))
      assert.deepInclude(failure.reason, { _tag: "PagesUnbounded", server: "scripted" })
      assert.strictEqual(failure.message, "scripted: the cursors go in a circle")
      assert.deepStrictEqual(cursors(server), [undefined, "c1", "c2"])
    }))

  it.effect("[field PAG-01] comes after too many pages, and after too many items", () =>
    Effect.gen(function*() {
      let count = 0
      const server = yield* serving(() => page([[`t${++count}`], `c${count}`]))
      assert.deepInclude(yield* reasonOf(listOf(server, { pages: { maxPages: 3 } })), { detail: "more than 3 pages" })
      assert.strictEqual(count, 3)
      assert.deepInclude(yield* reasonOf(listOf(server, { pages: { maxItems: 2 } })), { detail: "more than 2 items" })
      assert.deepInclude(yield* reasonOf(listOf(server)), { detail: "more than 100 pages" })
    }))

  it.effect("[field PAG-01] may be made by who waits, between pages", () =>
    Effect.gen(function*() {
      let asked = 0
      const pages = Pages.all({
        server: "s",
        bounds: { maxPages: Number.POSITIVE_INFINITY, maxItems: Number.POSITIVE_INFINITY },
        key: String,
        page: (cursor) => Effect.map(Effect.sleep("1 second"), () => ({ items: [++asked], nextCursor: `${cursor}.` }))
      })
      const fiber = yield* Effect.forkChild(pages)
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.interrupt(fiber)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(asked, 10)
    }))
})

describe("a list that changes while it is read", () => {
  it.effect("[CCH-10] [field PAG-05] is read from its start when a cursor is refused, without what it held before", () =>
    Effect.gen(function*() {
      let isChanged = false
      const kept = { ttlMs: 60_000 }
      const server = yield* serving((message) => {
        const cursor = cursorOf(message)
        if (cursor === undefined) return isChanged ? page([["b", "c"], "new"], kept) : page([["a", "b"], "old"], kept)
        if (cursor === "new") return page([["c", "e"]], kept)
        isChanged = true
        return invalidCursor
      }, "modern")
      const client = yield* clientOf(server)
      assert.deepStrictEqual(namesOf(yield* client.tools), ["b", "c", "e"])
      assert.deepStrictEqual(cursors(server), [undefined, "old", undefined, "new"])
      assert.deepStrictEqual(namesOf(yield* client.tools), ["b", "c", "e"])
      assert.lengthOf(cursors(server), 4)
    }))

  for (const era of ["legacy", "modern"] as const) {
    it.effect(`[CCH-06] [field PAG-05] is read from its start when a ${era} server says so, without what it held before`, () =>
      Effect.gen(function*() {
        let isChanged = false
        const server = yield* serving((message, server) =>
          Effect.gen(function*() {
            const cursor = cursorOf(message)
            if (isChanged) return page(cursor === undefined ? [["b"], "2"] : [["e"]])
            if (cursor === undefined) return page([["a", "b"], "2"])
            isChanged = true
            yield* Effect.orDie(server.notify("notifications/tools/list_changed"))
            return page([["c"]])
          }), era)
        assert.deepStrictEqual(yield* listOf(server), ["b", "e"])
        assert.deepStrictEqual(cursors(server), [undefined, "2", undefined, "2"])
      }))
  }

  it.effect("[field PAG-05] goes on when another list changes", () =>
    Effect.gen(function*() {
      const server = yield* serving((message, server) =>
        Effect.gen(function*() {
          if (cursorOf(message) === undefined) return page([["a"], "2"])
          yield* Effect.orDie(server.notify("notifications/prompts/list_changed"))
          return page([["b"]])
        })
      )
      assert.deepStrictEqual(yield* listOf(server), ["a", "b"])
      assert.deepStrictEqual(cursors(server), [undefined, "2"])
    }))

  it.effect("[field PAG-05] counts as it is when it never stops changing", () =>
    Effect.gen(function*() {
      const server = yield* serving((message, server) =>
        Effect.as(
          Effect.orDie(server.notify("notifications/tools/list_changed")),
          page(cursorOf(message) === undefined ? [["a"], "2"] : [["b"]])
        )
      )
      assert.deepStrictEqual(yield* listOf(server), ["a", "b"])
      assert.deepStrictEqual(cursors(server), [undefined, undefined, undefined, "2"])
    }))

  it.effect("[field PAG-05] fails in the end when its cursors are never valid", () =>
    Effect.gen(function*() {
      const server = yield* serving(paged(new Map([[undefined, [["a"], "x"]]])))
      assert.deepInclude(yield* reasonOf(listOf(server)), { _tag: "Refused", code: -32602 })
      assert.deepStrictEqual(cursors(server), [undefined, "x", undefined, "x", undefined, "x"])
    }))
})

describe("another session", () => {
  it.effect("[PAG-03] never hears the cursor of the one before, when the list failed with it", () =>
    Effect.gen(function*() {
      let asked = 0
      const server = yield* serving(() => {
        asked++
        return asked === 1 ? page([["a"], "first session"]) : asked === 2 ? hangUp : page([["b"]])
      })
      const client = yield* clientOf(server, { reconnect: true })
      assert.strictEqual((yield* reasonOf(client.tools))._tag, "ConnectionLost")
      yield* settle
      assert.deepStrictEqual(namesOf(yield* client.tools), ["b"])
      assert.strictEqual(server.connections().made, 2)
      assert.deepStrictEqual(cursors(server), [undefined, "first session", undefined])
    }))

  it.effect("[PAG-03] never hears the cursor of the one before, when it was lost between two pages", () =>
    Effect.gen(function*() {
      const server = yield* serving((_, server) => server.connections().made === 1 ? page([["a"], "1"]) : page([["b"]]))
      let asked = 0
      // Asked for before each page.
      const caller = Effect.suspend(() =>
        Effect.as(++asked === 2 ? Effect.andThen(server.hangUp, settle) : Effect.void, "")
      )
      assert.deepStrictEqual(yield* listOf(server, { reconnect: true, caller }), ["b"])
      assert.deepStrictEqual(cursors(server), [undefined, undefined])
    }))
})

/** Lists of many pages, as good and bad servers give them. */
import { assert, describe, it } from "@effect/vitest"
import type { JsonRpc } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Logger } from "effect"
import { clientOf, legacy, modern, settle } from "./support/client.ts"

const { error, make, result } = ScriptedServer

const tool = (name: string, more: JsonRpc.JsonObject = {}): JsonRpc.JsonObject => ({
  name,
  inputSchema: { type: "object" },
  ...more
})
const cursorOf = (message: JsonRpc.Message): unknown => "params" in message ? message.params?.["cursor"] : undefined
const cursors = (server: ScriptedServer.ScriptedServer) =>
  server.received().filter((message) => "method" in message && message.method === "tools/list").map(cursorOf)
const names = (tools: ReadonlyArray<{ readonly name: string }>) => tools.map(({ name }) => name)
const hints = { resultType: "complete", ttlMs: 0, cacheScope: "private" }

/** Answers by cursor. */
const paged = (pages: ReadonlyMap<unknown, JsonRpc.JsonObject>) => (message: JsonRpc.Request) => {
  const page = pages.get(message.params?.["cursor"])
  return page === undefined ? error(-32602, "Invalid cursor") : result({ ...hints, ...page })
}

const eras = { legacy, modern }

for (const era of ["legacy", "modern"] as const) {
  const serving = (list: ScriptedServer.Script[string]) => make(eras[era]({ "tools/list": list }, { tools: {} }))

  describe(`${era} lists`, () => {
    it.effect("[PAG-01] [PAG-02] [field PAG-04] cursors go back as they came, whatever they look like, and pages have any size", () =>
      Effect.gen(function*() {
        const odd = ["", " ", "a/b?c=d&é🎉", "{\"page\":2}", "0"]
        const pages = new Map<unknown, JsonRpc.JsonObject>([[undefined, { tools: [], nextCursor: odd[0] }]])
        for (const [i, cursor] of odd.entries()) {
          const tools = Array.from({ length: i * i }, (_, n) => tool(`t${i}-${n}`))
          pages.set(cursor, { tools, ...(odd[i + 1] === undefined ? {} : { nextCursor: odd[i + 1] }) })
        }
        const server = yield* serving(paged(pages))
        const client = yield* clientOf(server)
        assert.strictEqual((yield* client.tools).length, 0 + 1 + 4 + 9 + 16)
        assert.deepStrictEqual(cursors(server), [undefined, ...odd])
      }))

    it.effect("[TOL-08] [field PAG-03] [field SCH-02] [field SCH-03] all pages are there, and the tools of the last are checked as those of the first", () =>
      Effect.gen(function*() {
        const all = Array.from({ length: 120 }, (_, n) =>
          tool(`t${n}`, {
            outputSchema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }
          }))
        const server = yield* make(eras[era]({
          "tools/list": paged(
            new Map<unknown, JsonRpc.JsonObject>([
              [undefined, { tools: all.slice(0, 50), nextCursor: "50" }],
              ["50", { tools: all.slice(50, 100), nextCursor: "100" }],
              ["100", { tools: all.slice(100) }]
            ])
          ),
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
        assert.strictEqual((yield* Effect.flip(client.callTool("t101"))).reason._tag, "BadOutput")
      }))
  })
}

describe("another session", () => {
  it.effect("[PAG-03] never hears the cursor of the one before", () =>
    Effect.gen(function*() {
      let asked = 0
      const server = yield* make(legacy({
        "tools/list": (message) => {
          asked++
          if (asked === 2) return ScriptedServer.hangUp
          return cursorOf(message) === undefined && asked !== 3
            ? result({ tools: [tool("a")], nextCursor: "first session" })
            : result({ tools: [tool("b")] })
        }
      }, { tools: {} }))
      const client = yield* clientOf(server, { reconnect: true })
      assert.strictEqual((yield* Effect.flip(client.tools)).reason._tag, "ConnectionLost")
      yield* settle
      assert.deepStrictEqual(names(yield* client.tools), ["b"])
      assert.strictEqual(server.connections().made, 2)
      assert.deepStrictEqual(cursors(server), [undefined, "first session", undefined])
    }))
})

describe("header annotations", () => {
  const annotated = (header: unknown) =>
    tool(`header ${JSON.stringify(header)}`, {
      inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } }
    })
  const list = result({ ...hints, tools: [annotated("Region"), annotated("has space"), annotated(""), tool("plain")] })

  it.effect("[XH-06] [field SCH-27] over HTTP a tool with a wrong one is left out, with a warning that names it; elsewhere it stays", () =>
    Effect.gen(function*() {
      const warnings: Array<string> = []
      const logger = Logger.make(({ logLevel, message }) => void warnings.push(`${logLevel} ${String(message)}`))
      const listed = Effect.fnUntraced(function*(kind: "http" | "stdio") {
        const server = yield* make(modern({ "tools/list": list }, { tools: {} }), { kind })
        const client = yield* clientOf(server)
        return names(yield* client.tools)
      })
      const good = ["header \"Region\"", "plain"]
      assert.deepStrictEqual(yield* Effect.provide(listed("http"), Logger.layer([logger])), good)
      assert.strictEqual(warnings.length, 2)
      assert.match(warnings[0] ?? "", /^Warn tools\/list: "header "has space"" is left out: ./)
      assert.strictEqual((yield* listed("stdio")).length, 4)
    }))

  it.effect("[XH-13] after -32020 the tools are listed anew and the call is sent once more", () =>
    Effect.gen(function*() {
      let calls = 0
      const server = yield* make(
        modern({
          "tools/list": list,
          "tools/call": () => ++calls === 1 ? error(-32020, "Headers") : result({ resultType: "complete", content: [] })
        }, { tools: {} }),
        { kind: "http" }
      )
      const client = yield* clientOf(server)
      yield* client.callTool("header \"Region\"", { region: "eu" })
      assert.deepStrictEqual(server.methods().slice(1), ["tools/call", "tools/list", "tools/call"])
    }))

  it.effect("[XH-13] a server that refuses again is not asked a third time", () =>
    Effect.gen(function*() {
      const server = yield* make(
        modern({ "tools/list": list, "tools/call": error(-32020, "Headers") }, { tools: {} }),
        { kind: "http" }
      )
      const client = yield* clientOf(server)
      const { reason } = yield* Effect.flip(client.callTool("header \"Region\"", { region: "eu" }))
      assert.deepInclude(reason, { _tag: "Refused", code: -32020 })
      assert.strictEqual(server.methods().filter((method) => method === "tools/call").length, 2)
    }))
})

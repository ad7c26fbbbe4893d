/** What is in lists, and what is not. */
import { assert, describe, it } from "@effect/vitest"
import type { McpClientError } from "@mcpfx/client"
import { Methods } from "@mcpfx/schema"
import { ScriptedServer } from "@mcpfx/testing"
import { Effect, Logger, References } from "effect"
import { clientOf, legacy, modern, namesOf, reasonOf, tool } from "./support/client.ts"

const { error, make, result } = ScriptedServer

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
      assert.deepStrictEqual(namesOf(value), ["good", "no-root", "union", "none"])
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
      assert.deepStrictEqual(namesOf(yield* client.resourceTemplates), ["many"])
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

describe("header annotations", () => {
  const annotated = (header: unknown) =>
    tool(`header ${JSON.stringify(header)}`, {
      inputSchema: { type: "object", properties: { region: { type: "string", "x-mcp-header": header } } }
    })
  const list = result({
    resultType: "complete",
    ttlMs: 0,
    cacheScope: "private",
    tools: [annotated("Region"), annotated("has space"), annotated(""), tool("plain")]
  })

  it.effect("[XH-06] [field SCH-27] over HTTP a tool with a wrong one is left out, with a warning that names it; elsewhere it stays", () =>
    Effect.gen(function*() {
      const listed = Effect.fnUntraced(function*(kind: "http" | "stdio") {
        const server = yield* make(modern({ "tools/list": list }, { tools: {} }), { kind })
        const client = yield* clientOf(server)
        return namesOf(yield* client.tools)
      })
      const good = ["header \"Region\"", "plain"]
      const { lines, value } = yield* warned(listed("http"))
      assert.deepStrictEqual(value, good)
      assert.strictEqual(lines.length, 2)
      assert.match(lines[0] ?? "", /^tools\/list: "header "has space"" is left out: ./)
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

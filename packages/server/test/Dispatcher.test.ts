import { assert, describe, it } from "@effect/vitest"
import { McpError } from "@mcpfx/schema"
import { Entry } from "@mcpfx/server"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import {
  completing,
  contents,
  type Inside,
  prompt,
  register,
  resource,
  spy,
  template,
  text,
  tool
} from "./protocol/fixtures.ts"
import { allVersions, at, Client, connect, legacyVersions, overHttp, serve, Wire } from "./protocol/harness.ts"

const modern = "2026-07-28"

const everything = register(
  tool("echo", (params) => Effect.succeed(text(String(params.arguments?.["t"] ?? "")))),
  tool("structured", () => Effect.succeed({ ...text("3"), structuredContent: { sum: 3 } })),
  tool(
    "picky",
    () => Effect.fail(new Entry.InvalidArguments({ tool: "picky", describe: () => "limit: not a number" }))
  ),
  tool("refuses", () => Effect.fail(new McpError.InvalidParams({ detail: "not today" }))),
  tool("boom", () => Effect.die(new Error("db password abc"))),
  tool("throws", () => {
    throw new Error("db password abc")
  }),
  resource("demo://a", Effect.succeed(contents("demo://a", "A"))),
  resource("demo://item/all", Effect.succeed(contents("demo://item/all", "every"))),
  template("demo://item/{id}", (id) => Effect.succeed(contents(`demo://item/${id}`, `item ${id}`)), {
    completions: new Map([["id", completing(["1", "12", "2"])]])
  }),
  prompt(
    "greet",
    (params) =>
      Effect.succeed({
        messages: [{ role: "user", content: { type: "text", text: `Hello ${params.arguments?.["who"] ?? ""}` } }]
      }),
    {
      descriptor: { name: "greet", arguments: [{ name: "who", required: true }, { name: "mood" }] },
      completions: new Map([["who", completing(Array.from({ length: 150 }, (_, i) => `w${i}`))]])
    }
  )
)

describe("every method on every revision", () => {
  for (const version of allVersions) {
    it.effect(`[TOL-01] [TOL-03] ${version}: tools/list gives the tools by name`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const { result } = yield* client.request("tools/list")
        const names = Array.from(Object(at(result, "tools")), (each) => at(each, "name"))
        assert.deepStrictEqual(names, ["boom", "echo", "picky", "refuses", "structured", "throws"])
        assert.strictEqual(at(result, "resultType"), version === modern ? "complete" : undefined)
        assert.strictEqual(at(result, "ttlMs"), version === modern ? 0 : undefined)
        assert.strictEqual(at(result, "cacheScope"), version === modern ? "private" : undefined)
      }))

    it.effect(`[TOL-06] [LIF-18] ${version}: tools/call answers in the shapes of the revision`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const { result } = yield* client.request("tools/call", { name: "echo", arguments: { t: "hi" } })
        assert.deepStrictEqual(at(result, "content"), [{ type: "text", text: "hi" }])
        assert.strictEqual(at(result, "resultType"), version === modern ? "complete" : undefined)
        const structured = yield* client.request("tools/call", { name: "structured" })
        const has = version >= "2025-06-18"
        assert.deepStrictEqual(at(structured.result, "structuredContent"), has ? { sum: 3 } : undefined)
      }))

    it.effect(`[RES-01] ${version}: resources/list and resources/templates/list`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const resources = yield* client.request("resources/list")
        assert.deepStrictEqual(
          Array.from(Object(at(resources.result, "resources")), (each) => at(each, "uri")),
          ["demo://a", "demo://item/all"]
        )
        const templates = yield* client.request("resources/templates/list")
        assert.strictEqual(at(templates.result, "resourceTemplates", 0, "uriTemplate"), "demo://item/{id}")
      }))

    it.effect(`[RES-14] [field RES-09] ${version}: resources/read takes the exact resource before a template`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const read = (uri: string) =>
          Effect.map(client.request("resources/read", { uri }), (sent) => at(sent.result, "contents", 0, "text"))
        assert.strictEqual(yield* read("demo://a"), "A")
        assert.strictEqual(yield* read("demo://item/all"), "every")
        assert.strictEqual(yield* read("demo://item/5"), "item 5")
        const deeper = yield* client.request("resources/read", { uri: "demo://item/5/x" })
        assert.strictEqual(deeper.code, version === modern ? -32602 : -32002)
      }))

    it.effect(`[RES-05] [RES-06] [field RES-05] ${version}: what is not there has the code of the revision, with its URI`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const missing = yield* client.request("resources/read", { uri: "demo://item/5/x" })
        assert.strictEqual(missing.code, version === modern ? -32602 : -32002)
        assert.deepStrictEqual(at(missing.error, "data"), { uri: "demo://item/5/x" })
        for (const params of [{ uri: "not a uri" }, { uri: "" }, {}, { uri: 5 }]) {
          const sent = yield* client.request("resources/read", params)
          assert.strictEqual(sent.code, -32602, JSON.stringify(params))
        }
      }))

    it.effect(`[PRM-01] [PRM-03] [PRM-06] ${version}: prompts/list and prompts/get`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const list = yield* client.request("prompts/list")
        assert.strictEqual(at(list.result, "prompts", 0, "name"), "greet")
        const got = yield* client.request("prompts/get", { name: "greet", arguments: { who: "Ada" } })
        assert.strictEqual(at(got.result, "messages", 0, "content", "text"), "Hello Ada")
        assert.strictEqual((yield* client.request("prompts/get", { name: "nope" })).code, -32602)
        assert.strictEqual(
          (yield* client.request("prompts/get", { name: "greet", arguments: { who: 5 } })).code,
          -32602
        )
      }))

    it.effect(`[CMP-02] [CMP-03] [CMP-06] [SCH-25] ${version}: completion/complete gives at most 100 values`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const complete = (ref: object, name: string, value: string) =>
          client.request("completion/complete", { ref, argument: { name, value } })
        const greet = { type: "ref/prompt", name: "greet" }
        const many = yield* complete(greet, "who", "w")
        assert.strictEqual(Object(at(many.result, "completion", "values")).length, 100)
        assert.strictEqual(at(many.result, "completion", "total"), 150)
        assert.isTrue(at(many.result, "completion", "hasMore"))
        const items = yield* complete({ type: "ref/resource", uri: "demo://item/{id}" }, "id", "1")
        assert.deepStrictEqual(at(items.result, "completion", "values"), ["1", "12"])
        assert.deepStrictEqual(at((yield* complete(greet, "mood", "x")).result, "completion", "values"), [])
        assert.strictEqual((yield* complete({ type: "ref/prompt", name: "nope" }, "who", "")).code, -32602)
        assert.strictEqual((yield* complete(greet, "nope", "")).code, -32602)
        assert.strictEqual((yield* complete({ type: "ref/resource", uri: "demo://nope/{x}" }, "x", "")).code, -32602)
        assert.strictEqual((yield* complete({ type: "ref/other" }, "x", "")).code, -32602)
      }))

    it.effect(`[RPC-24] [field RPC-09] ${version}: an unknown method is -32601, with the request's id`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        const sent = client.start("vendor/do", {}, "req-abc")
        assert.strictEqual(sent.code, -32601)
      }))

    it.effect(`[TOL-13] [TOL-14] [SCH-19] ${version}: an unknown tool is not the same as wrong arguments`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        for (const name of ["nope", "constructor", "__proto__", "toString"]) {
          const unknown = yield* client.request("tools/call", { name })
          assert.strictEqual(unknown.code, -32602, name)
          assert.include(String(at(unknown.error, "message")), name)
        }
        const wrong = yield* client.request("tools/call", { name: "picky", arguments: {} })
        if (version < "2025-11-25") assert.strictEqual(wrong.code, -32602)
        else {
          assert.isTrue(at(wrong.result, "isError"))
          assert.strictEqual(at(wrong.result, "content", 0, "text"), "limit: not a number")
        }
      }))

    it.effect(`[SCH-10] ${version}: arguments that are no object are refused, absent ones are none`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        for (const args of [null, [], "{}", 5]) {
          const sent = yield* client.request("tools/call", { name: "echo", arguments: args })
          assert.strictEqual(sent.code, -32602, JSON.stringify(args))
        }
        const none = yield* client.request("tools/call", { name: "echo" })
        assert.strictEqual(at(none.result, "content", 0, "text"), "")
      }))

    it.effect(`[TOL-21] [SCH-18] ${version}: a defect is told as an internal error and nothing else, and others go on`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        for (const name of ["boom", "throws"]) {
          const sent = yield* client.request("tools/call", { name })
          assert.deepStrictEqual(at(sent.answer, "error"), { code: -32603, message: "Internal error" })
        }
        const refused = yield* client.request("tools/call", { name: "refuses" })
        assert.deepStrictEqual(at(refused.answer, "error"), { code: -32602, message: "not today" })
        const after = yield* client.request("tools/call", { name: "echo", arguments: { t: "alive" } })
        assert.strictEqual(at(after.result, "content", 0, "text"), "alive")
      }))

    it.effect(`[PAG-04] [PAG-05] [field PAG-04] ${version}: every list comes in pages, and a bad cursor is -32602`, () =>
      Effect.gen(function*() {
        const many = register(
          ...Array.from({ length: 5 }, (_, i) => tool(`t${i}`, () => Effect.succeed(text("")))),
          ...Array.from({ length: 3 }, (_, i) => resource(`demo://${i}`, Effect.succeed(contents("x", "")))),
          ...Array.from({ length: 3 }, (_, i) => template(`demo://${i}/{x}`, () => Effect.succeed(contents("x", "")))),
          ...Array.from({ length: 3 }, (_, i) => prompt(`p${i}`, () => Effect.succeed({ messages: [] })))
        )
        const client = connect(yield* serve(many, { pageSize: 2 }), version)
        const all = Effect.fnUntraced(function*(method: string, member: string) {
          let cursor: unknown
          let count = 0
          do {
            const { result } = yield* client.request(method, cursor === undefined ? {} : { cursor })
            count += Object(at(result, member)).length
            cursor = at(result, "nextCursor")
          } while (cursor !== undefined)
          return count
        })
        assert.strictEqual(yield* all("tools/list", "tools"), 5)
        assert.strictEqual(yield* all("resources/list", "resources"), 3)
        assert.strictEqual(yield* all("resources/templates/list", "resourceTemplates"), 3)
        assert.strictEqual(yield* all("prompts/list", "prompts"), 3)
        for (const cursor of ["bogus", "", 5, null]) {
          assert.strictEqual((yield* client.request("tools/list", { cursor })).code, -32602, JSON.stringify(cursor))
        }
      }))
  }

  for (const version of legacyVersions) {
    it.effect(`[LIF-03] [LIF-05] ${version}: initialize agrees on it`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(everything, { instructions: "Be brief", title: "Tester" })
        const client = new Client(endpoint, version, new Wire())
        const result = client.hello()?.result
        assert.strictEqual(at(result, "protocolVersion"), version)
        assert.strictEqual(at(result, "serverInfo", "name"), "tester")
        assert.strictEqual(at(result, "serverInfo", "title"), version >= "2025-06-18" ? "Tester" : undefined)
        assert.strictEqual(at(result, "instructions"), "Be brief")
      }))

    it.effect(`[LIF-05] ${version}: the answer to initialize has capabilities and serverInfo, also of a server without anything`, () =>
      Effect.gen(function*() {
        const bare = new Client(yield* serve(register(), { capabilities: { logging: false } }), version, new Wire())
        assert.deepStrictEqual(bare.hello()?.result, {
          protocolVersion: version,
          capabilities: {},
          serverInfo: { name: "tester", version: "1.2.3" }
        })
        const full = new Client(yield* serve(everything), version, new Wire()).hello()?.result
        const offered = [
          "tools",
          "prompts",
          "resources",
          "logging",
          ...(version === "2024-11-05" ? [] : ["completions"])
        ]
        assert.sameMembers(Object.keys(Object(at(full, "capabilities"))), offered)
        assert.deepStrictEqual(at(full, "serverInfo"), { name: "tester", version: "1.2.3" })
      }))

    it.effect(`[field LIF-04] [field LIF-05] ${version}: what comes between initialize and initialized is served`, () =>
      Effect.gen(function*() {
        const client = new Client(yield* serve(everything), version, new Wire())
        client.start("initialize", {
          protocolVersion: version,
          capabilities: {},
          clientInfo: { name: "x", version: "0" }
        })
        assert.deepStrictEqual(client.start("ping").result, {})
        assert.deepStrictEqual(client.start("logging/setLevel", { level: "error" }).result, {})
        assert.strictEqual(Object(at(client.start("tools/list").result, "tools")).length, 6)
        client.notify("notifications/initialized")
        assert.strictEqual(Object(at(client.start("tools/list").result, "tools")).length, 6)
      }))

    it.effect(`[PNG-01] ${version}: ping is {} at any time`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(everything)
        const client = new Client(endpoint, version, new Wire())
        assert.deepStrictEqual(client.start("ping").result, {})
        client.hello()
        assert.deepStrictEqual(client.start("ping").result, {})
      }))

    it.effect(`[LOG-02] [LOG-05] ${version}: logging/setLevel takes the eight levels and no others`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        assert.deepStrictEqual((yield* client.request("logging/setLevel", { level: "emergency" })).result, {})
        for (const level of ["loud", undefined, 3]) {
          assert.strictEqual((yield* client.request("logging/setLevel", { level })).code, -32602)
        }
      }))

    it.effect(`[RES-03] ${version}: resources/subscribe and resources/unsubscribe answer {}`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        assert.deepStrictEqual((yield* client.request("resources/subscribe", { uri: "demo://a" })).result, {})
        assert.deepStrictEqual((yield* client.request("resources/unsubscribe", { uri: "demo://a" })).result, {})
        assert.strictEqual((yield* client.request("resources/subscribe", {})).code, -32602)
      }))

    it.effect(`[field RPC-14] ${version}: lists need no params`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(everything), version)
        for (const params of [undefined, {}, { _meta: {} }]) {
          const bare = client.raw({ jsonrpc: "2.0", id: 2, method: "tools/list", ...(params && { params }) })
          assert.strictEqual(Object(at(bare.result, "tools")).length, 6)
        }
      }))
  }
})

describe("results of 2026-07-28", () => {
  it.effect("[RPC-13] every result is marked as complete, and none is on older revisions", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(everything)
      const requests = [
        ["tools/list", {}],
        ["tools/call", { name: "echo", arguments: { t: "" } }],
        ["resources/list", {}],
        ["resources/templates/list", {}],
        ["resources/read", { uri: "demo://a" }],
        ["prompts/list", {}],
        ["prompts/get", { name: "greet", arguments: { who: "Ada" } }],
        ["completion/complete", { ref: { type: "ref/prompt", name: "greet" }, argument: { name: "who", value: "" } }]
      ] as const
      const now = connect(endpoint, modern)
      const old = connect(endpoint, "2025-11-25")
      for (const [method, params] of requests) {
        assert.strictEqual(at((yield* now.request(method, params)).result, "resultType"), "complete", method)
        const { result } = yield* old.request(method, params)
        assert.isDefined(result, method)
        assert.notProperty(result, "resultType", method)
      }
      assert.strictEqual(at((yield* now.request("server/discover")).result, "resultType"), "complete")
    }))

  it.effect("[META-10] every result says which server it is from, beside the _meta it has", () =>
    Effect.gen(function*() {
      const registrations = register(
        tool("meta", () => Effect.succeed({ ...text(""), _meta: { "example.com/trace": "t1" } }))
      )
      const client = connect(yield* serve(registrations), modern)
      const key = "io.modelcontextprotocol/serverInfo"
      for (const sent of [yield* client.request("tools/list"), yield* client.request("server/discover")]) {
        assert.deepStrictEqual(at(sent.result, "_meta"), { [key]: { name: "tester", version: "1.2.3" } })
      }
      const called = yield* client.request("tools/call", { name: "meta" })
      assert.deepStrictEqual(at(called.result, "_meta"), {
        "example.com/trace": "t1",
        [key]: { name: "tester", version: "1.2.3" }
      })
    }))

  it.effect("[TOL-01] [RES-01] [PRM-01] lists do not depend on the connection, nor on what was asked on it before", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(everything)
      const lists = Effect.fnUntraced(function*(client: Client) {
        const results: Array<unknown> = []
        for (const method of ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]) {
          results.push((yield* client.request(method)).result)
        }
        return results
      })
      const first = connect(endpoint, modern)
      const before = yield* lists(first)
      yield* first.request("tools/call", { name: "echo", arguments: { t: "x" } })
      yield* first.request("tools/call", { name: "boom" })
      yield* first.request("resources/read", { uri: "demo://a" })
      for (const client of [first, connect(endpoint, modern), overHttp(endpoint, modern)]) {
        assert.deepStrictEqual(yield* lists(client), before)
      }
    }))

  it.effect("[field SUB-01] listing announces nothing, however often", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(everything)
      const old = connect(endpoint, "2025-11-25")
      const listening = connect(endpoint, modern).start("subscriptions/listen", {
        notifications: { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true }
      })
      for (const client of [old, connect(endpoint, modern)]) {
        for (const method of ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]) {
          yield* client.request(method)
          yield* client.request(method)
        }
      }
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(old.wire?.unsolicited, [])
      assert.deepStrictEqual(listening.pushed.length, 1)
    }))

  it.effect("[CCH-10] every page of a list has the same scope, private as soon as one entry is not for everybody", () =>
    Effect.gen(function*() {
      const scopes = Effect.fnUntraced(function*(guarded: boolean) {
        const registrations = register(
          ...["a", "b", "c"].map((name) =>
            tool(name, () => Effect.succeed(text("")), guarded && name === "b" ? { visible: () => true } : {})
          )
        )
        const options = { pageSize: 1, cache: { ttlMs: 5000, scope: "public" } } as const
        const client = connect(yield* serve(registrations, options), modern)
        const seen: Array<unknown> = []
        let cursor: unknown
        do {
          const { result } = yield* client.request("tools/list", cursor === undefined ? {} : { cursor })
          seen.push(at(result, "cacheScope"))
          cursor = at(result, "nextCursor")
        } while (cursor !== undefined)
        return seen
      })
      assert.deepStrictEqual(yield* scopes(false), ["public", "public", "public"])
      assert.deepStrictEqual(yield* scopes(true), ["private", "private", "private"])
    }))

  it.effect("[CCH-01] hints of lists come from the options, those of reads from the resource", () =>
    Effect.gen(function*() {
      const cache = { ttlMs: 60_000, scope: "public" } as const
      const registrations = register(
        resource("demo://plain", Effect.succeed(contents("demo://plain", ""))),
        resource("demo://kept", Effect.succeed(contents("demo://kept", "")), { cache }),
        resource("demo://guarded", Effect.succeed(contents("demo://guarded", "")), { cache, visible: () => true })
      )
      const client = connect(yield* serve(registrations, { cache: { ttlMs: 5000, scope: "public" } }), modern)
      const hints = (result: unknown) => [at(result, "ttlMs"), at(result, "cacheScope")]
      const read = (uri: string) => Effect.map(client.request("resources/read", { uri }), (sent) => hints(sent.result))
      assert.deepStrictEqual(yield* read("demo://plain"), [0, "private"])
      assert.deepStrictEqual(yield* read("demo://kept"), [60_000, "public"])
      // What not everybody may see is nobody else's to keep (CCH-12).
      assert.deepStrictEqual(yield* read("demo://guarded"), [60_000, "private"])
      assert.deepStrictEqual(hints((yield* client.request("server/discover")).result), [5000, "public"])
      assert.deepStrictEqual(hints((yield* client.request("resources/templates/list")).result), [5000, "public"])
      assert.deepStrictEqual(hints((yield* client.request("resources/list")).result), [5000, "private"])
    }))
})

describe("visibility", () => {
  const seesIf = (name: string) => (context: RequestContext["Service"]) => context.clientInfo?.name === name
  const guarded = register(
    tool("open", () => Effect.succeed(text("open"))),
    tool("secret", () => Effect.succeed(text("secret")), { visible: seesIf("friend"), scopes: ["admin"] }),
    tool("broken", () => Effect.succeed(text("")), {
      visible: () => {
        throw new Error("check")
      }
    }),
    resource("demo://secret", Effect.succeed(contents("demo://secret", "")), { visible: seesIf("friend") }),
    template("demo://s/{x}", () => Effect.succeed(contents("demo://s/1", "")), { visible: seesIf("friend") }),
    prompt("secret", () => Effect.succeed({ messages: [] }), { visible: seesIf("friend") })
  )

  for (const version of allVersions) {
    it.effect(`[CCH-05] ${version}: what a caller may not see is not listed, and answers as what is unknown`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(guarded), version)
        const tools = yield* client.request("tools/list")
        assert.deepStrictEqual(Array.from(Object(at(tools.result, "tools")), (each) => at(each, "name")), ["open"])
        assert.deepStrictEqual(at((yield* client.request("resources/list")).result, "resources"), [])
        assert.deepStrictEqual(at((yield* client.request("resources/templates/list")).result, "resourceTemplates"), [])
        assert.deepStrictEqual(at((yield* client.request("prompts/list")).result, "prompts"), [])

        const hidden = yield* client.request("tools/call", { name: "secret" })
        const unknown = yield* client.request("tools/call", { name: "unknown" })
        assert.deepStrictEqual(hidden.error, {
          ...Object(unknown.error),
          message: String(at(unknown.error, "message")).replace("unknown", "secret")
        })
        assert.strictEqual((yield* client.request("tools/call", { name: "broken" })).code, -32602)
        for (const uri of ["demo://secret", "demo://s/1"]) {
          const read = yield* client.request("resources/read", { uri })
          assert.strictEqual(read.code, version === modern ? -32602 : -32002)
        }
        assert.strictEqual((yield* client.request("prompts/get", { name: "secret" })).code, -32602)
      }))
  }
})

const registryOf = (inside: Inside) => {
  if (inside.registry === undefined) throw new Error("not built")
  return inside.registry
}

describe("what was written once", () => {
  it.effect("[TOL-04] a list follows what is registered and removed", () =>
    Effect.gen(function*() {
      const inside: Inside = { registry: undefined, bus: undefined }
      const endpoint = yield* serve(Layer.merge(everything, spy(inside)))
      const names = (version: "2025-11-25" | "2026-07-28") =>
        Effect.map(
          connect(endpoint, version).request("tools/list"),
          (sent) => Object(at(sent.result, "tools")).length
        )
      assert.strictEqual(yield* names("2025-11-25"), 6)
      assert.strictEqual(yield* names("2026-07-28"), 6)
      yield* Effect.scoped(Effect.gen(function*() {
        yield* registryOf(inside).register(tool("late", () => Effect.succeed(text(""))))
        assert.strictEqual(yield* names("2025-11-25"), 7)
        assert.strictEqual(yield* names("2026-07-28"), 7)
      }))
      assert.strictEqual(yield* names("2025-11-25"), 6)
      assert.strictEqual(yield* names("2026-07-28"), 6)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import type * as McpServer from "@mcpfx/server/McpServer"
import { Effect, Layer } from "effect"
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
import { allVersions, at, Client, connect, legacyVersions, serve, type Version, Wire } from "./protocol/harness.ts"

const capabilitiesOf = (endpoint: Effect.Success<ReturnType<typeof serve>>, version: Version) =>
  Effect.suspend(() => {
    const client = new Client(endpoint, version, new Wire())
    const hello = client.hello()
    return hello === undefined
      ? Effect.map(client.request("server/discover"), (sent) => at(sent.result, "capabilities"))
      : Effect.succeed(at(hello.result, "capabilities"))
  })

const oneTool = register(tool("t", () => Effect.succeed(text(""))))

describe("capabilities", () => {
  for (const version of allVersions) {
    it.effect(`[CAP-01] ${version}: they follow from what is registered`, () =>
      Effect.gen(function*() {
        assert.deepStrictEqual(yield* capabilitiesOf(yield* serve(register()), version), { logging: {} })
        assert.deepStrictEqual(yield* capabilitiesOf(yield* serve(oneTool), version), {
          logging: {},
          tools: { listChanged: true }
        })
        const rest = register(
          template("demo://{x}", () => Effect.succeed(contents("x", ""))),
          prompt("p", () => Effect.succeed({ messages: [] }), { completions: new Map([["x", completing([])]]) })
        )
        assert.deepStrictEqual(yield* capabilitiesOf(yield* serve(rest), version), {
          logging: {},
          ...(version === "2024-11-05" ? undefined : { completions: {} }),
          prompts: { listChanged: true },
          resources: { subscribe: true, listChanged: true }
        })
      }))

    it.effect(`[CAP-01] [EXT-02] [EXT-03] ${version}: options declare empty lists, silence, and what is not of the protocol`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(oneTool, {
          capabilities: {
            tools: false,
            prompts: true,
            resources: { listChanged: false, subscribe: false },
            logging: false
          },
          experimental: { "x-team": { a: 1 } },
          extensions: { "com.example/thing": {} }
        })
        assert.deepStrictEqual(yield* capabilitiesOf(endpoint, version), {
          experimental: { "x-team": { a: 1 } },
          prompts: { listChanged: true },
          resources: {},
          extensions: { "com.example/thing": {} }
        })
      }))

    it.effect(`[EXT-06] ${version}: a server that names no extension offers none, and has no method of one`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(oneTool)
        assert.notProperty(yield* capabilitiesOf(endpoint, version), "extensions")
        const client = connect(endpoint, version)
        for (const method of ["tasks/get", "tasks/update", "tasks/cancel", "tasks/list", "tasks/result"]) {
          assert.strictEqual((yield* client.request(method, { taskId: "t" })).code, -32601, method)
        }
      }))

    it.effect(`[RPC-24] [LIF-12] ${version}: a method behind a capability that is not offered is -32601`, () =>
      Effect.gen(function*() {
        const client = connect(yield* serve(oneTool, { capabilities: { logging: false } }), version)
        const behind = [
          "prompts/list",
          "prompts/get",
          "resources/list",
          "resources/templates/list",
          "resources/read",
          "resources/subscribe",
          "resources/unsubscribe",
          "completion/complete",
          "logging/setLevel"
        ]
        for (const method of behind) {
          const sent = yield* client.request(method)
          assert.strictEqual(sent.code, -32601, method)
          if (version === "2026-07-28") assert.strictEqual(sent.rejected?.httpStatus, 404)
        }
        const declared = connect(yield* serve(register(), { capabilities: { resources: true } }), version)
        const templates = yield* declared.request("resources/templates/list")
        assert.deepStrictEqual(at(templates.result, "resourceTemplates"), [])
        assert.strictEqual((yield* declared.request("tools/list")).code, -32601)
      }))
  }

  it.effect("[CMP-01] 2024-11-05 completes without a capability, where there is something to complete", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(register(resource("demo://a", Effect.succeed(contents("demo://a", "")))))
      const params = { ref: { type: "ref/resource", uri: "demo://a" }, argument: { name: "x", value: "" } }
      const old = yield* connect(endpoint, "2024-11-05").request("completion/complete", params)
      assert.deepStrictEqual(at(old.result, "completion", "values"), [])
      for (const version of allVersions.slice(1)) {
        assert.strictEqual((yield* connect(endpoint, version).request("completion/complete", params)).code, -32601)
      }
    }))

  it.effect("[CAP-01] what is registered later is offered from then on", () =>
    Effect.gen(function*() {
      const inside: Inside = { registry: undefined, bus: undefined }
      const endpoint = yield* serve(spy(inside))
      const clients = allVersions.map((version) => connect(endpoint, version))
      for (const client of clients) assert.strictEqual((yield* client.request("tools/list")).code, -32601)
      yield* inside.registry?.register(tool("t", () => Effect.succeed(text("")))) ?? Effect.void
      for (const client of clients) {
        assert.strictEqual(at((yield* client.request("tools/list")).result, "tools", 0, "name"), "t")
      }
    }))
})

describe("server/discover", () => {
  it.effect("[VER-03] [VER-05] [CCH-01] says what is served, for how long, and who serves it", () =>
    Effect.gen(function*() {
      const endpoint = yield* serve(oneTool, {
        instructions: "Be brief",
        revisions: ["2025-11-25", "2026-07-28"],
        websiteUrl: "https://example.com",
        icons: [{ src: "https://example.com/a.png" }]
      })
      const { result } = yield* connect(endpoint, "2026-07-28").request("server/discover")
      assert.deepStrictEqual(result, {
        supportedVersions: ["2026-07-28", "2025-11-25"],
        capabilities: { logging: {}, tools: { listChanged: true } },
        ttlMs: 0,
        cacheScope: "private",
        instructions: "Be brief",
        resultType: "complete",
        _meta: {
          "io.modelcontextprotocol/serverInfo": {
            name: "tester",
            version: "1.2.3",
            websiteUrl: "https://example.com",
            icons: [{ src: "https://example.com/a.png" }]
          }
        }
      })
    }))

  for (const version of legacyVersions) {
    it.effect(`[LIF-18] ${version}: what later revisions know about a server is left out`, () =>
      Effect.gen(function*() {
        const endpoint = yield* serve(oneTool, { title: "T", description: "D", websiteUrl: "https://example.com" })
        const info = at(new Client(endpoint, version, new Wire()).hello()?.result, "serverInfo")
        assert.deepStrictEqual(info, {
          name: "tester",
          version: "1.2.3",
          ...(version >= "2025-06-18" ? { title: "T" } : undefined),
          ...(version >= "2025-11-25" ? { description: "D", websiteUrl: "https://example.com" } : undefined)
        })
      }))
  }
})

describe("options", () => {
  it.effect("[EXT-01] those that make no sense keep the endpoint from being built", () =>
    Effect.gen(function*() {
      const faults: ReadonlyArray<Partial<McpServer.Options>> = [
        { name: "" },
        { revisions: [] },
        { pageSize: 0 },
        { pageSize: 1.5 },
        { cache: { ttlMs: -1 } },
        { extensions: { plain: {} } }
      ]
      for (const fault of faults) {
        const error = yield* Effect.flip(serve(oneTool, fault))
        assert.strictEqual(error._tag, "InvalidOptions", JSON.stringify(fault))
      }
    }))

  it.effect("[TOL-11] two registrations of one name keep the endpoint from being built", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(serve(Layer.merge(oneTool, register(tool("t", () => Effect.succeed(text("")))))))
      assert.strictEqual(error._tag, "DuplicateEntry")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as ClientApps from "@mcpfx/client/ClientApps"
import * as McpClient from "@mcpfx/client/McpClient"
import { Apps, Resource, Tool } from "@mcpfx/schema"
import * as TestServer from "@mcpfx/testing/TestServer"
import { Effect, Layer, Option, Result, Schema } from "effect"
import * as McpServer from "../src/McpServer.ts"
import * as ServerApps from "../src/ServerApps.ts"
import { allVersions } from "./protocol/harness.ts"

const html = "<!doctype html><title>Weather</title>"
const Dashboard = ServerApps.page(
  "ui://weather/dashboard",
  {
    name: "dashboard",
    csp: { connectDomains: ["https://api.weather.example"] },
    permissions: { geolocation: {} },
    prefersBorder: true
  },
  html
)

const Weather = Tool.make("weather", {
  input: { city: Schema.String },
  output: { celsius: Schema.Finite },
  meta: { "com.example/own": 1 }
})
const Refresh = Tool.make("refresh")

const Live = Layer.mergeAll(
  ServerApps.tool(Weather, Dashboard, () => Effect.succeed({ celsius: 21 })),
  ServerApps.tool(Refresh, Dashboard, () => Effect.succeed("fresh"), { visibility: ["app"] }),
  McpServer.tool(Tool.make("plain"), () => Effect.map(ServerApps.isShown, (shown) => shown ? "shown" : "text"))
)

/** Revisions on which tools have a `_meta`. */
const withMeta = allVersions.filter((version) => version >= "2025-06-18")

describe("a tool with a page", () => {
  for (const revision of withMeta) {
    it.effect(`[APP-01] [APP-02] [APP-06] ${revision}: names its page, which is a resource of the right type`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepStrictEqual((yield* client.server).extensions, [Apps.id])
        const weather = (yield* client.tools).find(({ name }) => name === "weather")
        assert.deepStrictEqual(weather?._meta, {
          "com.example/own": 1,
          ui: { resourceUri: "ui://weather/dashboard" }
        })
        const [listed] = yield* client.resources
        assert.strictEqual(listed?.mimeType, Apps.mimeType)
        const view = yield* ClientApps.view(weather ?? {})
        assert.isTrue(Option.isSome(view))
        if (Option.isNone(view)) return
        assert.strictEqual(view.value.html, html)
        assert.strictEqual(view.value.uri, "ui://weather/dashboard")
        assert.include(view.value.policy, "connect-src https://api.weather.example;")
        assert.strictEqual(view.value.allow, "geolocation")
        assert.isTrue(view.value.meta.prefersBorder)
        const { content, structuredContent } = yield* client.callTool("weather", { city: "Rome" })
        assert.deepStrictEqual(structuredContent, { celsius: 21 })
        assert.deepStrictEqual(content, [{ type: "text", text: "{\"celsius\":21}" }])
      }).pipe(Effect.provide(TestServer.layer(Live, { revision })), Effect.provide(ClientApps.layer)))

    it.effect(`[APP-04] ${revision}: one for pages alone is kept from models, and from clients without pages`, () => {
      const names = Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        const tools = yield* client.tools
        return [tools.map(({ name }) => name), ClientApps.forModel(tools).map(({ name }) => name)]
      }).pipe(Effect.provide(TestServer.layer(Live, { revision })))
      return Effect.gen(function*() {
        assert.deepStrictEqual(yield* Effect.provide(names, ClientApps.layer), [
          ["plain", "refresh", "weather"],
          ["plain", "weather"]
        ])
        assert.deepStrictEqual(yield* names, [["plain", "weather"], ["plain", "weather"]])
      })
    })

    it.effect(`[APP-04] ${revision}: pages call what is for pages, and nothing else`, () => {
      const live = Layer.merge(
        Live,
        McpServer.tool(
          Tool.make("secret", { meta: Apps.toolMeta({ visibility: ["model"] }) }),
          () => Effect.succeed("s")
        )
      )
      return Effect.gen(function*() {
        const { content } = yield* ClientApps.callTool("refresh")
        assert.deepStrictEqual(content, [{ type: "text", text: "fresh" }])
        for (const name of ["secret", "unknown"]) {
          const { reason } = yield* Effect.flip(ClientApps.callTool(name))
          assert.strictEqual(reason._tag, "NotOffered")
        }
      }).pipe(Effect.provide(TestServer.layer(live, { revision })), Effect.provide(ClientApps.layer))
    })
  }

  for (const revision of allVersions) {
    it.effect(`[EXT-04] ${revision}: is a tool like others for clients that show no pages`, () =>
      Effect.gen(function*() {
        const client = yield* McpClient.McpClient
        assert.deepStrictEqual(yield* client.call(Weather, { city: "Rome" }), { celsius: 21 })
        const { content } = yield* client.callTool("plain")
        assert.deepStrictEqual(content, [{ type: "text", text: "text" }])
      }).pipe(Effect.provide(TestServer.layer(Live, { revision }))))
  }

  it.effect("[APP-02] handlers know who shows pages", () =>
    Effect.gen(function*() {
      const client = yield* McpClient.McpClient
      const { content } = yield* client.callTool("plain")
      assert.deepStrictEqual(content, [{ type: "text", text: "shown" }])
    }).pipe(Effect.provide(TestServer.layer(Live)), Effect.provide(ClientApps.layer)))
})

describe("pages", () => {
  it("[APP-01] of another scheme are refused", () => {
    const made = Result.try(() => ServerApps.page("https://a.example", { name: "a" }, html))
    assert.isTrue(Result.isFailure(made))
  })

  it.effect("[APP-01] that are none fail, and tools without one have none", () => {
    const tool = { _meta: Apps.toolMeta({ resourceUri: "ui://odd" }) }
    const odd = McpServer.resource(Resource.make("ui://odd", { name: "odd", mimeType: "text/html" }), html)
    return Effect.gen(function*() {
      const { reason } = yield* Effect.flip(ClientApps.view(tool))
      assert.strictEqual(reason._tag, "BadAnswer")
      assert.deepStrictEqual(yield* ClientApps.view({}), Option.none())
    }).pipe(Effect.provide(TestServer.layer(odd)))
  })

  it.effect("[APP-01] may come as bytes, and may be made when they are read", () => {
    const bytes = McpServer.resource(
      Resource.make("ui://bytes", { name: "bytes", mimeType: Apps.mimeType }),
      new TextEncoder().encode(html)
    )
    const Made = ServerApps.page("ui://made", { name: "made" }, Effect.sync(() => "<!doctype html>made"))
    return Effect.gen(function*() {
      const read = (resourceUri: string) =>
        Effect.map(ClientApps.view({ _meta: Apps.toolMeta({ resourceUri }) }), Option.map(({ html }) => html))
      assert.deepStrictEqual(yield* read("ui://bytes"), Option.some(html))
      assert.deepStrictEqual(yield* read("ui://made"), Option.some("<!doctype html>made"))
    }).pipe(Effect.provide(TestServer.layer(Layer.merge(bytes, Made.layer))))
  })
})

/** The ready-made ways to a server: a child process, and HTTP. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { McpClient, Negotiation } from "@mcpfx/client"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestHttp } from "@mcpfx/testing"
import { Config, ConfigProvider, Effect, Layer, Schema } from "effect"
import { HttpClient } from "effect/http"
import { fileURLToPath } from "node:url"

const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))

const program = Effect.flatMap(McpClient.McpClient, (client) => client.call(Add, { a: 1, b: 2 }))
const eras = Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache())

describe("layerHttp", () => {
  const url = "http://localhost/mcp"
  const served = <A, E>(
    layer: Layer.Layer<McpClient.McpClient, E, HttpClient.HttpClient>,
    run: Effect.Effect<A, E, McpClient.McpClient>
  ) =>
    Effect.gen(function*() {
      const { client } = yield* TestHttp.make(AddLive)
      const live = Layer.provide(layer, Layer.merge(Layer.succeed(HttpClient.HttpClient, client), eras))
      return yield* Effect.provide(run, live)
    })

  it.effect("needs an address and an HttpClient", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* served(McpClient.layerHttp({ url }), program), { sum: 3 })
    }))

  it.effect("takes the options of client and transport side by side", () =>
    Effect.gen(function*() {
      const live = McpClient.layerHttp({
        url,
        revisions: ["2025-06-18"],
        headers: { "x-api-key": "k" },
        streams: { maxRetries: 0 },
        reconnect: false
      })
      const server = Effect.flatMap(McpClient.McpClient, (client) => client.server)
      assert.strictEqual((yield* served(live, server)).revision.version, "2025-06-18")
    }))

  it.effect("takes its options from the program's configuration", () =>
    Effect.gen(function*() {
      const live = McpClient.layerHttpConfig(Config.map(Config.String("MCP_URL"), (url) => ({ url })))
      const provided = Layer.provide(live, ConfigProvider.layer(ConfigProvider.fromUnknown({ MCP_URL: url })))
      assert.deepStrictEqual(yield* served(provided, program), { sum: 3 })
      const missing = Layer.provide(live, ConfigProvider.layer(ConfigProvider.fromUnknown({})))
      assert.strictEqual((yield* Effect.flip(served(missing, program)))._tag, "ConfigError")
    }))
})

describe("layerStdio", () => {
  const script = fileURLToPath(new URL("./support/stdioServer.ts", import.meta.url))
  const reach = (command: ReadonlyArray<string>, options: Partial<McpClient.StdioOptions> = {}) =>
    McpClient.layerStdio({ command, probeTimeout: "30 seconds", ...options }).pipe(
      Layer.provide(NodeServices.layer),
      Layer.provide(eras)
    )

  it.live("starts the server and ends it", () =>
    Effect.gen(function*() {
      const live = reach([process.execPath, script], { env: { GREETING: "hello" } })
      assert.deepStrictEqual(yield* Effect.provide(program, live), { sum: 3 })
    }), 60_000)

  it.live("[field HST-01] tells why there is no server: what it wrote, and how it ended", () =>
    Effect.gen(function*() {
      const code = "process.stderr.write('no such table: users'); process.exit(3)"
      const failure = yield* Effect.flip(Effect.scoped(Layer.build(reach([process.execPath, "-e", code]))))
      assert.deepInclude(failure.reason, { _tag: "ConnectionLost", exitCode: 3, stderr: "no such table: users" })
      const missing = yield* Effect.flip(Effect.scoped(Layer.build(reach(["/no/such/program"]))))
      assert.deepInclude(missing.reason, { _tag: "ConnectionLost", detail: "could not start /no/such/program" })
    }), 60_000)

  it.live(
    "[field MEM-04] leaves no listener behind on the process, however often it fails",
    () =>
      Effect.gen(function*() {
        const count = () => ["SIGINT", "SIGTERM", "exit", "beforeExit"].map((name) => process.listenerCount(name))
        const before = count()
        for (let n = 0; n < 20; n++) yield* Effect.flip(Effect.scoped(Layer.build(reach(["/no/such/program"]))))
        assert.deepStrictEqual(count(), before)
      }),
    60_000
  )
})

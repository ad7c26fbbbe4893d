/** The clients of both TypeScript SDKs are let go by our server, and come back for the answer. */
import { assert, describe, layer } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Polling, Progress } from "@mcpfx/session"
import { EventStore } from "@mcpfx/transport"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import type { Connect } from "../../src/interop/peerClient.ts"
import * as Sdk1 from "../../src/interop/sdk1Client.ts"
import * as Sdk2 from "../../src/interop/sdk2Client.ts"
import { Wire } from "../../src/interop/wire.ts"
import * as LoopbackServer from "../../src/loopbackServer.ts"

const Work = McpServer.tool(Tool.make("work"), () =>
  Effect.gen(function*() {
    yield* Progress.report({ progress: 1 })
    const letGo = yield* Polling.hangUp({ retry: "200 millis" })
    yield* Progress.report({ progress: 2 })
    yield* Effect.sleep("600 millis")
    yield* Progress.report({ progress: 3 })
    return `let go: ${letGo}`
  }))

const Server = HttpRouter.serve(McpServer.layerHttp(Work, { name: "resumed", version: "1.0.0" }), {
  disableListenLog: true,
  disableLogger: true
}).pipe(
  Layer.provide(EventStore.layerMemory),
  Layer.provideMerge(LoopbackServer.layer())
)

const clients: Readonly<Record<string, Connect>> = { "version 1": Sdk1.connect, "version 2": Sdk2.connect }

describe("a client of the TypeScript SDK", () => {
  layer(Server, { excludeTestServices: true })((it) => {
    for (const [version, connect] of Object.entries(clients)) {
      it.effect(`[HTTP-28] [HTTP-33] of ${version} has the rest over another connection`, () =>
        Effect.gen(function*() {
          const { address } = yield* HttpServer.HttpServer
          const port = address._tag === "UnixPathAddress" ? 0 : address.port
          const wire = new Wire()
          const client = yield* Effect.acquireRelease(
            Effect.promise(() =>
              connect({ transport: "http", url: `http://127.0.0.1:${port}/mcp` }, "2025-11-25", wire)
            ),
            (client) => Effect.promise(() => client.close())
          )
          const heard: Array<number> = []
          const result = yield* Effect.promise(() =>
            client.call("work", {}, { onProgress: (progress) => void heard.push(progress) })
          )
          assert.strictEqual(result.text, "let go: true")
          assert.deepStrictEqual(heard, [1, 2, 3])
          // One stream of the session, one or more for the rest of the request.
          assert.isAtLeast(wire.lines.filter((line) => line === "← HTTP GET 200").length, 2)
          assert.strictEqual(wire.lines.filter((line) => line.startsWith("→") && line.includes("tools/call")).length, 1)
        }), 20_000)
    }
  })
})

/** Run `node main.ts`: asks for a report over a connection that the server closes, and has it all the same. */
import { McpClient } from "@mcpfx/client"
import { Console, Effect, Layer } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { layer, Report } from "./server.ts"

const ask = Effect.gen(function*() {
  const client = yield* McpClient.McpClient
  const { counted, letGo } = yield* client.call(Report, { rows: 10 }, {
    onProgress: ({ progress }) => Console.log(`row ${progress}`)
  })
  yield* Console.log(`${counted} rows counted${letGo ? ", over two connections" : ""}`)
})

/** Only 2025-11-25 has clients that are let go and come back. */
const overHttp = Layer.unwrap(Effect.map(HttpServer.HttpServer, ({ address }) =>
  McpClient.layerHttp({
    url: `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}/mcp`,
    revisions: ["2025-11-25"]
  })))

export const program = Effect.scoped(ask).pipe(
  Effect.provide(overHttp),
  Effect.provide(Layer.merge(layer(0), FetchHttpClient.layer))
)

if (process.argv[1] === import.meta.filename) await Effect.runPromise(program)

/** Every revision on every transport that has it, each as a way to reach a fresh server. */
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { type Revision, Revisions } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { type ClientTransport, Memory, StdioClient, StreamableHttpClient } from "@mcpfx/transport"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { info, registrations } from "./registrations.ts"

/** One square of the matrix. */
export interface Cell {
  readonly revision: Revision.Version
  readonly transport: "memory" | "stdio" | "http"
  readonly layer: Layer.Layer<ClientTransport.ClientTransport>
}

const memory = Memory.layer.pipe(Layer.provide(McpServer.layer(registrations, info)), Layer.orDie)

const stdio = StdioClient.layer({
  command: [process.execPath, fileURLToPath(new URL("./stdioServer.ts", import.meta.url))]
}).pipe(Layer.provide(NodeServices.layer))

const server = McpServer.drainFirst(
  HttpRouter.serve(McpServer.layerHttp(registrations, info), { disableListenLog: true, disableLogger: true })
).pipe(Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })))

const http = Layer.unwrap(Effect.map(HttpServer.HttpServer, ({ address }) =>
  StreamableHttpClient.layer({
    url: `http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}/mcp`
  }))).pipe(Layer.provide(FetchHttpClient.layer), Layer.provide(server), Layer.orDie)

/** HTTP came with 2025-03-26. */
export const cells: ReadonlyArray<Cell> = Revisions.all.flatMap(({ version }): ReadonlyArray<Cell> => [
  { revision: version, transport: "memory", layer: memory },
  { revision: version, transport: "stdio", layer: stdio },
  ...(version === "2024-11-05" ? [] : [{ revision: version, transport: "http" as const, layer: http }])
])

/** Whether a cell's revision is at least `version`. */
export const since = ({ revision }: Cell, version: Revision.Version): boolean => revision >= version

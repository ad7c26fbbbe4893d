/** Every revision on every transport that has it, each as a way to reach a fresh server. */
import { NodeHttpServer, NodeServices } from "@effect/platform-node"
import { type Revision, Revisions } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { type ClientTransport, HttpSseClient, Memory, StdioClient, StreamableHttpClient } from "@mcpfx/transport"
import { Effect, Layer } from "effect"
import { FetchHttpClient, type HttpClient, HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { info, registrations } from "./registrations.ts"

/** One square of the matrix. */
export interface Cell {
  readonly revision: Revision.Version
  readonly transport: "memory" | "stdio" | "http"
  readonly layer: Layer.Layer<ClientTransport.ClientTransport>
}

/** What is served in the cells, and the program that serves it over its standard streams. */
export interface Served<A, E> {
  readonly registrations: Layer.Layer<A, E, McpServer.Provided>
  readonly info: McpServer.Options
  readonly program: string
}

export const cellsOf = <A, E>({ info, program, registrations }: Served<A, E>): ReadonlyArray<Cell> => {
  const memory = Memory.layer.pipe(Layer.provide(McpServer.layer(registrations, info)), Layer.orDie)

  const stdio = StdioClient.layer({
    command: [process.execPath, fileURLToPath(new URL(program, import.meta.url))]
  }).pipe(Layer.provide(NodeServices.layer))

  const server = McpServer.drainFirst(
    HttpRouter.serve(McpServer.layerHttp(registrations, { ...info, sse: true }), {
      disableListenLog: true,
      disableLogger: true
    })
  ).pipe(Layer.provideMerge(NodeHttpServer.layer(() => createServer(), { port: 0, host: "127.0.0.1" })))

  const over = (make: (origin: string) => Layer.Layer<ClientTransport.ClientTransport, never, HttpClient.HttpClient>) =>
    Layer.unwrap(Effect.map(
      HttpServer.HttpServer,
      ({ address }) => make(`http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`)
    )).pipe(Layer.provide(FetchHttpClient.layer), Layer.provide(server), Layer.orDie)

  const http = over((origin) => StreamableHttpClient.layer({ url: `${origin}/mcp` }))
  const httpSse = over((origin) => HttpSseClient.layer({ url: `${origin}/sse` }))

  // On 2024-11-05 HTTP is the transport with two endpoints: Streamable HTTP came after it.
  return Revisions.all.flatMap(({ version }): ReadonlyArray<Cell> => [
    { revision: version, transport: "memory", layer: memory },
    { revision: version, transport: "stdio", layer: stdio },
    { revision: version, transport: "http", layer: version === "2024-11-05" ? httpSse : http }
  ])
}

export const cells = cellsOf({ registrations, info, program: "./stdioServer.ts" })

/** Whether a cell's revision is at least `version`. */
export const since = ({ revision }: Cell, version: Revision.Version): boolean => revision >= version

/** Every revision on every transport that has it, each as a way to reach a fresh server. */
import { NodeServices } from "@effect/platform-node"
import { NodeListener } from "@mcpfx/node"
import { type Revision, Revisions } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import * as LoopbackServer from "@mcpfx/tooling/loopbackServer"
import { packed } from "@mcpfx/tooling/packed"
import { type ClientTransport, HttpSseClient, Memory, StdioClient, StreamableHttpClient } from "@mcpfx/transport"
import { Effect, Layer } from "effect"
import { FetchHttpClient, type HttpClient, HttpRouter, HttpServer } from "effect/http"
import { fileURLToPath } from "node:url"
import { info, registrations } from "./registrations.ts"

/** One square of the matrix. */
export interface Cell {
  readonly revision: Revision.Version
  readonly transport: "memory" | "stdio" | "http"
  /** What the cell is called; beside its transport, the server that it is behind, where that is not the usual one. */
  readonly name: string
  readonly layer: Layer.Layer<ClientTransport.ClientTransport>
}

/** What is served in the cells, and the program that serves it over its standard streams. */
export interface Served<A, E> {
  readonly registrations: Layer.Layer<A, E, McpServer.Provided>
  readonly info: McpServer.Options
  readonly program: string
}

type Serving = Layer.Layer<HttpServer.HttpServer, unknown>

/** One server for every revision: HTTP+SSE on 2024-11-05, since Streamable HTTP came after it. */
const httpCells = (name: string, server: Serving): ReadonlyArray<Cell> => {
  const over = (make: (origin: string) => Layer.Layer<ClientTransport.ClientTransport, never, HttpClient.HttpClient>) =>
    Layer.unwrap(Effect.map(
      HttpServer.HttpServer,
      ({ address }) => make(`http://127.0.0.1:${address._tag === "UnixPathAddress" ? 0 : address.port}`)
    )).pipe(Layer.provide(FetchHttpClient.layer), Layer.provide(server), Layer.orDie)

  const http = over((origin) => StreamableHttpClient.layer({ url: `${origin}/mcp` }))
  const httpSse = over((origin) => HttpSseClient.layer({ url: `${origin}/sse` }))

  return Revisions.all.map(({ version }) => ({
    revision: version,
    transport: "http",
    name,
    layer: version === "2024-11-05" ? httpSse : http
  }))
}

export const cellsOf = <A, E>({ info, program, registrations }: Served<A, E>): ReadonlyArray<Cell> => {
  const memory = Memory.layer.pipe(Layer.provide(McpServer.layer(registrations, info)), Layer.orDie)

  const stdio = Layer.unwrap(Effect.map(
    Effect.promise(() => packed(fileURLToPath(new URL(program, import.meta.url)))),
    (file) => StdioClient.layer({ command: [process.execPath, file] })
  )).pipe(Layer.provide(NodeServices.layer))

  const server = McpServer.drainFirst(
    HttpRouter.serve(McpServer.layerHttp(registrations, { ...info, sse: true }), {
      disableListenLog: true,
      disableLogger: true
    })
  ).pipe(Layer.provideMerge(LoopbackServer.layer()))

  return [
    ...Revisions.all.flatMap(({ version }): ReadonlyArray<Cell> => [
      { revision: version, transport: "memory", name: "memory", layer: memory },
      { revision: version, transport: "stdio", name: "stdio", layer: stdio }
    ]),
    ...httpCells("http", server)
  ]
}

/** The cells of HTTP once more, behind the listener of the package node. */
export const listenerCells = <A, E>({ info, registrations }: Served<A, E>): ReadonlyArray<Cell> =>
  httpCells(
    "http, NodeListener",
    McpServer.drainFirst(NodeListener.layer(McpServer.layerHttp(registrations, { ...info, sse: true })))
  )

const served = { registrations, info, program: "./stdioServer.ts" }

export const cells = cellsOf(served)

/** {@link cells} and those of the listener. */
export const allCells = [...cells, ...listenerCells(served)]

/** Whether a cell's revision is at least `version`. */
export const since = ({ revision }: Cell, version: Revision.Version): boolean => revision >= version

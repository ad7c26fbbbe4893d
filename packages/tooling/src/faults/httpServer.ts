/** The faulty tools over HTTP, on a free port of the loopback interface; as a program it prints its address. */
import * as NodeListener from "@mcpfx/node/NodeListener"
import * as McpServer from "@mcpfx/server/McpServer"
import { Effect, Layer } from "effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as LoopbackServer from "../loopbackServer.ts"

const health = HttpRouter.add("GET", "/healthz", Effect.flatMap(McpServer.Health, HttpServerResponse.json))

/** The servers of Node that endpoints are behind. */
export const kinds = ["NodeHttpServer", "NodeListener"] as const
export type Kind = (typeof kinds)[number]

/** Serves `registrations` at `/mcp`, and what the endpoint does at `/healthz`. */
export const layer = <A, E>(
  registrations: Layer.Layer<A, E, McpServer.Provided>,
  options: Partial<McpServer.HttpOptions> = {},
  kind: Kind = "NodeHttpServer"
) => {
  const routes = Layer.merge(
    health,
    McpServer.layerHttp(registrations, { name: "faults", version: "1.0.0", ...options, path: "/mcp" })
  )
  const usual = HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }).pipe(
    Layer.provideMerge(LoopbackServer.layer())
  )
  return McpServer.drainFirst(kind === "NodeListener" ? Layer.orDie(NodeListener.layer(routes)) : Layer.orDie(usual))
}

/** The port of the server in the context. */
export const port = Effect.map(HttpServer.HttpServer, ({ address }) => "port" in address ? address.port : 0)

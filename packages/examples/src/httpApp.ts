/** MCP beside an application's own routes: one router, one server, and a health route that knows of the endpoint. */
import { NodeHttpServer } from "@effect/platform-node"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Context, Effect, Layer, Ref, Schema } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

/** Something that the application and its tools share. */
export class Visits extends Context.Service<Visits, Ref.Ref<number>>()("app/Visits") {
  static readonly layer = Layer.effect(this, Ref.make(0))
}

const HomeRoute = HttpRouter.add(
  "GET",
  "/",
  Effect.gen(function*() {
    const visits = yield* Visits
    return HttpServerResponse.text(`visit ${yield* Ref.updateAndGet(visits, (count) => count + 1)}`)
  })
)

const HealthRoute = HttpRouter.add("GET", "/healthz", Effect.flatMap(McpServer.Health, HttpServerResponse.json))

const CountVisits = Tool.make("count_visits", {
  description: "How often the home page was seen",
  output: { visits: Schema.Int }
})

const CountVisitsLive = McpServer.tool(CountVisits, () =>
  Effect.gen(function*() {
    return { visits: yield* Ref.get(yield* Visits) }
  }))

const McpRoutes = McpServer.layerHttp(CountVisitsLive, { name: "app", version: "1.0.0", path: "/mcp" })

/** The application on a port of the loopback interface; 0 is a free one. */
export const layer = (port: number) =>
  McpServer.drainFirst(
    HttpRouter.serve(Layer.mergeAll(HomeRoute, HealthRoute, McpRoutes), { disableListenLog: true, disableLogger: true })
  ).pipe(
    Layer.provide(Visits.layer),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" }))
  )

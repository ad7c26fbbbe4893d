/** The server under test: `node fixtureServer.ts --port N` serves `http://localhost:N/mcp`, on every revision. */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { McpServer } from "@mcpfx/server"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { parseArgs } from "node:util"
import * as Prompts from "./prompts.ts"
import * as Resources from "./resources.ts"
import * as Tools from "./tools.ts"

const { values } = parseArgs({ options: { port: { type: "string", default: "3000" } } })
const port = Number(values.port)

const registrations = Layer.mergeAll(Tools.layer, Prompts.layer, Resources.layer)

const routes = McpServer.layerHttp(registrations, {
  name: "mcpfx-conformance",
  version: "1.0.0",
  path: "/mcp"
})

const ready = Layer.effectDiscard(Effect.sync(() => console.log(`listening on http://localhost:${port}/mcp`)))

McpServer.drainFirst(HttpRouter.serve(routes)).pipe(
  Layer.provideMerge(ready),
  Layer.provide(NodeHttpServer.layer(createServer, { port, host: "localhost" })),
  Layer.launch,
  NodeRuntime.runMain
)

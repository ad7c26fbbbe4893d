/**
 * The server under test: `node fixtureServer.ts --port N` serves `http://localhost:N/mcp`, on every revision; with
 * `--listener` behind the listener of the package node.
 */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { NodeListener } from "@mcpfx/node"
import { McpServer } from "@mcpfx/server"
import { EventStore } from "@mcpfx/transport"
import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { parseArgs } from "node:util"
import * as Asking from "./asking.ts"
import * as Prompts from "./prompts.ts"
import * as Resources from "./resources.ts"
import * as Skills from "./skills.ts"
import * as Tasks from "./tasks.ts"
import * as Tools from "./tools.ts"

const { values } = parseArgs({
  options: { port: { type: "string", default: "3000" }, listener: { type: "boolean", default: false } }
})
const port = Number(values.port)

const registrations = Layer.mergeAll(
  Asking.layer,
  Tools.layer,
  Prompts.layer,
  Resources.layer,
  Skills.layer,
  Tasks.layer
)

const routes = McpServer.layerHttp(registrations, {
  name: "mcpfx-conformance",
  version: "1.0.0",
  path: "/mcp"
}).pipe(Layer.provide(EventStore.layerMemory))

const ready = Layer.effectDiscard(Effect.sync(() => console.log(`listening on http://localhost:${port}/mcp`)))

const usual = HttpRouter.serve(routes).pipe(
  Layer.provide(NodeHttpServer.layer(createServer, { port, host: "localhost" }))
)
const listener = NodeListener.layer(routes, { port, host: "localhost" })

McpServer.drainFirst(values.listener ? Layer.orDie(listener) : Layer.orDie(usual)).pipe(
  Layer.provideMerge(ready),
  Layer.launch,
  NodeRuntime.runMain
)

/** The release server over standard input and output. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { McpServer } from "@mcpfx/server"
import { Effect, Layer } from "effect"
import { Releases } from "./releases.ts"
import { info, Registrations } from "./server.ts"

McpServer.runStdio(Registrations, info).pipe(
  Effect.provide(Layer.merge(Releases.layer, NodeServices.layer)),
  NodeRuntime.runMain
)

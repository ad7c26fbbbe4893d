/** The faulty tools over standard input and output. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Effect from "effect/Effect"
import { registrations } from "./registrations.ts"

McpServer.runStdio(registrations(), { name: "faults", version: "1.0.0" }).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)

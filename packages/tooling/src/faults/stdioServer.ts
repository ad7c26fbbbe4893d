/** The faulty tools over standard input and output. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { registrations } from "./registrations.ts"

// The second argument: how long, in milliseconds, the end may wait for handlers.
const [, , drain = "10000"] = process.argv

McpServer.runStdio(registrations(), {
  name: "faults",
  version: "1.0.0",
  limits: { drain: Duration.millis(Number(drain)) }
}).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)

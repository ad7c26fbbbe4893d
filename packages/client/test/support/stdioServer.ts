/** A server with one tool over standard input and output, for tests that start it. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Effect, Schema } from "effect"

const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })

McpServer.runStdio(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  { name: "calculator", version: "1.0.0" }
).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)

import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Effect, Schema } from "effect"

const Hello = Tool.make("hello", { description: "Greets somebody", input: { name: Schema.String } })

const HelloLive = McpServer.tool(Hello, ({ name }) => Effect.succeed(`Hello, ${name}!`))

McpServer.runStdio(HelloLive, { name: "hello", version: "1.0.0" }).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)

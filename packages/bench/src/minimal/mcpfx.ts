/** A stdio server with one tool and nothing else. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as Tool from "@mcpfx/schema/Tool"
import * as McpServer from "@mcpfx/server/McpServer"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Hello = Tool.make("hello", { description: "Greets somebody", input: { name: Schema.String } })

const HelloLive = McpServer.tool(Hello, ({ name }) => Effect.succeed(`Hello, ${name}!`))

McpServer.runStdio(HelloLive, { name: "hello", version: "1.0.0" }).pipe(
  Effect.provide(NodeStdio.layer),
  NodeRuntime.runMain
)

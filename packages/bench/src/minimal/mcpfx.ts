/** A stdio server with one tool and nothing else. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as Tool from "@mcpfx/schema/Tool"
import * as McpStdio from "@mcpfx/server/McpStdio"
import * as ServerTool from "@mcpfx/server/ServerTool"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Hello = Tool.make("hello", { description: "Greets somebody", input: { name: Schema.String } })

const HelloLive = ServerTool.tool(Hello, ({ name }) => Effect.succeed(`Hello, ${name}!`))

McpStdio.runStdio(HelloLive, { name: "hello", version: "1.0.0" }).pipe(
  Effect.provide(NodeStdio.layer),
  NodeRuntime.runMain
)

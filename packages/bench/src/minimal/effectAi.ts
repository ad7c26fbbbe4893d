/** A stdio server with one tool and nothing else. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeStdio from "@effect/platform-node/NodeStdio"
import * as McpProtocol from "effect/ai/McpProtocol"
import * as McpServer from "effect/ai/McpServer"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Schema from "effect/Schema"

const Hello = Toolkit.make(Tool.make("hello", {
  description: "Greets somebody",
  parameters: Schema.Struct({ name: Schema.String }),
  success: Schema.String
}))

const HelloLive = McpServer.toolkit(Hello).pipe(
  Layer.provide(Hello.toLayer({ hello: ({ name }) => Effect.succeed(`Hello, ${name}!`) }))
)

McpServer.layerStdio({
  name: "hello",
  version: "1.0.0",
  protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25],
  registrations: HelloLive
}).pipe(
  Layer.provide(NodeStdio.layer),
  Layer.launch,
  Effect.provideService(Logger.LogToStderr, true),
  NodeRuntime.runMain
)

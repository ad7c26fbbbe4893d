/** Tools that run as tasks, over standard streams, for clients of other makes. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Tool } from "@mcpfx/schema"
import { Input, McpServer } from "@mcpfx/server"
import { Effect, Layer, Schema } from "effect"

const Work = Tool.make("work", {
  input: { millis: Schema.Int },
  output: { slept: Schema.Int },
  task: "may"
})
const WorkLive = McpServer.tool(
  Work,
  ({ millis }) => Effect.as(Effect.sleep(millis), { slept: millis }),
  { task: { pollInterval: "50 millis" } }
)

const AskLive = McpServer.tool(
  Tool.make("ask", { task: "must" }),
  () => Effect.map(Input.elicit("Who?", Schema.Struct({ name: Schema.String })), ({ name }) => `hello ${name}`),
  { task: { pollInterval: "50 millis" } }
)

McpServer.runStdio(Layer.merge(WorkLive, AskLive), { name: "tasks", version: "1.0.0" }).pipe(
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)

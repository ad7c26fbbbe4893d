/** The tools of the scenarios about the tasks extension, by the names the suite knows. */
import { McpError, Tool } from "@mcpfx/schema"
import { Input, McpServer, Tasks } from "@mcpfx/server"
import { Effect, Layer, Schema } from "effect"

const Greet = McpServer.tool(
  Tool.make("greet", { description: "Greets at once", input: { name: Schema.String } }),
  ({ name }) => Effect.succeed(`Hello, ${name}!`)
)

const SlowCompute = McpServer.tool(
  Tool.make("slow_compute", {
    description: "Takes so many seconds",
    input: { seconds: Schema.Finite, label: Schema.optionalKey(Schema.String) },
    task: "may"
  }),
  ({ label = "result", seconds }) => Effect.as(Effect.sleep(seconds * 1000), `computed ${label} in ${seconds} s`)
)

const FailingJob = McpServer.tool(
  Tool.make("failing_job", { description: "Fails after a second", task: "must" }),
  () => Effect.delay(Effect.succeed(Tool.result({ isError: true, content: "The job failed" })), "1 second")
)

const ProtocolErrorJob = McpServer.tool(
  Tool.make("protocol_error_job", { description: "Ends with an error of the protocol", task: "must" }),
  () => Effect.delay(Effect.fail(new McpError.InternalError()), "100 millis")
)

const Confirmed = Schema.Struct({ confirm: Schema.Boolean })

const ConfirmDelete = McpServer.tool(
  Tool.make("confirm_delete", { description: "Asks first", input: { filename: Schema.String }, task: "must" }),
  ({ filename }) =>
    Effect.map(
      Input.elicit(`Delete ${filename}?`, Confirmed),
      ({ confirm }) => confirm ? `${filename} is deleted` : `${filename} is still there`
    )
)

const MultiInput = McpServer.tool(
  Tool.make("multi_input", { description: "Asks two things at once", task: "must" }),
  () =>
    Effect.map(
      Input.all([Input.elicit("Your name?", Schema.Struct({ name: Schema.String })), Input.elicit("Sure?", Confirmed)]),
      ([{ name }, { confirm }]) => `${name}: ${confirm}`
    )
)

const ToolWithTask = McpServer.tool(
  Tool.make("test_tool_with_task", { description: "Asks, then takes its time", task: "must" }),
  () =>
    Effect.gen(function*() {
      const { name } = yield* Input.elicit("Who are you?", Schema.Struct({ name: Schema.String }), { key: "user_name" })
      yield* Tasks.detach
      yield* Effect.sleep("200 millis")
      return `done for ${name}`
    }),
  { task: { start: "when-told" } }
)

/** All of them. */
export const layer = Layer.mergeAll(
  Greet,
  SlowCompute,
  FailingJob,
  ProtocolErrorJob,
  ConfirmDelete,
  MultiInput,
  ToolWithTask
)

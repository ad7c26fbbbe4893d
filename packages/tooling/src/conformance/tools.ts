/** The tools that the conformance suite calls, by the names it knows. */
import { JsonSchema, Tool } from "@mcpfx/schema"
import { McpServer, Registry } from "@mcpfx/server"
import { Polling, Progress } from "@mcpfx/session"
import { Effect, Layer, Schema } from "effect"
import * as Media from "./media.ts"
import * as Prompts from "./prompts.ts"

const image = { type: "image", data: Media.png, mimeType: "image/png" } as const
const embedded = {
  type: "resource",
  resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource." }
} as const

/** Scenarios that need any tool take the one that is listed first, and lists are sorted by name. */
const First = McpServer.tool(
  Tool.make("a_plain_tool", { description: "Wants nothing and gives a text" }),
  () => Effect.succeed("This is the tool that is listed first.")
)

const SimpleText = McpServer.tool(
  Tool.make("test_simple_text", { description: "Gives a text" }),
  () => Effect.succeed("This is a simple text response for testing.")
)

const ImageContent = McpServer.tool(
  Tool.make("test_image_content", { description: "Gives an image" }),
  () => Effect.succeed(image)
)

const AudioContent = McpServer.tool(
  Tool.make("test_audio_content", { description: "Gives a sound" }),
  () => Effect.succeed({ type: "audio", data: Media.wav, mimeType: "audio/wav" } as const)
)

const EmbeddedResource = McpServer.tool(
  Tool.make("test_embedded_resource", { description: "Gives an embedded resource" }),
  () => Effect.succeed(embedded)
)

const MultipleContentTypes = McpServer.tool(
  Tool.make("test_multiple_content_types", { description: "Gives a text, an image and a resource" }),
  () => Effect.succeed(["Multiple content types:", image, embedded])
)

const ErrorHandling = McpServer.tool(
  Tool.make("test_error_handling", { description: "Always fails" }),
  () => Effect.succeed(Tool.result({ isError: true, content: "This tool intentionally returns an error for testing" }))
)

const WithProgress = McpServer.tool(
  Tool.make("test_tool_with_progress", { description: "Reports progress three times" }),
  () =>
    Effect.gen(function*() {
      for (const progress of [0, 50, 100]) {
        yield* Progress.report({ progress, total: 100 })
        yield* Effect.sleep("50 millis")
      }
      return "done"
    })
)

const logs = Effect.gen(function*() {
  for (const text of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
    yield* McpServer.log("info", text)
    yield* Effect.sleep("50 millis")
  }
  return "logged"
})

const WithLogging = McpServer.tool(
  Tool.make("test_tool_with_logging", { description: "Logs three times" }),
  () => logs
)

const LoggingTool = McpServer.tool(
  Tool.make("test_logging_tool", { description: "Logs, for those who asked for it" }),
  () => logs
)

const MissingCapability = McpServer.tool(
  Tool.make("test_missing_capability", { description: "Needs sampling", asks: ["sampling"] }),
  () => Effect.succeed("sampling is there")
)

const Reconnection = McpServer.tool(
  Tool.make("test_reconnection", { description: "Lets the client go and answers when it is back" }),
  () =>
    Effect.gen(function*() {
      yield* Polling.hangUp({ retry: "500 millis" })
      yield* Effect.sleep("100 millis")
      return "Reconnection test completed successfully"
    })
)

const HeaderTool = McpServer.tool(
  Tool.make("test_x_mcp_header", {
    description: "Mirrors its argument in a header",
    input: { region: Schema.optionalKey(Schema.String.pipe(Tool.header("Region"))) }
  }),
  ({ region }) => Effect.succeed(`region: ${region ?? "none"}`)
)

const schema2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } }
    }
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" }
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false
} as const

const JsonSchema2020 = McpServer.tool(
  Tool.make("json_schema_2020_12_tool", {
    description: "Lists a schema that uses what 2020-12 has",
    input: JsonSchema.foreign(schema2020)
  }),
  () => Effect.succeed("valid")
)

/** Registers something for half a second, so that the list changes twice. */
const flicker = <A, E>(added: Layer.Layer<A, E, Registry.Registry>) =>
  Effect.gen(function*() {
    const registry = yield* Registry.Registry
    yield* Effect.scoped(
      Effect.andThen(
        Layer.build(Layer.fresh(added)).pipe(Effect.provideService(Registry.Registry, registry), Effect.orDie),
        Effect.sleep("100 millis")
      )
    )
    return "changed"
  })

const TriggerToolChange = McpServer.tool(
  Tool.make("test_trigger_tool_change", { description: "Changes the list of tools and changes it back" }),
  () => flicker(McpServer.tool(Tool.make("test_flickering_tool", { description: "Comes and goes" }), () => Effect.void))
)

const TriggerPromptChange = McpServer.tool(
  Tool.make("test_trigger_prompt_change", { description: "Changes the list of prompts and changes it back" }),
  () => flicker(Prompts.Flickering)
)

/** All of them. */
export const layer = Layer.mergeAll(
  First,
  SimpleText,
  ImageContent,
  AudioContent,
  EmbeddedResource,
  MultipleContentTypes,
  ErrorHandling,
  WithProgress,
  WithLogging,
  LoggingTool,
  MissingCapability,
  Reconnection,
  HeaderTool,
  JsonSchema2020,
  TriggerToolChange,
  TriggerPromptChange
)

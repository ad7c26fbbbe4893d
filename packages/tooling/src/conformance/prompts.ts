/** The prompts that the conformance suite asks for. */
import { Prompt } from "@mcpfx/schema"
import { McpServer, ServerPrompt } from "@mcpfx/server"
import { Effect, Layer, Schema } from "effect"
import * as Media from "./media.ts"

const Simple = McpServer.prompt(
  Prompt.make("test_simple_prompt", { description: "A prompt without arguments" }),
  () => Effect.succeed("This is a simple prompt for testing.")
)

const WithArguments = McpServer.prompt(
  Prompt.make("test_prompt_with_arguments", {
    description: "A prompt with two arguments",
    arguments: {
      arg1: Schema.String.annotate({ description: "The first" }),
      arg2: Schema.String.annotate({ description: "The second" })
    }
  }),
  ({ arg1, arg2 }) => Effect.succeed(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  { complete: { arg1: ["test-one", "test-two"] } }
)

const WithEmbeddedResource = McpServer.prompt(
  Prompt.make("test_prompt_with_embedded_resource", {
    description: "A prompt that embeds a resource",
    arguments: { resourceUri: Schema.String }
  }),
  ({ resourceUri }) =>
    Effect.succeed([
      ServerPrompt.user({
        type: "resource",
        resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." }
      }),
      "Please process the embedded resource above."
    ])
)

const WithImage = McpServer.prompt(
  Prompt.make("test_prompt_with_image", { description: "A prompt with an image" }),
  () =>
    Effect.succeed([
      ServerPrompt.user({ type: "image", data: Media.png, mimeType: "image/png" }),
      "Please analyze the image above."
    ])
)

/** Comes and goes while a test listens. */
export const Flickering = McpServer.prompt(
  Prompt.make("test_flickering_prompt", { description: "Comes and goes" }),
  () => Effect.succeed("here")
)

/** All of them. */
export const layer = Layer.mergeAll(Simple, WithArguments, WithEmbeddedResource, WithImage)

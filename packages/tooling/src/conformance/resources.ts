/** The resources that the conformance suite reads. */
import { Resource } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Effect, Layer, Schema } from "effect"
import { Base64 } from "effect/encoding"
import * as Media from "./media.ts"

const StaticText = McpServer.resource(
  Resource.make("test://static-text", { name: "static-text", description: "A text", mimeType: "text/plain" }),
  "This is the content of the static text resource."
)

const StaticBinary = McpServer.resource(
  Resource.make("test://static-binary", { name: "static-binary", description: "An image", mimeType: "image/png" }),
  Effect.orDie(Effect.fromResult(Base64.decode(Media.png)))
)

const Watched = McpServer.resource(
  Resource.make("test://watched-resource", { name: "watched-resource", mimeType: "text/plain" }),
  "Watched resource content"
)

const Template = McpServer.template(
  Resource.template("test://template/{id}/data", {
    name: "template",
    description: "Data by id",
    mimeType: "application/json",
    params: { id: Schema.String }
  }),
  ({ id }) => Effect.succeed(JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }))
)

/** All of them. */
export const layer = Layer.mergeAll(StaticText, StaticBinary, Watched, Template)

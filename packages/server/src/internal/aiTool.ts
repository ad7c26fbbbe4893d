/** A tool of `effect/ai`, as the protocol lists it and writes its results. */
import * as Content from "@mcpfx/schema/Content"
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import type * as Tool from "@mcpfx/schema/Tool"
import * as ToolContract from "@mcpfx/schema/ToolContract"
import type * as Prompt from "effect/ai/Prompt"
import * as AiTool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

const refuse = (name: string, reason: string): never => {
  throw new InvalidContract({ kind: "tool", name, reason })
}

/** Members that a strict tool does not name are refused, others are dropped. */
export const excessOf = (tool: AiTool.Any): JsonSchema.Excess =>
  AiTool.getStrictMode(tool) === true ? "error" : "ignore"

/** The JSON Schema a tool was made from, when it was not made from a schema of Effect. */
export const foreignOf = (tool: AiTool.Any): JsonSchema.Foreign | undefined =>
  AiTool.isDynamic(tool) && tool.jsonSchema !== undefined ? JsonSchema.foreign(tool.jsonSchema) : undefined

const inputSchema = (tool: AiTool.Any): JsonSchema.ObjectRoot => {
  const schema: Schema.Top = tool.parametersSchema
  if (schema === AiTool.EmptyParams) return { type: "object", additionalProperties: false }
  const json = foreignOf(tool)?.json ?? JsonSchema.fromSchema(schema, { excess: excessOf(tool) })
  const root = JsonSchema.rootObject(json)
  return Result.isSuccess(root)
    ? root.success
    : refuse(tool.name, `its parameters cannot be arguments: ${root.failure}`)
}

/** Values of these types have no JSON Schema worth showing. */
const shapeless = new Set(["Void", "Undefined", "Unknown", "Any", "Never"])

export const hasOutput = (tool: AiTool.Any): boolean => !shapeless.has(tool.successSchema.ast._tag)

const annotationsOf = ({ annotations }: AiTool.Any, title: string | undefined): Tool.Annotations => {
  const hints = {
    title,
    readOnlyHint: Context.getOrUndefined(annotations, AiTool.Readonly),
    destructiveHint: Context.getOrUndefined(annotations, AiTool.Destructive),
    idempotentHint: Context.getOrUndefined(annotations, AiTool.Idempotent),
    openWorldHint: Context.getOrUndefined(annotations, AiTool.OpenWorld)
  }
  return Object.fromEntries(Object.entries(hints).filter(([, hint]) => hint !== undefined))
}

export const toDescriptor = (tool: AiTool.Any): Tool.Descriptor => {
  const name: string = tool.name
  if (!ToolContract.isName(name)) refuse(name, "a name is 1 to 128 letters, digits, \"_\", \"-\" and \".\"")
  const title = Context.getOrUndefined(tool.annotations, AiTool.Title)
  const description = AiTool.getDescription(tool)
  const annotations = annotationsOf(tool, title)
  const meta = Context.getOrUndefined(tool.annotations, AiTool.Meta)
  return {
    name,
    ...(title === undefined ? undefined : { title }),
    ...(description === undefined ? undefined : { description }),
    inputSchema: inputSchema(tool),
    ...(hasOutput(tool) ? { outputSchema: JsonSchema.fromSchema(tool.successSchema) } : undefined),
    ...(Object.keys(annotations).length === 0 ? undefined : { annotations }),
    ...(meta === undefined ? undefined : { _meta: meta })
  }
}

const toFile = (part: Prompt.FilePart): Content.Content => {
  const { data, fileName, mediaType } = part
  if (data instanceof URL) {
    return { type: "resource_link", uri: data.href, name: fileName ?? data.href, mimeType: mediaType }
  }
  const base64 = typeof data === "string" ? data : Base64.encode(data)
  if (mediaType.startsWith("image/")) return Content.image(base64, mediaType)
  if (mediaType.startsWith("audio/")) return Content.audio(base64, mediaType)
  return Content.embedded({
    uri: `file:///${encodeURIComponent(fileName ?? "file")}`,
    mimeType: mediaType,
    blob: base64
  })
}

/** What the model is shown: what the tool itself makes of its result, else the text of it, and no quotes around a text. */
export const toContent = (tool: AiTool.Any, value: unknown, json: unknown): ReadonlyArray<Content.Content> => {
  if (tool.toModelOutput !== undefined) {
    return tool.toModelOutput(value).map((part) => part.type === "text" ? Content.text(part.text) : toFile(part))
  }
  if (json === undefined) return []
  return [Content.text(typeof json === "string" ? json : JSON.stringify(json))]
}

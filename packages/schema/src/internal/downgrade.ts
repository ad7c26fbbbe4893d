/** What a revision cannot show, said in a way it can. */
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import { compose, each, omit, type Project } from "./project.ts"

const text = (text: string): JsonObject => ({ type: "text", text })

const named = (value: unknown): string => typeof value === "string" ? value : "unknown"

/** A block of a type no revision knows becomes a note that names the type. */
export const opaqueToText: Project = (block) => {
  if (block["type"] !== "opaque") return block
  const inner = block["block"]
  return text(`[content of type ${named(isJsonObject(inner) ? inner["type"] : undefined)}]`)
}

/** Before 2025-03-26 there is no audio. */
export const audioToText: Project = (block) =>
  block["type"] === "audio" ? text(`[audio of type ${named(block["mimeType"])}]`) : block

/** Before 2025-06-18 there are no links to resources. */
export const linkToText: Project = (block) => {
  if (block["type"] !== "resource_link") return block
  const { description, name, uri } = block
  return text(
    `[resource ${named(name)}: ${named(uri)}]${typeof description === "string" ? ` ${description}` : ""}`
  )
}

/** Before 2025-11-25 there are no tools in sampling: calls and their results are told as text. */
export const toolTalkToText: Project = (block) => {
  if (block["type"] === "tool_use") {
    return text(`[call of ${named(block["name"])} with ${JSON.stringify(block["input"])}]`)
  }
  if (block["type"] !== "tool_result") return block
  const content = Array.isArray(block["content"]) ? block["content"] : []
  return text(content.filter(isJsonObject).map((part) => typeof part["text"] === "string" ? part["text"] : "").join(""))
}

/** The members of a block that exist from 2025-06-18 on. */
export const stripBlock: Project = (block) => {
  const { _meta, annotations, resource } = block
  const late = isJsonObject(annotations) && "lastModified" in annotations
  const inner = isJsonObject(resource) && "_meta" in resource
  if (_meta === undefined && !late && !inner) return block
  const kept = omitMeta(block)
  return {
    ...kept,
    ...(late ? { annotations: omitLastModified(annotations) } : undefined),
    ...(inner ? { resource: omitMeta(resource) } : undefined)
  }
}

export const omitMeta: Project = omit("_meta")
export const omitLastModified: Project = omit("lastModified")

/** In a JSON Schema, properties that are `true` or `false` rather than objects: older revisions want objects. */
export const objectProperties: Project = (schema) => {
  const properties = schema["properties"]
  if (!isJsonObject(properties) || Object.values(properties).every(isJsonObject)) return schema
  const entries = Object.entries(properties).map(([name, value]): [string, unknown] => [
    name,
    isJsonObject(value) ? value : value === false ? { not: {} } : {}
  ])
  return { ...schema, properties: Object.fromEntries(entries) }
}

/** Before 2026-07-28 the root of an output schema is an object; another one is not shown (TOL-06). */
export const objectOutput: Project = (tool) => {
  const output = tool["outputSchema"]
  if (!isJsonObject(output)) return tool
  if (output["type"] !== "object") return omit("outputSchema")(tool)
  const next = objectProperties(output)
  return next === output ? tool : { ...tool, outputSchema: next }
}

const keepText = (result: JsonObject): JsonObject => {
  const { content, structuredContent } = result
  const rest = omit("structuredContent")(result)
  return Array.isArray(content) && content.length > 0
    ? rest
    : { ...rest, content: [text(JSON.stringify(structuredContent))] }
}

/** Before 2025-06-18 only the text of a result is shown (TOL-06). */
export const structuredToText: Project = (result) =>
  result["structuredContent"] === undefined ? result : keepText(result)

/** Before 2026-07-28 structured content is an object; anything else is shown as text. */
export const objectStructured: Project = (result) => {
  const structured = result["structuredContent"]
  return structured === undefined || isJsonObject(structured) ? result : keepText(result)
}

/** Before 2025-11-25 a sampling message has one block: one with more becomes several messages (SMP-07). */
export const oneBlockEach = (project: Project) => (messages: ReadonlyArray<unknown>): ReadonlyArray<unknown> => {
  const split = messages.some((message) => isJsonObject(message) && Array.isArray(message["content"]))
    ? messages.flatMap((message): ReadonlyArray<unknown> => {
      if (!isJsonObject(message)) return [message]
      const content = message["content"]
      return Array.isArray(content) ? content.map((block) => ({ ...message, content: block })) : [message]
    })
    : messages
  return each(split, project)
}

const isText = (block: unknown): block is JsonObject => isJsonObject(block) && block["type"] === "text"

/** Before 2025-11-25 a sampling result has one block: texts are joined, else the first block stands for all. */
export const oneBlock = (project: Project): Project => (result) => {
  const content = result["content"]
  if (!Array.isArray(content)) return isJsonObject(content) ? withContent(result, project(content)) : result
  const blocks = content.filter(isJsonObject).map(project)
  const [first] = blocks
  const joined = blocks.filter(isText).map((block) => block["text"]).join("")
  return { ...result, content: first !== undefined && !blocks.some(isText) ? first : text(joined) }
}

const withContent = (self: JsonObject, content: JsonObject): JsonObject =>
  self["content"] === content ? self : { ...self, content }

/** Applies to the block, or the blocks, of a sampling message. */
export const blocks = (project: Project): Project => (message) => {
  const content = message["content"]
  if (Array.isArray(content)) {
    const next = each(content, project)
    return next === content ? message : { ...message, content: next }
  }
  return isJsonObject(content) ? withContent(message, project(content)) : message
}

/** Only an accepted form has content (ELI-09). */
export const acceptedOnly: Project = (result) =>
  result["action"] !== "accept" && result["content"] !== undefined ? omit("content")(result) : result

/** At most a hundred values, with the true total (CMP-02). */
export const hundredValues: Project = (result) => {
  const completion = result["completion"]
  if (!isJsonObject(completion)) return result
  const values = completion["values"]
  if (!Array.isArray(values) || values.length <= 100) return result
  const total = typeof completion["total"] === "number" ? completion["total"] : values.length
  return { ...result, completion: { ...completion, values: values.slice(0, 100), total, hasMore: true } }
}

/** What every later revision also cannot show. */
export const block = (...projects: ReadonlyArray<Project>): Project => compose(opaqueToText, ...projects)

/** The result of a call as a model reads it. */
import type * as Content from "@mcpfx/schema/Content"
import type * as Tool from "@mcpfx/schema/Tool"
import * as Prompt from "effect/ai/Prompt"

type Part = Prompt.ToolModelOutputPart

const text = (text: string): Part => Prompt.makePart("text", { text })

const file = (data: string, mediaType: string, fileName?: string): Part =>
  Prompt.makePart("file", { data, mediaType, fileName })

const embedded = ({ resource }: Content.Embedded): Part =>
  "text" in resource
    ? text(resource.text)
    : file(resource.blob, resource.mimeType ?? "application/octet-stream", resource.uri.split("/").at(-1))

const part = (content: Content.Content): Part => {
  switch (content.type) {
    case "text":
      return text(content.text)
    case "image":
    case "audio":
      return file(content.data, content.mimeType)
    case "resource_link": {
      const { description, name, title, uri } = content
      return text(`${title ?? name}: ${uri}${description === undefined ? "" : `\n${description}`}`)
    }
    case "resource":
      return embedded(content)
    case "opaque":
      return text(`[content of type ${JSON.stringify(content.block["type"])}, which cannot be shown]`)
  }
}

/** What a result holds; its structured content where it holds nothing else, so that the data is never lost. */
export const modelOutput = ({ content, structuredContent }: Tool.CallResult): ReadonlyArray<Part> =>
  content.length === 0 && structuredContent !== undefined
    ? [text(JSON.stringify(structuredContent))]
    : content.map(part)

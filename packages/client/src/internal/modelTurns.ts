/** Conversations of sampling requests as prompts of `effect/ai`, and its responses as their answers. */
import type * as Content from "@mcpfx/schema/Content"
import { isJsonObject } from "@mcpfx/schema/JsonRpc"
import * as Sampling from "@mcpfx/schema/Sampling"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Schema from "effect/Schema"
import { modelOutput } from "./modelOutput.ts"

type Shown = Content.Text | Content.Image | Content.Audio

const shown = (block: Shown): Prompt.TextPart | Prompt.FilePart =>
  block.type === "text"
    ? Prompt.makePart("text", { text: block.text })
    : Prompt.makePart("file", { data: block.data, mediaType: block.mimeType })

const call = ({ id, input, name }: Sampling.ToolUse, taken: Names): Prompt.ToolCallPart =>
  Prompt.makePart("tool-call", { id, name: taken.get(name) ?? name, params: input, providerExecuted: false })

const given = (block: Sampling.ToolResult, name: string): Prompt.ToolResultPart =>
  Prompt.makePart("tool-result", {
    id: block.toolUseId,
    name,
    isFailure: block.isError === true,
    result: block.structuredContent ?? block.content,
    modelOutput: modelOutput(block),
    providerExecuted: false
  })

/** Names of tools as the model takes them, by the names they have. */
export type Names = ReadonlyMap<string, string>

/** The messages for the model; results of tools are named by the calls that they belong to. */
export const prompt = ({ messages, systemPrompt }: Sampling.CreateParams, taken: Names): Prompt.Prompt => {
  const names = new Map<string, string>()
  const turns = messages.flatMap((message): Array<Prompt.Message> => {
    const blocks = Sampling.blocks(message)
    const results: Array<Prompt.ToolResultPart> = []
    const said: Array<Prompt.TextPart | Prompt.FilePart> = []
    const calls: Array<Prompt.ToolCallPart> = []
    for (const block of blocks) {
      switch (block.type) {
        case "tool_use":
          names.set(block.id, taken.get(block.name) ?? block.name)
          calls.push(call(block, taken))
          break
        case "tool_result":
          results.push(given(block, names.get(block.toolUseId) ?? ""))
          break
        default:
          said.push(shown(block))
      }
    }
    if (results.length > 0) return [Prompt.makeMessage("tool", { content: results })]
    return message.role === "user"
      ? [Prompt.makeMessage("user", { content: said })]
      : [Prompt.makeMessage("assistant", { content: [...said, ...calls] })]
  })
  return Prompt.fromMessages(
    systemPrompt === undefined ? turns : [Prompt.makeMessage("system", { content: systemPrompt }), ...turns]
  )
}

/** What of a response is read here. */
export type ResponsePart =
  | Response.TextPart
  | Response.FilePart
  | Response.FinishPart
  | Response.ResponseMetadataPart
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly params: unknown }
  | { readonly type: Exclude<Response.AnyPart["type"], "text" | "file" | "finish" | "response-metadata" | "tool-call"> }

const toBase64 = Schema.encodeSync(Schema.Uint8ArrayFromBase64)

const file = ({ data, mediaType }: Response.FilePart): ReadonlyArray<Sampling.Block> => {
  const encoded = { data: toBase64(data), mimeType: mediaType }
  if (mediaType.startsWith("image/")) return [{ type: "image", ...encoded }]
  return mediaType.startsWith("audio/") ? [{ type: "audio", ...encoded }] : []
}

const block = (part: ResponsePart, asked: Names): ReadonlyArray<Sampling.Block> => {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [{ type: "text", text: part.text }]
    case "file":
      return file(part)
    case "tool-call":
      return [{
        type: "tool_use",
        id: part.id,
        name: asked.get(part.name) ?? part.name,
        input: isJsonObject(part.params) ? part.params : {}
      }]
    default:
      return []
  }
}

const stopReasons: Partial<Record<Response.FinishReason, string>> = {
  stop: "endTurn",
  length: "maxTokens",
  "tool-calls": "toolUse",
  "content-filter": "contentFilter"
}

/** The answer of the model, without what is only thought. */
export const result = (
  parts: ReadonlyArray<ResponsePart>,
  name: string | undefined,
  taken: Names
): Sampling.CreateResult => {
  const asked: Names = new Map([...taken].map(([name, short]) => [short, name]))
  const blocks = parts.flatMap((part) => block(part, asked))
  let model = name
  let stopReason: string | undefined
  for (const part of parts) {
    if (part.type === "response-metadata") model ??= part.modelId
    if (part.type === "finish") stopReason = stopReasons[part.reason]
  }
  const [first] = blocks
  return {
    role: "assistant",
    content: first !== undefined && blocks.length === 1 ? first : blocks.length === 0 ? empty : blocks,
    model: model ?? "unknown",
    ...(stopReason === undefined ? undefined : { stopReason })
  }
}

const empty: Sampling.Block = { type: "text", text: "" }

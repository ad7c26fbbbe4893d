/**
 * The calls and results that make up nearly all traffic, recognised by hand: an interpreted schema costs more than all the
 * rest of reading a call. What is not recognised here is left to the schemas; what is, they accept too.
 */
import type * as Content from "../Content.ts"
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import type * as Tool from "../Tool.ts"

/** A call by name with arguments, and nothing else that means something on any revision. */
export const isPlainCall =
  (isMeta: (u: unknown) => boolean) =>
  (wire: JsonObject): wire is JsonObject & Tool.CallParams & { _meta: JsonObject } => {
    const args = wire["arguments"]
    return typeof wire["name"] === "string" && (args === undefined || isJsonObject(args)) && isMeta(wire["_meta"]) &&
      wire["task"] === undefined && wire["inputResponses"] === undefined && wire["requestState"] === undefined
  }

const isPlainText = (block: unknown): block is Content.Text =>
  isJsonObject(block) && block["type"] === "text" && typeof block["text"] === "string" &&
  block["annotations"] === undefined && block["_meta"] === undefined

/** A complete result of texts without annotations. */
export const isPlainResult = (wire: JsonObject): wire is JsonObject & Tool.CallResult => {
  const { _meta, content, isError, resultType } = wire
  return Array.isArray(content) && content.every(isPlainText) &&
    (resultType === undefined || resultType === "complete") &&
    (isError === undefined || typeof isError === "boolean") && (_meta === undefined || isJsonObject(_meta))
}

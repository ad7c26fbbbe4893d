import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { JsonFault } from "./json.ts"

export const syntaxError: JsonRpc.WireError = { code: Codes.parseError, message: "Parse error: not a JSON value" }
export const encodingError: JsonRpc.WireError = { code: Codes.parseError, message: "Parse error: not UTF-8" }
export const internalError: JsonRpc.WireError = { code: Codes.internalError, message: "Internal error" }

export const invalidRequest = (reason: string): JsonRpc.WireError => ({
  code: Codes.invalidRequest,
  message: `Invalid request: ${reason}`
})

export const tooDeep = (limit: number): JsonRpc.WireError => ({
  code: Codes.invalidRequest,
  message: `Invalid request: nested deeper than ${limit}`,
  data: { reason: "MessageTooDeep", limit }
})

/** What is said of bytes or a text that are no JSON value within the limit of depth. */
export const unreadable = (fault: JsonFault | "Encoding", depth: number): JsonRpc.WireError =>
  fault === "Encoding" ? encodingError : fault === "Syntax" ? syntaxError : tooDeep(depth)

export const messageTooLarge = (bytes: number, limit: number): JsonRpc.WireError => ({
  code: Codes.invalidRequest,
  message: `Invalid request: ${bytes} bytes are more than the limit of ${limit}`,
  data: { reason: "MessageTooLarge", bytes, limit }
})

export const resultTooLarge = (limit: number): JsonRpc.WireError => ({
  code: Codes.internalError,
  message: `The result is larger than the limit of ${limit} bytes`,
  data: { reason: "ResultTooLarge", limit }
})

/** Stands for an answer that came and could not be read; why, is said beside it. */
export const unreadableAnswer: JsonRpc.WireError = {
  code: Codes.internalError,
  message: "The answer could not be read"
}

/** What is wrong with an answer that nests too deep. */
export const tooDeepAnswer = (depth: number): string => `nested deeper than ${depth}`

/** Whether a value that is no message was meant as an answer: it says so by its version and has no method. */
export const isAnswer = (value: unknown): boolean =>
  JsonRpc.isJsonObject(value) && value["jsonrpc"] === "2.0" && !("method" in value)

/**
 * Whether a value that is no message is to be answered all the same: not where it was meant as a response or as a
 * notification (RPC-09).
 */
export const isAnswerable = (value: unknown, fault: JsonRpc.InvalidMessage): boolean =>
  !fault.response && !(JsonRpc.isJsonObject(value) && typeof value["method"] === "string" && !("id" in value))

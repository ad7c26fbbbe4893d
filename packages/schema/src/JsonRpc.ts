/**
 * The JSON-RPC 2.0 envelope: requests, notifications and responses, with their params and results left opaque.
 *
 * `parse` turns the value of one `JSON.parse` into a message without copying it; `stringify` is its inverse and the only
 * place where a message becomes text. Batches (arrays) are the business of the transports, which parse them element by
 * element.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * A request id: a string or an integer, never `null` (RPC-02).
 *
 * @category schemas
 * @since 0.1.0
 */
export const RequestId = Schema.Union([Schema.String, Schema.Int])

/**
 * @category models
 * @since 0.1.0
 */
export type RequestId = typeof RequestId.Type

/**
 * Params and results are JSON objects whose members the envelope does not look at.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonObject {
  readonly [key: string]: unknown
}

const JsonObject = Schema.Record(Schema.String, Schema.Unknown)
const version = Schema.Literal("2.0")

/**
 * A message that wants an answer.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Request = Schema.Struct({
  jsonrpc: version,
  id: RequestId,
  method: Schema.String,
  params: Schema.optionalKey(JsonObject)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Request extends Schema.Schema.Type<typeof Request> {}

/**
 * A message that is never answered (RPC-09).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Notification = Schema.Struct({
  jsonrpc: version,
  id: Schema.optionalKey(Schema.Never),
  method: Schema.String,
  params: Schema.optionalKey(JsonObject)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Notification extends Schema.Schema.Type<typeof Notification> {}

/**
 * The error member of a failed response.
 *
 * @category schemas
 * @since 0.1.0
 */
export const WireError = Schema.Struct({
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface WireError extends Schema.Schema.Type<typeof WireError> {}

/**
 * The answer to a request that succeeded; its result is an object (RPC-06).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Success = Schema.Struct({ jsonrpc: version, id: RequestId, result: JsonObject })

/**
 * @category models
 * @since 0.1.0
 */
export interface Success extends Schema.Schema.Type<typeof Success> {}

/**
 * The answer to a request that failed. The id is absent or `null` where the request could not be read (RPC-08).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Failure = Schema.Struct({
  jsonrpc: version,
  id: Schema.optionalKey(Schema.NullOr(RequestId)),
  error: WireError
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Failure extends Schema.Schema.Type<typeof Failure> {}

/**
 * @category models
 * @since 0.1.0
 */
export type Response = Success | Failure

/**
 * Any message of the protocol, as parsed.
 *
 * @category models
 * @since 0.1.0
 */
export type Message = Request | Notification | Response

/**
 * The schema of {@link Message}; {@link parse} is the same rule, compiled by hand for the hot path.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Message = Schema.Union([Request, Notification, Success, Failure])

/**
 * JSON text of a result that was encoded before and is written as it is: lists are encoded once per snapshot.
 *
 * @category models
 * @since 0.1.0
 */
export class EncodedResult {
  readonly json: string
  constructor(json: string) {
    this.json = json
  }
}

/**
 * What a handler of a request gives: a result object, or one that is text already.
 *
 * @category models
 * @since 0.1.0
 */
export type ResultBody = JsonObject | EncodedResult

/**
 * A success whose result is text already.
 *
 * @category models
 * @since 0.1.0
 */
export class EncodedSuccess {
  readonly id: RequestId
  readonly result: EncodedResult
  constructor(id: RequestId, result: EncodedResult) {
    this.id = id
    this.result = result
  }
}

/**
 * What transports write.
 *
 * @category models
 * @since 0.1.0
 */
export type Outgoing = Message | EncodedSuccess

/**
 * Why a JSON value is not a message, with the id to answer under where one could be read.
 *
 * @category models
 * @since 0.1.0
 */
export class InvalidMessage {
  readonly _tag = "InvalidMessage"
  /** The request's id, when the value had a legal one. */
  readonly id: RequestId | undefined
  /** One sentence that names the member at fault. */
  readonly reason: string
  /** Whether the value was meant as a response; those are never answered. */
  readonly response: boolean
  constructor(id: RequestId | undefined, reason: string, response: boolean) {
    this.id = id
    this.reason = reason
    this.response = response
  }
}

/**
 * @category guards
 * @since 0.1.0
 */
export const isRequestId = (u: unknown): u is RequestId => typeof u === "string" || Number.isSafeInteger(u)

/**
 * @category guards
 * @since 0.1.0
 */
export const isJsonObject = (u: unknown): u is JsonObject => typeof u === "object" && u !== null && !Array.isArray(u)

/**
 * @category guards
 * @since 0.1.0
 */
export const isRequest = (message: Message): message is Request => "method" in message && "id" in message

/**
 * @category guards
 * @since 0.1.0
 */
export const isNotification = (message: Message): message is Notification => "method" in message && !("id" in message)

/**
 * @category guards
 * @since 0.1.0
 */
export const isResponse = (message: Message): message is Response => !("method" in message)

/**
 * @category guards
 * @since 0.1.0
 */
export const isFailure = (message: Response): message is Failure => "error" in message

const invalid = (id: unknown, reason: string, response = false): Result.Result<never, InvalidMessage> =>
  Result.fail(new InvalidMessage(isRequestId(id) ? id : undefined, reason, response))

const isMessage = (u: JsonObject): u is JsonObject & Message => reasonAgainst(u) === undefined

const reasonAgainst = (u: JsonObject): string | undefined => {
  if (u["jsonrpc"] !== "2.0") return "jsonrpc must be \"2.0\""
  const hasResult = "result" in u
  const hasError = "error" in u
  if ("method" in u) {
    if (typeof u["method"] !== "string") return "method must be a string"
    if (hasResult || hasError) return "a message with a method has neither result nor error"
    if ("id" in u && !isRequestId(u["id"])) return "id must be a string or an integer"
    if (u["params"] !== undefined && !isJsonObject(u["params"])) return "params must be an object"
    return undefined
  }
  if (hasResult && hasError) return "a response has either result or error"
  if (hasResult) {
    if (!isRequestId(u["id"])) return "id must be a string or an integer"
    return isJsonObject(u["result"]) ? undefined : "result must be an object"
  }
  if (hasError) {
    const id = u["id"]
    if (id !== undefined && id !== null && !isRequestId(id)) return "id must be a string, an integer or absent"
    const error = u["error"]
    if (!isJsonObject(error)) return "error must be an object"
    if (!Number.isInteger(error["code"])) return "error.code must be an integer"
    return typeof error["message"] === "string" ? undefined : "error.message must be a string"
  }
  return "a message has a method, a result or an error"
}

/**
 * Checks the envelope of one JSON value. The value itself is returned, not a copy; members that JSON-RPC does not know
 * are left alone and never looked at.
 *
 * **Example** (Telling a request from a notification)
 *
 * ```ts
 * import { JsonRpc } from "@mcpfx/schema"
 * import { Result } from "effect"
 *
 * const parsed = JsonRpc.parse({ jsonrpc: "2.0", id: 1, method: "ping" })
 * Result.isSuccess(parsed) && JsonRpc.isRequest(parsed.success) // => true
 * Result.isFailure(JsonRpc.parse({ jsonrpc: "2.0", id: null, method: "ping" })) // => true
 * ```
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (u: unknown): Result.Result<Message, InvalidMessage> => {
  if (!isJsonObject(u)) return invalid(undefined, "a message is a JSON object")
  if (isMessage(u)) return Result.succeed(u)
  return invalid(u["id"], reasonAgainst(u) ?? "not a message", !("method" in u) && ("result" in u || "error" in u))
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const request = (id: RequestId, method: string, params?: JsonObject): Request =>
  params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params }

/**
 * @category constructors
 * @since 0.1.0
 */
export const notification = (method: string, params?: JsonObject): Notification =>
  params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }

/**
 * The answer to request `id`; a result that is text already stays text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const success = (id: RequestId, result: ResultBody): Success | EncodedSuccess =>
  result instanceof EncodedResult ? new EncodedSuccess(id, result) : { jsonrpc: "2.0", id, result }

/**
 * The refusal of request `id`. An `undefined` id leaves the member out; `null` writes it, as revisions before
 * 2025-11-25 expect for requests that could not be read (RPC-08).
 *
 * @category constructors
 * @since 0.1.0
 */
export const failure = (id: RequestId | null | undefined, error: WireError): Failure =>
  id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error }

/**
 * One line of JSON, without a line break.
 *
 * @category encoding
 * @since 0.1.0
 */
export const stringify = (message: Outgoing): string =>
  message instanceof EncodedSuccess
    ? `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${message.result.json}}`
    : JSON.stringify(message)

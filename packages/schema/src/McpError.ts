/**
 * The failures of the protocol, one class each, and the one place where they become wire objects and back.
 *
 * What they carry is written to the peer, so it never holds a stack, a path or a secret.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Capabilities from "./Capabilities.ts"
import * as Codes from "./Codes.ts"
import * as Elicitation from "./Elicitation.ts"
import { JsonValue } from "./internal/json.ts"
import { isJsonObject, type JsonObject, type WireError } from "./JsonRpc.ts"
import type { Revision } from "./Revision.ts"

/** The text was not JSON. @category errors @since 0.1.0 */
export class ParseError extends Schema.TaggedError<ParseError>("@mcpfx/schema/ParseError")("ParseError", {}) {}

/** The JSON was not a message, or not one that may come now. @category errors @since 0.1.0 */
export class InvalidRequest
  extends Schema.TaggedError<InvalidRequest>("@mcpfx/schema/InvalidRequest")("InvalidRequest", {
    detail: Schema.String
  })
{}

/** Nobody here answers the method (RPC-24). @category errors @since 0.1.0 */
export class MethodNotFound
  extends Schema.TaggedError<MethodNotFound>("@mcpfx/schema/MethodNotFound")("MethodNotFound", {
    method: Schema.String
  })
{}

/** The params do not fit the method. @category errors @since 0.1.0 */
export class InvalidParams extends Schema.TaggedError<InvalidParams>("@mcpfx/schema/InvalidParams")("InvalidParams", {
  detail: Schema.String,
  data: Schema.optionalKey(JsonValue)
}) {}

/** The envelope of a modern request is incomplete or wrong (META-09). @category errors @since 0.1.0 */
export class InvalidEnvelope
  extends Schema.TaggedError<InvalidEnvelope>("@mcpfx/schema/InvalidEnvelope")("InvalidEnvelope", {
    key: Schema.String,
    reason: Schema.Literals(["missing", "invalid"])
  })
{}

/** Something broke here; what, is in the log and not on the wire. @category errors @since 0.1.0 */
export class InternalError
  extends Schema.TaggedError<InternalError>("@mcpfx/schema/InternalError")("InternalError", {})
{}

/** @category errors @since 0.1.0 */
export class ResourceNotFound
  extends Schema.TaggedError<ResourceNotFound>("@mcpfx/schema/ResourceNotFound")("ResourceNotFound", {
    uri: Schema.String
  })
{}

/** The tool is not there, or not for this caller. @category errors @since 0.1.0 */
export class ToolNotFound
  extends Schema.TaggedError<ToolNotFound>("@mcpfx/schema/ToolNotFound")("ToolNotFound", { name: Schema.String })
{}

/** The prompt is not there, or not for this caller. @category errors @since 0.1.0 */
export class PromptNotFound
  extends Schema.TaggedError<PromptNotFound>("@mcpfx/schema/PromptNotFound")("PromptNotFound", {
    name: Schema.String
  })
{}

/** The task is not there, or not this caller's (TKL-09, TKX-10). @category errors @since 0.1.0 */
export class TaskNotFound
  extends Schema.TaggedError<TaskNotFound>("@mcpfx/schema/TaskNotFound")("TaskNotFound", { taskId: Schema.String })
{}

/** The cursor is not one of ours (PAG-04). @category errors @since 0.1.0 */
export class InvalidCursor
  extends Schema.TaggedError<InvalidCursor>("@mcpfx/schema/InvalidCursor")("InvalidCursor", {})
{}

/** A header and the body disagree, or a header is missing (HTTP-58, XH-11). @category errors @since 0.1.0 */
export class HeaderMismatch
  extends Schema.TaggedError<HeaderMismatch>("@mcpfx/schema/HeaderMismatch")("HeaderMismatch", {
    header: Schema.String,
    detail: Schema.String
  })
{}

/** The client did not declare what the request needs (META-13). @category errors @since 0.1.0 */
export class MissingClientCapability
  extends Schema.TaggedError<MissingClientCapability>("@mcpfx/schema/MissingClientCapability")(
    "MissingClientCapability",
    { required: Capabilities.Client }
  )
{}

/** The version asked for is not served here (VER-01, LIF-13). @category errors @since 0.1.0 */
export class UnsupportedVersion
  extends Schema.TaggedError<UnsupportedVersion>("@mcpfx/schema/UnsupportedVersion")("UnsupportedVersion", {
    supported: Schema.Array(Schema.String),
    requested: Schema.String
  })
{}

/** The user has to visit a page first (ELI-18). @category errors @since 0.1.0 */
export class UrlElicitationRequired
  extends Schema.TaggedError<UrlElicitationRequired>("@mcpfx/schema/UrlElicitationRequired")(
    "UrlElicitationRequired",
    { elicitations: Schema.Array(Elicitation.UrlParams) }
  )
{}

/** The user refused a sampling request (SMP-09). @category errors @since 0.1.0 */
export class UserRejected extends Schema.TaggedError<UserRejected>("@mcpfx/schema/UserRejected")("UserRejected", {}) {}

/** A limit of requests, sessions or streams is reached; `retryAfter` is in seconds. @category errors @since 0.1.0 */
export class TooManyRequests
  extends Schema.TaggedError<TooManyRequests>("@mcpfx/schema/TooManyRequests")("TooManyRequests", {
    /** The limit's name. */
    limit: Schema.String,
    retryAfter: Schema.optionalKey(Schema.Finite)
  })
{}

/** The answer exceeds what may be sent; sizes are in bytes. @category errors @since 0.1.0 */
export class ResultTooLarge
  extends Schema.TaggedError<ResultTooLarge>("@mcpfx/schema/ResultTooLarge")("ResultTooLarge", {
    bytes: Schema.Int,
    limit: Schema.Int
  })
{}

/** The server takes nothing in any more. @category errors @since 0.1.0 */
export class ServerShuttingDown
  extends Schema.TaggedError<ServerShuttingDown>("@mcpfx/schema/ServerShuttingDown")("ServerShuttingDown", {})
{}

/** An error that the peer sent and that has no class of its own here (RPC-23). @category errors @since 0.1.0 */
export class PeerError extends Schema.TaggedError<PeerError>("@mcpfx/schema/PeerError")("PeerError", {
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(JsonValue)
}) {}

/** @category schemas @since 0.1.0 */
export const McpError = Schema.Union([
  ParseError,
  InvalidRequest,
  MethodNotFound,
  InvalidParams,
  InvalidEnvelope,
  InternalError,
  ResourceNotFound,
  ToolNotFound,
  PromptNotFound,
  TaskNotFound,
  InvalidCursor,
  HeaderMismatch,
  MissingClientCapability,
  UnsupportedVersion,
  UrlElicitationRequired,
  UserRejected,
  TooManyRequests,
  ResultTooLarge,
  ServerShuttingDown,
  PeerError
])

/** @category models @since 0.1.0 */
export type McpError = typeof McpError.Type

/**
 * @category guards
 * @since 0.1.0
 */
export const isMcpError: (u: unknown) => u is McpError = Schema.is(McpError)

const wire = (code: number, message: string, data?: unknown): WireError =>
  data === undefined ? { code, message } : { code, message, data }

/** The names of capabilities, of extensions their own, for a person to read. */
const lacking = ({ extensions, ...capabilities }: Capabilities.Client): string =>
  [...Object.keys(capabilities), ...Object.keys(extensions ?? {})].join(", ")

const refused = (limit: string, retryAfter: number | undefined): JsonObject =>
  retryAfter === undefined ? { limit } : { limit, retryAfter }

/**
 * Writes a failure for a peer of `revision`: the one table of codes. What that revision has no code for becomes the
 * nearest one it has; -32002 and -32042 never reach a peer of 2026-07-28 (RPC-19).
 *
 * **Example** (One failure on two revisions)
 *
 * ```ts
 * import { McpError, Revisions } from "@mcpfx/schema"
 *
 * const error = new McpError.ResourceNotFound({ uri: "note:1" })
 * McpError.toWire(error, Revisions.newestLegacy).code // => -32002
 * McpError.toWire(error, Revisions.newest).code // => -32602
 * ```
 *
 * @category encoding
 * @since 0.1.0
 */
export const toWire = (error: McpError, revision: Revision): WireError => {
  const modern = revision.era === "modern"
  switch (error._tag) {
    case "ParseError":
      return wire(Codes.parseError, "Parse error")
    case "InvalidRequest":
      return wire(Codes.invalidRequest, error.detail)
    case "MethodNotFound":
      return wire(Codes.methodNotFound, `Method not found: ${error.method}`)
    case "InvalidParams":
      return wire(Codes.invalidParams, error.detail, error.data)
    case "InvalidEnvelope":
      return wire(Codes.invalidParams, `${error.reason === "missing" ? "Missing" : "Invalid"} _meta key: ${error.key}`)
    case "InternalError":
      return wire(Codes.internalError, "Internal error")
    case "ResourceNotFound":
      return wire(revision.features.resourceNotFound, `Resource not found: ${error.uri}`, { uri: error.uri })
    case "ToolNotFound":
      return wire(Codes.invalidParams, `Unknown tool: ${error.name}`)
    case "PromptNotFound":
      return wire(Codes.invalidParams, `Unknown prompt: ${error.name}`)
    case "TaskNotFound":
      return wire(Codes.invalidParams, `Unknown task: ${error.taskId}`)
    case "InvalidCursor":
      return wire(Codes.invalidParams, "Invalid cursor")
    case "HeaderMismatch":
      return wire(modern ? Codes.headerMismatch : Codes.invalidRequest, `${error.header}: ${error.detail}`)
    case "MissingClientCapability":
      return wire(
        modern ? Codes.missingClientCapability : Codes.invalidParams,
        `The client lacks a capability that this request needs: ${lacking(error.required)}`,
        { requiredCapabilities: error.required }
      )
    case "UnsupportedVersion":
      return wire(modern ? Codes.unsupportedVersion : Codes.invalidParams, "Unsupported protocol version", {
        supported: error.supported,
        requested: error.requested
      })
    case "UrlElicitationRequired":
      return revision.version === "2025-11-25"
        ? wire(Codes.urlElicitationRequired, "The user has to visit a page first", { elicitations: error.elicitations })
        : wire(Codes.internalError, "The user has to visit a page, which cannot be asked for here")
    case "UserRejected":
      return wire(modern ? Codes.internalError : Codes.userRejected, "The user rejected the request")
    case "TooManyRequests":
      return wire(
        modern ? Codes.internalError : Codes.overloaded,
        `Too many requests: ${error.limit}`,
        refused(error.limit, error.retryAfter)
      )
    case "ResultTooLarge":
      return wire(Codes.internalError, `The result has ${error.bytes} bytes, the limit is ${error.limit}`)
    case "ServerShuttingDown":
      return wire(modern ? Codes.internalError : Codes.overloaded, "The server is shutting down")
    case "PeerError":
      return relay(error, revision)
  }
}

const relay = (error: PeerError, revision: Revision): WireError => {
  if (error.code === Codes.resourceNotFound) {
    return wire(revision.features.resourceNotFound, error.message, error.data)
  }
  return wire(
    Codes.mayEmit(error.code, revision.version) ? error.code : Codes.internalError,
    error.message,
    error.data
  )
}

/**
 * The HTTP status of a failure on 2026-07-28. Those a handler raises have 200, but for a missing capability.
 *
 * @category encoding
 * @since 0.1.0
 */
export const httpStatus = (error: McpError): number => {
  switch (error._tag) {
    case "ParseError":
    case "InvalidRequest":
    case "InvalidEnvelope":
    case "HeaderMismatch":
    case "MissingClientCapability":
    case "UnsupportedVersion":
      return 400
    case "MethodNotFound":
      return 404
    case "TooManyRequests":
    case "ServerShuttingDown":
      return 503
    default:
      return 200
  }
}

const isUrls = Schema.is(Schema.Array(Elicitation.UrlParams))
const isStrings = Schema.is(Schema.Array(Schema.String))

const unsupported = (data: JsonObject): UnsupportedVersion | undefined => {
  const { requested, supported } = data
  return isStrings(supported) && typeof requested === "string"
    ? new UnsupportedVersion({ supported, requested })
    : undefined
}

const named = (error: WireError, method: string | undefined): McpError | undefined => {
  const data: JsonObject = isJsonObject(error.data) ? error.data : {}
  const { elicitations, requiredCapabilities, uri } = data
  switch (error.code) {
    case Codes.methodNotFound:
      return method === undefined ? undefined : new MethodNotFound({ method })
    case Codes.resourceNotFound:
      return new ResourceNotFound({ uri: typeof uri === "string" ? uri : "" })
    case Codes.invalidParams:
      return typeof uri === "string" ? new ResourceNotFound({ uri }) : unsupported(data)
    case Codes.unsupportedVersion:
      return unsupported(data)
    case Codes.headerMismatch:
      return new HeaderMismatch({ header: "", detail: error.message })
    case Codes.missingClientCapability:
      return Capabilities.isClient(requiredCapabilities)
        ? new MissingClientCapability({ required: requiredCapabilities })
        : undefined
    case Codes.urlElicitationRequired:
      return isUrls(elicitations) ? new UrlElicitationRequired({ elicitations }) : undefined
    default:
      return undefined
  }
}

/**
 * Reads an error that a peer sent. Those whose code and data say something that a program can act on get their class, all
 * others are a {@link PeerError} with code, message and data as they came. A resource that is not there is known by either
 * of its codes (RES-07).
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromWire = (error: WireError, method?: string): McpError =>
  named(error, method) ??
    new PeerError(
      error.data === undefined
        ? { code: error.code, message: error.message }
        : { code: error.code, message: error.message, data: error.data }
    )

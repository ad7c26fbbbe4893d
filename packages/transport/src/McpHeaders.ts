/**
 * The HTTP headers of the protocol, pure: their names, and how 2026-07-28 mirrors a message's body into them.
 *
 * The body is the truth; the headers are copies that intermediaries may act on. A server therefore refuses a request whose
 * copies are missing, wrong or unreadable (HTTP-58, XH-11).
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"

/**
 * Names of headers, lower-cased: what readers look up and writers write.
 *
 * @category constants
 * @since 0.1.0
 */
export const names = {
  sessionId: "mcp-session-id",
  protocolVersion: "mcp-protocol-version",
  method: "mcp-method",
  name: "mcp-name",
  lastEventId: "last-event-id",
  accelBuffering: "x-accel-buffering"
} as const

/**
 * What the header of an annotated argument starts with.
 *
 * @category constants
 * @since 0.1.0
 */
export const paramPrefix = "mcp-param-"

/**
 * The header that carries the argument annotated with `header`.
 *
 * @category constants
 * @since 0.1.0
 */
export const paramName = (header: string): string => paramPrefix + header.toLowerCase()

/**
 * The member of `params` that `Mcp-Name` repeats, by method (HTTP-56, TKX-11).
 *
 * @category constants
 * @since 0.1.0
 */
export const nameMembers: ReadonlyMap<string, string> = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"]
])

/**
 * Why a header does not do.
 *
 * - `missing`: the body has the value, the header is not there
 * - `mismatch`: it says something else than the body
 * - `undecodable`: its base64 or the UTF-8 inside is broken
 * - `illegal`: it has characters that no header value may have
 *
 * @category models
 * @since 0.1.0
 */
export interface HeaderFault {
  readonly header: string
  readonly reason: "missing" | "mismatch" | "undecodable" | "illegal"
}

const sentences: Readonly<Record<HeaderFault["reason"], string>> = {
  missing: "is missing",
  mismatch: "does not match the body",
  undecodable: "has a base64 value that cannot be decoded",
  illegal: "has characters that a header must not have"
}

/**
 * One sentence for the peer; names the header, never a value.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = (fault: HeaderFault): string => `Header ${fault.header} ${sentences[fault.reason]}`

const sentinelStart = "=?base64?"
const sentinelEnd = "?="
/** Visible ASCII and inner spaces: what travels unchanged through every hop. */
const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/
const legal = /^[\t\x20-\x7e]*$/
const canonicalBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const decimal = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Spaces and tabs at the edges belong to the header line, not to its value. */
const strip = (value: string): string => value.replace(/^[ \t]+|[ \t]+$/g, "")

/**
 * A text as a header value: as it is where that is safe, else in the base64 sentinel. Text with other than visible ASCII,
 * with white space at an edge, or that itself looks like a sentinel, is encoded (XH-09).
 *
 * **Example** (Encoding values)
 *
 * ```ts
 * import { McpHeaders } from "@mcpfx/transport"
 *
 * McpHeaders.encodeValue("us west") // => "us west"
 * McpHeaders.encodeValue("café") // => "=?base64?Y2Fmw6k=?="
 * ```
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodeValue = (value: string): string =>
  plain.test(value) && !value.toLowerCase().startsWith(sentinelStart)
    ? value
    : sentinelStart + Base64.encode(value) + sentinelEnd

/**
 * The text a header value stands for: white space at the edges is stripped, a sentinel decoded.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeValue = (value: string): Result.Result<string, "undecodable" | "illegal"> => {
  const text = strip(value)
  if (!legal.test(text)) return Result.fail("illegal")
  if (!text.startsWith(sentinelStart) || !text.endsWith(sentinelEnd)) return Result.succeed(text)
  const encoded = text.slice(sentinelStart.length, -sentinelEnd.length)
  if (text.length < sentinelStart.length + sentinelEnd.length || !canonicalBase64.test(encoded)) {
    return Result.fail("undecodable")
  }
  return Result.flatMap(
    Result.mapError(Base64.decode(encoded), () => "undecodable" as const),
    (bytes) => Result.try({ try: () => utf8.decode(bytes), catch: () => "undecodable" as const })
  )
}

/**
 * A message as far as its mirrors go.
 *
 * @category models
 * @since 0.1.0
 */
export interface Mirrored {
  readonly method: string
  readonly params?: JsonRpc.JsonObject | undefined
}

const nameOf = (message: Mirrored): string | undefined => {
  const member = nameMembers.get(message.method)
  const value = member === undefined ? undefined : message.params?.[member]
  return typeof value === "string" ? value : undefined
}

/**
 * The headers that repeat a modern message: the version, the method and, where there is one, the name (HTTP-50, HTTP-55,
 * HTTP-56).
 *
 * @category encoding
 * @since 0.1.0
 */
export const mirror = (message: Mirrored, version: string): Record<string, string> => {
  const headers: Record<string, string> = {
    [names.protocolVersion]: version,
    [names.method]: encodeValue(message.method)
  }
  const name = nameOf(message)
  if (name !== undefined) headers[names.name] = encodeValue(name)
  return headers
}

/** Headers by lower-cased name; repeated headers joined, as every HTTP library gives them. */
type Lookup = Readonly<Record<string, string | undefined>>

const compare = (
  headers: Lookup,
  header: string,
  same: (decoded: string) => boolean
): HeaderFault | undefined => {
  const raw = headers[header]
  if (raw === undefined) return { header, reason: "missing" }
  const decoded = decodeValue(raw)
  if (Result.isFailure(decoded)) return { header, reason: decoded.failure }
  return same(decoded.success) ? undefined : { header, reason: "mismatch" }
}

/** The same for a text that is to be repeated as it is; nearly every header does so literally. */
const compareText = (headers: Lookup, header: string, text: string): HeaderFault | undefined =>
  headers[header] === text && plain.test(text) && !text.startsWith(sentinelStart)
    ? undefined
    : compare(headers, header, (value) => value === text)

/**
 * Checks the version header against the version in the body (HTTP-50). Values compare exactly, names do not (HTTP-60).
 *
 * @category checking
 * @since 0.1.0
 */
export const checkVersion = (headers: Lookup, version: string): HeaderFault | undefined =>
  compare(headers, names.protocolVersion, (value) => value === version)

/**
 * Checks `Mcp-Method` and `Mcp-Name` of a modern request against its body (HTTP-55, HTTP-56, HTTP-58). A body without a
 * name is for the check of params to refuse.
 *
 * @category checking
 * @since 0.1.0
 */
export const checkMirrors = (headers: Lookup, message: Mirrored): HeaderFault | undefined => {
  const method = compareText(headers, names.method, message.method)
  if (method !== undefined) return method
  const name = nameOf(message)
  return name === undefined ? undefined : compareText(headers, names.name, name)
}

/**
 * An argument that is repeated in a header.
 *
 * @category models
 * @since 0.1.0
 */
export interface ParamAnnotation {
  /** Property names from the root of the arguments to the value. */
  readonly path: ReadonlyArray<string>
  /** What follows `Mcp-Param-`. */
  readonly header: string
  readonly type: "string" | "integer" | "boolean"
}

const valueAt = (root: unknown, path: ReadonlyArray<string>): unknown => {
  let node = root
  for (const key of path) {
    if (!JsonRpc.isJsonObject(node) || !Object.hasOwn(node, key)) return undefined
    node = node[key]
  }
  return node
}

/** What an argument looks like as text; `undefined` for those that have no header, such as null (XH-08, XH-12). */
const textOf = (value: unknown): string | undefined => {
  switch (typeof value) {
    case "string":
      return value
    case "boolean":
      return value ? "true" : "false"
    case "number":
      // What cannot be written in plain decimal without losing digits is for the check of arguments to refuse.
      return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
        ? String(value)
        : undefined
    default:
      return undefined
  }
}

/**
 * The `Mcp-Param-*` headers of a tool call. Arguments that are absent or null have none (XH-08).
 *
 * **Example** (Mirroring an argument)
 *
 * ```ts
 * import { McpHeaders } from "@mcpfx/transport"
 *
 * const annotations = [{ path: ["region"], header: "Region", type: "string" }] as const
 * McpHeaders.mirrorParams(annotations, { region: "eu" }) // => { "mcp-param-region": "eu" }
 * ```
 *
 * @category encoding
 * @since 0.1.0
 */
export const mirrorParams = (
  annotations: ReadonlyArray<ParamAnnotation>,
  args: unknown
): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const annotation of annotations) {
    const text = textOf(valueAt(args, annotation.path))
    if (text !== undefined) headers[paramName(annotation.header)] = encodeValue(text)
  }
  return headers
}

/**
 * Checks the `Mcp-Param-*` headers of a tool call against its arguments (XH-11). A header is only looked for where the
 * arguments have a value (XH-12); headers that nothing is annotated with are left alone (XH-15). Integers compare as
 * numbers: `42.0` is `42` (HTTP-60).
 *
 * @category checking
 * @since 0.1.0
 */
export const checkParams = (
  headers: Lookup,
  annotations: ReadonlyArray<ParamAnnotation>,
  args: unknown
): HeaderFault | undefined => {
  for (const annotation of annotations) {
    const value = valueAt(args, annotation.path)
    const text = textOf(value)
    if (text === undefined) continue
    const numeric = annotation.type === "integer" && typeof value === "number"
    const fault = compare(
      headers,
      paramName(annotation.header),
      (decoded) => decoded === text || (numeric && decimal.test(decoded) && Number(decoded) === value)
    )
    if (fault !== undefined) return fault
  }
  return undefined
}

/**
 * Which era one HTTP message belongs to, and whether its headers agree with its body. Pure.
 *
 * The body's `_meta` decides the era, the headers are a cross-check. Where several things are wrong the first in this
 * order is told: version header against the body, the `_meta` envelope, the version itself, the mirrored method and name.
 *
 * @since 0.1.0
 */
import * as Codes from "@mcpfx/schema/Codes"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Meta from "@mcpfx/schema/Meta"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type * as Headers from "effect/http/Headers"
import * as Result from "effect/Result"
import { Rejected } from "./Endpoint.ts"
import * as McpHeaders from "./McpHeaders.ts"

/**
 * A message of 2026-07-28 or later.
 *
 * @category models
 * @since 0.1.0
 */
export interface Modern {
  readonly _tag: "Modern"
  readonly version: string
  /** What a request says about its sender; `undefined` on notifications, which need not say it (HTTP-67). */
  readonly envelope: Meta.Envelope | undefined
}

/**
 * A message of a revision with sessions.
 *
 * @category models
 * @since 0.1.0
 */
export interface Legacy {
  readonly _tag: "Legacy"
  /**
   * The version header; `undefined` where there is none, which without other knowledge stands for 2025-03-26 (HTTP-44), and
   * on `initialize`, whose header is not judged.
   */
  readonly version: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type Classified = Modern | Legacy

/**
 * @category models
 * @since 0.1.0
 */
export interface Classifier {
  /** Judges one message with the headers of the request that carried it. */
  readonly message: (message: JsonRpc.Message, headers: Headers.Headers) => Classified | Rejected
  /** Judges what has no message of its own: GET, DELETE, batches and responses, which only revisions with sessions have. */
  readonly bare: (headers: Headers.Headers) => Legacy | Rejected
}

const unsupportedText = "Unsupported protocol version"
const firstModern = "2026-07-28"
const dated = /^\d{4}-\d{2}-\d{2}$/

/**
 * The era of a version, known or not: dates order them. `undefined` for what is no version at all.
 *
 * @category getters
 * @since 0.1.0
 */
export const eraOf = (version: string): "legacy" | "modern" | undefined =>
  dated.test(version) ? version < firstModern ? "legacy" : "modern" : undefined

const bad = (code: number, message: string, data?: JsonRpc.JsonObject): Rejected =>
  new Rejected(data === undefined ? { code, message } : { code, message, data }, 400)

const mismatch = (fault: McpHeaders.HeaderFault): Rejected => bad(Codes.headerMismatch, McpHeaders.describe(fault))

const missingVersion = (): Rejected => mismatch({ header: McpHeaders.names.protocolVersion, reason: "missing" })

const badEnvelope = (fault: Meta.EnvelopeFault): Rejected =>
  bad(Codes.invalidParams, `${fault.reason === "missing" ? "Missing" : "Invalid"} _meta key: ${fault.key}`)

/** The version a body names, whatever else is wrong with it. */
const claimedVersion = (params: JsonRpc.JsonObject | undefined): string | undefined => {
  const meta = params?.["_meta"]
  const version = JsonRpc.isJsonObject(meta) ? meta[MetaKey.protocolVersion] : undefined
  return typeof version === "string" ? version : undefined
}

/** The version header against the version in the body, where there is one. */
const crossCheck = (headers: Headers.Headers, version: string | undefined): Rejected | undefined => {
  const header = headers[McpHeaders.names.protocolVersion]
  if (header === undefined) return missingVersion()
  if (version === undefined || header === version) return undefined
  const fault = McpHeaders.checkVersion(headers, version)
  return fault === undefined ? undefined : mismatch(fault)
}

/**
 * A classifier for an endpoint that speaks `supported`, which is what refusals list (VER-01). An endpoint without any
 * revision with sessions refuses those, `initialize` included, and names what it speaks (VER-08).
 *
 * **Example** (A request of each era)
 *
 * ```ts
 * import { Classify } from "@mcpfx/transport"
 * import { Headers } from "effect/http"
 *
 * const classifier = Classify.make(["2025-11-25", "2026-07-28"])
 * classifier.message({ jsonrpc: "2.0", id: 1, method: "tools/list" }, Headers.empty)
 * // => { _tag: "Legacy", version: undefined }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (supported: ReadonlyArray<string>): Classifier => {
  const legacy = new Map<string, Legacy>()
  const modern = new Set<string>()
  for (const version of supported) {
    if (eraOf(version) === "modern") modern.add(version)
    else legacy.set(version, { _tag: "Legacy", version })
  }
  const unversioned: Legacy = { _tag: "Legacy", version: undefined }
  const modernOnly = legacy.size === 0

  const unsupported = (requested: string): Rejected =>
    bad(Codes.unsupportedVersion, unsupportedText, { supported, requested })

  const legacyHeader = (header: string): Legacy | Rejected =>
    legacy.get(header) ??
      (modernOnly
        ? unsupported(header)
        : bad(Codes.invalidParams, unsupportedText, { supported, requested: header }))

  const unclaimedRequest = (message: JsonRpc.Request, header: string | undefined): Classified | Rejected => {
    if (message.method === "initialize") {
      if (!modernOnly) return unversioned
      const asked = message.params?.["protocolVersion"]
      return unsupported(typeof asked === "string" ? asked : header ?? "")
    }
    if (header === undefined) return modernOnly ? missingVersion() : unversioned
    if (eraOf(header) === "modern") {
      return badEnvelope({ _tag: "EnvelopeFault", key: MetaKey.protocolVersion, reason: "missing" })
    }
    return legacyHeader(header)
  }

  const request = (message: JsonRpc.Request, headers: Headers.Headers): Classified | Rejected => {
    const claim = Meta.modernEnvelope(message.params)
    if (Result.isFailure(claim)) {
      return crossCheck(headers, claimedVersion(message.params)) ?? badEnvelope(claim.failure)
    }
    const envelope = claim.success
    return envelope === undefined
      ? unclaimedRequest(message, headers[McpHeaders.names.protocolVersion])
      : crossCheck(headers, envelope.protocolVersion) ?? enveloped(message, envelope, headers)
  }

  const enveloped = (
    message: JsonRpc.Request,
    envelope: Meta.Envelope,
    headers: Headers.Headers
  ): Modern | Rejected => {
    const version = envelope.protocolVersion
    if (!modern.has(version)) return unsupported(version)
    const fault = McpHeaders.checkMirrors(headers, message)
    return fault === undefined ? { _tag: "Modern", version, envelope } : mismatch(fault)
  }

  const notification = (message: JsonRpc.Notification, headers: Headers.Headers): Classified | Rejected => {
    const claimed = claimedVersion(message.params)
    const rejected = claimed === undefined ? undefined : crossCheck(headers, claimed)
    if (rejected !== undefined) return rejected
    const header = headers[McpHeaders.names.protocolVersion]
    if (header === undefined) return modernOnly ? missingVersion() : unversioned
    if (eraOf(header) !== "modern") return legacyHeader(header)
    return modern.has(header) ? { _tag: "Modern", version: header, envelope: undefined } : unsupported(header)
  }

  const bare = (headers: Headers.Headers): Legacy | Rejected => {
    const header = headers[McpHeaders.names.protocolVersion]
    if (header === undefined) return modernOnly ? missingVersion() : unversioned
    return eraOf(header) === "modern"
      ? bad(Codes.invalidRequest, `Not part of protocol version ${header}`)
      : legacyHeader(header)
  }

  return {
    message: (message, headers) => {
      if (JsonRpc.isRequest(message)) return request(message, headers)
      return JsonRpc.isNotification(message) ? notification(message, headers) : bare(headers)
    },
    bare
  }
}

/**
 * Every error code of the protocol: its name, the revisions that may emit it, and its HTTP status on 2026-07-28.
 *
 * @since 0.1.0
 */
import type { Version } from "./Revision.ts"

/** The text was not JSON. @category codes @since 0.1.0 */
export const parseError = -32700

/** The JSON was not a message, or not one that may come now. @category codes @since 0.1.0 */
export const invalidRequest = -32600

/** Nobody here answers the method (RPC-24). @category codes @since 0.1.0 */
export const methodNotFound = -32601

/** The params do not fit the method; also what is named is not there. @category codes @since 0.1.0 */
export const invalidParams = -32602

/** @category codes @since 0.1.0 */
export const internalError = -32603

/** Up to 2025-11-25; forbidden on 2026-07-28, accepted from anyone (RES-06, RES-07). @category codes @since 0.1.0 */
export const resourceNotFound = -32002

/** On 2025-11-25 alone (ELI-18). @category codes @since 0.1.0 */
export const urlElicitationRequired = -32042

/** On 2026-07-28: a header and the body disagree (HTTP-50, HTTP-58). @category codes @since 0.1.0 */
export const headerMismatch = -32020

/** On 2026-07-28 (META-13). @category codes @since 0.1.0 */
export const missingClientCapability = -32021

/** On 2026-07-28 (VER-01). @category codes @since 0.1.0 */
export const unsupportedVersion = -32022

/** Up to 2025-11-25: the user refused a sampling request (SMP-09). @category codes @since 0.1.0 */
export const userRejected = -1

/** Up to 2025-11-25: too much at once. The number has no agreed meaning. @category codes @since 0.1.0 */
export const overloaded = -32000

/**
 * @category models
 * @since 0.1.0
 */
export interface Code {
  readonly code: number
  readonly name: string
  /** The revisions on which it may be sent, oldest first. */
  readonly revisions: ReadonlyArray<Version>
  /** Its HTTP status on 2026-07-28; `undefined` where it is not sent there. */
  readonly httpStatus: number | undefined
}

const legacy: ReadonlyArray<Version> = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
const modern: ReadonlyArray<Version> = ["2026-07-28"]
const every = [...legacy, ...modern]

/**
 * The table. `InvalidParams` has status 400 when the envelope is at fault, see `McpError.httpStatus`.
 *
 * @category models
 * @since 0.1.0
 */
export const all: ReadonlyArray<Code> = [
  { code: parseError, name: "ParseError", revisions: every, httpStatus: 400 },
  { code: invalidRequest, name: "InvalidRequest", revisions: every, httpStatus: 400 },
  { code: methodNotFound, name: "MethodNotFound", revisions: every, httpStatus: 404 },
  { code: invalidParams, name: "InvalidParams", revisions: every, httpStatus: 200 },
  { code: internalError, name: "InternalError", revisions: every, httpStatus: 200 },
  { code: resourceNotFound, name: "ResourceNotFound", revisions: legacy, httpStatus: undefined },
  { code: userRejected, name: "UserRejected", revisions: legacy, httpStatus: undefined },
  { code: overloaded, name: "Overloaded", revisions: legacy, httpStatus: undefined },
  { code: urlElicitationRequired, name: "UrlElicitationRequired", revisions: ["2025-11-25"], httpStatus: undefined },
  { code: headerMismatch, name: "HeaderMismatch", revisions: modern, httpStatus: 400 },
  { code: missingClientCapability, name: "MissingClientCapability", revisions: modern, httpStatus: 400 },
  { code: unsupportedVersion, name: "UnsupportedVersion", revisions: modern, httpStatus: 400 }
]

const table: ReadonlyMap<number, Code> = new Map(all.map((entry) => [entry.code, entry]))

/**
 * @category getters
 * @since 0.1.0
 */
export const byCode = (code: number): Code | undefined => table.get(code)

/**
 * Whether `code` may be sent on `version`: what the table says, and for codes the protocol has not defined, that they lie
 * outside the ranges it keeps for itself (RPC-19, RPC-20, RPC-21).
 *
 * **Example** (A code that was retired)
 *
 * ```ts
 * import { Codes } from "@mcpfx/schema"
 *
 * Codes.mayEmit(-32002, "2025-11-25") // => true
 * Codes.mayEmit(-32002, "2026-07-28") // => false
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const mayEmit = (code: number, version: Version): boolean => {
  const entry = table.get(code)
  if (entry !== undefined) return entry.revisions.includes(version)
  if (version === "2026-07-28") return code < -32768 || code > -32000
  return code < -32099 || code > -32020
}

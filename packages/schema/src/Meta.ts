/**
 * Reading and writing `_meta`: the envelope of 2026-07-28, progress tokens, identities, subscriptions and trace context.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Capabilities from "./Capabilities.ts"
import { type Implementation, isImplementation } from "./Implementation.ts"
import { isProgressToken } from "./internal/fields.ts"
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from "./JsonRpc.ts"
import * as Logging from "./Logging.ts"
import * as MetaKey from "./MetaKey.ts"
import * as TraceContext from "./TraceContext.ts"

/**
 * What every request of 2026-07-28 says about its sender (META-07).
 *
 * @category models
 * @since 0.1.0
 */
export interface Envelope {
  readonly protocolVersion: string
  readonly clientCapabilities: Capabilities.Client
  readonly clientInfo?: Implementation | undefined
  /** The floor of log messages about this request; without it none are sent (LOG-03). */
  readonly logLevel?: Logging.Level | undefined
}

/**
 * A request says that it is a modern one, and says it wrong: answered with -32602, on HTTP with status 400 (META-09).
 *
 * @category models
 * @since 0.1.0
 */
export interface EnvelopeFault {
  readonly _tag: "EnvelopeFault"
  readonly key: string
  readonly reason: "missing" | "invalid"
}

const fault = (key: string, reason: "missing" | "invalid"): Result.Result<never, EnvelopeFault> =>
  Result.fail({ _tag: "EnvelopeFault", key, reason })

const noClaim: Result.Result<undefined, EnvelopeFault> = Result.succeed(undefined)

/**
 * Reads the envelope of a request's params: `undefined` where nothing claims to be one, a fault where a claim is
 * incomplete or wrong, else the envelope. Any of its four keys is a claim. Which versions are served is not asked here.
 *
 * **Example** (Telling the eras apart)
 *
 * ```ts
 * import { Meta } from "@mcpfx/schema"
 * import { Result } from "effect"
 *
 * Result.getOrThrow(Meta.modernEnvelope({ cursor: "next" })) // => undefined
 * Result.isFailure(Meta.modernEnvelope({ _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })) // => true
 * ```
 *
 * @category decoding
 * @since 0.1.0
 */
export const modernEnvelope = (params: unknown): Result.Result<Envelope | undefined, EnvelopeFault> => {
  if (!isJsonObject(params)) return noClaim
  const meta = params["_meta"]
  return isJsonObject(meta) ? readEnvelope(meta) : noClaim
}

/**
 * As {@link modernEnvelope}, of the `_meta` itself.
 *
 * @category decoding
 * @since 0.1.0
 */
export const readEnvelope = (meta: JsonObject): Result.Result<Envelope | undefined, EnvelopeFault> => {
  const protocolVersion = meta[MetaKey.protocolVersion]
  const clientCapabilities = meta[MetaKey.clientCapabilities]
  const clientInfo = meta[MetaKey.clientInfo]
  const logLevel = meta[MetaKey.logLevel]
  if (protocolVersion === undefined) {
    return clientCapabilities === undefined && clientInfo === undefined && logLevel === undefined
      ? noClaim
      : fault(MetaKey.protocolVersion, "missing")
  }
  if (typeof protocolVersion !== "string") return fault(MetaKey.protocolVersion, "invalid")
  if (clientCapabilities === undefined) return fault(MetaKey.clientCapabilities, "missing")
  if (!Capabilities.isClient(clientCapabilities)) return fault(MetaKey.clientCapabilities, "invalid")
  if (clientInfo !== undefined && !isImplementation(clientInfo)) return fault(MetaKey.clientInfo, "invalid")
  if (logLevel !== undefined && !Logging.isLevel(logLevel)) return fault(MetaKey.logLevel, "invalid")
  return Result.succeed({ protocolVersion, clientCapabilities, clientInfo, logLevel })
}

/**
 * The `_meta` members that say what `envelope` holds.
 *
 * @category encoding
 * @since 0.1.0
 */
export const encodeEnvelope = (envelope: Envelope): JsonObject => ({
  [MetaKey.protocolVersion]: envelope.protocolVersion,
  [MetaKey.clientCapabilities]: envelope.clientCapabilities,
  ...(envelope.clientInfo === undefined ? undefined : { [MetaKey.clientInfo]: envelope.clientInfo }),
  ...(envelope.logLevel === undefined ? undefined : { [MetaKey.logLevel]: envelope.logLevel })
})

/**
 * Params or a result with `added` put into its `_meta`; members that were there stay, those of `added` win.
 *
 * @category combinators
 * @since 0.1.0
 */
export const merge = <A extends Carrier>(self: A, added: JsonObject): A & { readonly _meta: JsonObject } => ({
  ...self,
  _meta: isJsonObject(self._meta) ? { ...self._meta, ...added } : added
})

interface Carrier {
  readonly _meta?: unknown
}

const read = (self: Carrier | undefined, key: string): unknown => {
  const meta = self?._meta
  return isJsonObject(meta) ? meta[key] : undefined
}

/**
 * The progress token of a request, if it asks for progress. Zero and the empty string are tokens.
 *
 * @category getters
 * @since 0.1.0
 */
export const progressToken = (params: Carrier | undefined): string | number | undefined => {
  const token = read(params, MetaKey.progressToken)
  return isProgressToken(token) ? token : undefined
}

/**
 * The listen request that a notification or a listen result belongs to (META-14, SUB-05).
 *
 * @category getters
 * @since 0.1.0
 */
export const subscriptionId = (self: Carrier | undefined): RequestId | undefined => {
  const id = read(self, MetaKey.subscriptionId)
  return isRequestId(id) ? id : undefined
}

/**
 * The server's identity on a result of 2026-07-28 (META-10).
 *
 * @category getters
 * @since 0.1.0
 */
export const serverInfo = (result: Carrier | undefined): Implementation | undefined => {
  const info = read(result, MetaKey.serverInfo)
  return isImplementation(info) ? info : undefined
}

/**
 * The task a message of 2025-11-25 belongs to (TKL-06).
 *
 * @category getters
 * @since 0.1.0
 */
export const relatedTask = (self: Carrier | undefined): string | undefined => {
  const related = read(self, MetaKey.relatedTask)
  const taskId = isJsonObject(related) ? related["taskId"] : undefined
  return typeof taskId === "string" ? taskId : undefined
}

/**
 * The trace a message belongs to; what does not follow the W3C formats counts as absent (META-15).
 *
 * @category getters
 * @since 0.1.0
 */
export const trace = (self: Carrier | undefined): TraceContext.TraceContext | undefined => {
  const meta = self?._meta
  return isJsonObject(meta) ? TraceContext.fromMeta(meta) : undefined
}

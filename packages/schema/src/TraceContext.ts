/**
 * W3C trace context in `_meta`: bare keys, by exception to the rule of prefixes (META-15).
 *
 * @since 0.1.0
 */
import type { JsonObject } from "./JsonRpc.ts"
import * as MetaKey from "./MetaKey.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface TraceContext {
  /** 32 hexadecimal digits, lower case. */
  readonly traceId: string
  /** 16 hexadecimal digits, lower case. */
  readonly spanId: string
  readonly sampled: boolean
  readonly tracestate?: string | undefined
  readonly baggage?: string | undefined
}

const parentFormat = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const zeros = /^0+$/

/**
 * Reads a `traceparent`; `undefined` when it is not one. Later versions are read as far as version 00 goes.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parseParent = (value: unknown): Pick<TraceContext, "traceId" | "spanId" | "sampled"> | undefined => {
  if (typeof value !== "string") return undefined
  const match = parentFormat.exec(value)
  if (match === null) return undefined
  const [, version, traceId, spanId, flags, rest] = match
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined) return undefined
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined
  if (zeros.test(traceId) || zeros.test(spanId)) return undefined
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

const stateKey = /^(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})$/
const stateValue = /^[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/

/**
 * Whether `value` is a `tracestate`: at most 32 members, each key once.
 *
 * @category guards
 * @since 0.1.0
 */
export const isTracestate = (value: unknown): value is string => {
  if (typeof value !== "string" || value.length > 32 * 513) return false
  const keys = new Set<string>()
  for (const part of value.split(",")) {
    const member = part.trim()
    if (member === "") continue
    const equals = member.indexOf("=")
    const key = member.slice(0, equals)
    if (equals < 0 || keys.has(key) || !stateKey.test(key) || !stateValue.test(member.slice(equals + 1))) return false
    keys.add(key)
  }
  return keys.size > 0 && keys.size <= 32
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const baggageValue = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*$/

const isBaggageMember = (member: string): boolean => {
  const parts = member.split(";").map((part) => part.trim())
  return parts.every((part, index) => {
    const equals = part.indexOf("=")
    if (equals < 0) return index > 0 && token.test(part)
    return token.test(part.slice(0, equals).trim()) && baggageValue.test(part.slice(equals + 1).trim())
  })
}

/**
 * Whether `value` is a `baggage`: at most 8192 characters.
 *
 * @category guards
 * @since 0.1.0
 */
export const isBaggage = (value: unknown): value is string =>
  typeof value === "string" && value.length > 0 && value.length <= 8192 && value.split(",").every(isBaggageMember)

/**
 * The trace context of a `_meta` object. Without a valid `traceparent` there is none; an invalid `tracestate` or `baggage`
 * is left out.
 *
 * @category decoding
 * @since 0.1.0
 */
export const fromMeta = (meta: JsonObject): TraceContext | undefined => {
  const parent = parseParent(meta[MetaKey.traceparent])
  if (parent === undefined) return undefined
  const tracestate = meta[MetaKey.tracestate]
  const baggage = meta[MetaKey.baggage]
  return {
    ...parent,
    tracestate: isTracestate(tracestate) ? tracestate : undefined,
    baggage: isBaggage(baggage) ? baggage : undefined
  }
}

/**
 * The `_meta` members that say what `context` holds.
 *
 * **Example** (Passing a trace on)
 *
 * ```ts
 * import { TraceContext } from "@mcpfx/schema"
 *
 * const trace = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", sampled: true }
 * TraceContext.toMeta(trace) // => { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }
 * ```
 *
 * @category encoding
 * @since 0.1.0
 */
export const toMeta = (context: TraceContext): JsonObject => ({
  [MetaKey.traceparent]: `00-${context.traceId}-${context.spanId}-${context.sampled ? "01" : "00"}`,
  ...(context.tracestate === undefined ? undefined : { [MetaKey.tracestate]: context.tracestate }),
  ...(context.baggage === undefined ? undefined : { [MetaKey.baggage]: context.baggage })
})

/**
 * The names inside `_meta`: the ones the protocol reserves, and the rule that all others follow.
 *
 * @since 0.1.0
 */

/** @category keys @since 0.1.0 */
export const protocolVersion = "io.modelcontextprotocol/protocolVersion"

/** @category keys @since 0.1.0 */
export const clientCapabilities = "io.modelcontextprotocol/clientCapabilities"

/** @category keys @since 0.1.0 */
export const clientInfo = "io.modelcontextprotocol/clientInfo"

/** @category keys @since 0.1.0 */
export const logLevel = "io.modelcontextprotocol/logLevel"

/** On results of 2026-07-28: the server's identity. @category keys @since 0.1.0 */
export const serverInfo = "io.modelcontextprotocol/serverInfo"

/** On notifications of a listen stream and on its last result. @category keys @since 0.1.0 */
export const subscriptionId = "io.modelcontextprotocol/subscriptionId"

/** On 2025-11-25, what belongs to a task. @category keys @since 0.1.0 */
export const relatedTask = "io.modelcontextprotocol/related-task"

/** On 2025-11-25, what the model may be told while a task runs. @category keys @since 0.1.0 */
export const modelImmediateResponse = "io.modelcontextprotocol/model-immediate-response"

/** @category keys @since 0.1.0 */
export const progressToken = "progressToken"

/** @category keys @since 0.1.0 */
export const traceparent = "traceparent"

/** @category keys @since 0.1.0 */
export const tracestate = "tracestate"

/** @category keys @since 0.1.0 */
export const baggage = "baggage"

/** Where a tool's declared failure travels, encoded by its schema. @category keys @since 0.1.0 */
export const failure = "io.mcpfx/failure"

const label = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
const grammar = new RegExp(`^(?:(${label}(?:\\.${label})*)/)?[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$`)

/**
 * Whether `key` is spelt as the protocol allows: an optional prefix of dot-separated labels and a slash, then a name
 * (META-01).
 *
 * **Example** (Checking keys)
 *
 * ```ts
 * import { MetaKey } from "@mcpfx/schema"
 *
 * MetaKey.isValid("com.example/trace") // => true
 * MetaKey.isValid("com.example/") // => false
 * MetaKey.isReserved("dev.mcp/anything") // => true
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isValid = (key: string): boolean => grammar.test(key)

/**
 * Whether the protocol keeps `key` for itself: the second label of its prefix is `modelcontextprotocol` or `mcp`, or it is
 * one of the bare names the protocol gives a meaning (META-03, META-15).
 *
 * @category guards
 * @since 0.1.0
 */
export const isReserved = (key: string): boolean => {
  const slash = key.indexOf("/")
  if (slash < 0) return key === progressToken || key === traceparent || key === tracestate || key === baggage
  const second = key.slice(0, slash).split(".")[1]
  return second === "modelcontextprotocol" || second === "mcp"
}

/**
 * Whether `key` may name an extension: a valid key that has a prefix (EXT-01).
 *
 * @category guards
 * @since 0.1.0
 */
export const isExtensionId = (key: string): boolean => key.includes("/") && isValid(key)

/** What is checked before a request is admitted, so that the peer hears of it before the first byte of an answer. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as McpError from "@mcpfx/schema/McpError"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Task from "@mcpfx/schema/Task"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import { Rejected } from "@mcpfx/transport/Endpoint"
import type { Facts } from "@mcpfx/transport/Exchange"
import * as Option from "effect/Option"
import type { Entry, ExtensionEntry } from "../Entry.ts"
import { isVisible } from "./entries.ts"

type Request = RequestContext["Service"]

/** Seconds after which a client may try again what was too much. */
const retryAfter = "1"

/** A refusal as a peer of `revision` reads it. */
export const rejected = (
  error: McpError.McpError,
  revision: Revision,
  status = McpError.httpStatus(error),
  headers: Readonly<Record<string, string>> = status === 503 ? { "retry-after": retryAfter } : {}
): Rejected => new Rejected(McpError.toWire(error, revision), status, headers)

const insufficient = (scopes: ReadonlyArray<string>, revision: Revision): Rejected =>
  new Rejected(
    McpError.toWire(new McpError.InvalidRequest({ detail: "The caller's token lacks a scope" }), revision),
    403,
    // All scopes of the entry. Those that every request needs are added by who checks tokens, so that one step up is enough
    // (ARS-10).
    { "www-authenticate": `Bearer error="insufficient_scope", scope="${scopes.join(" ")}"` }
  )

/** Who speaks to a local process over its own streams has no token, and needs none. */
const lacksScope = (entry: Entry, facts: Facts): boolean => {
  if (entry.scopes.length === 0) return false
  if (Option.isNone(facts.principal)) return facts.transport === "http"
  const { scopes } = facts.principal.value
  return entry.scopes.some((scope) => !scopes.includes(scope))
}

/** The caller may see the entry and not use it: what stands in the way. */
export const scopeRefusal = (entry: Entry, context: Request): Rejected | undefined =>
  lacksScope(entry, context.facts) && isVisible(entry, context)
    ? insufficient(entry.scopes, context.revision)
    : undefined

/**
 * The extension of a method that the client did not announce, or announced in a way that cannot be read (EXT-04). Where
 * requests come without the client's capabilities, as they do from older clients of a server without sessions, asking for the
 * method is announcement enough.
 */
export const unannounced = (
  extension: ExtensionEntry | undefined,
  context: Request
): ExtensionEntry | undefined => {
  if (extension === undefined || extension.spokenBy(context.clientCapabilities)) return undefined
  const unknown = context.revision.era === "legacy" && context.sessionId === undefined &&
    context.facts.transport === "http"
  return unknown ? undefined : extension
}

/** Whether the entry cannot be served without a task, which the client does not know (TKX-02). */
const needsTask = (entry: Entry, context: Request): boolean =>
  entry.kind === "tool" && entry.task?.support === "must" &&
  !Capabilities.hasExtension(context.clientCapabilities, Task.extensionId) && isVisible(entry, context)

/** What the client of a modern request did not declare (META-13). */
export const modernRefusal = (entry: Entry, context: Request): Rejected | undefined => {
  if (entry.kind === "method") {
    const extension = unannounced(entry.extension, context)
    if (extension !== undefined && isVisible(entry, context)) {
      const required = Capabilities.requiredExtension(extension.name)
      return rejected(new McpError.MissingClientCapability({ required }), context.revision)
    }
  }
  if (entry.asks.length > 0 && isVisible(entry, context)) {
    const missing = Capabilities.missing(context.clientCapabilities, entry.asks)
    if (missing !== undefined) {
      return rejected(new McpError.MissingClientCapability({ required: missing }), context.revision)
    }
  }
  if (!needsTask(entry, context)) return undefined
  const required = Capabilities.requiredExtension(Task.extensionId)
  return rejected(new McpError.MissingClientCapability({ required }), context.revision)
}

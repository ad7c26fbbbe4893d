/** Requests and notifications that are not the protocol's own: found by name, for as long as they are registered. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ExtensionEntry } from "../Entry.ts"
import type { Snapshot } from "../Registry.ts"
import { scopeRefusal, unannounced } from "./admission.ts"
import { entering } from "./enter.ts"
import { isVisible } from "./entries.ts"
import type { Gate } from "./entryRoutes.ts"
import type { Lane, Request } from "./lane.ts"

/** On revisions without a code for it, a method of an extension that the client does not speak is not there (EXT-04). */
const undeclared = (extension: ExtensionEntry, context: Request): McpError.McpError =>
  context.revision.era === "modern"
    ? new McpError.MissingClientCapability({ required: Capabilities.requiredExtension(extension.name) })
    : new McpError.MethodNotFound({ method: context.method })

/** Whatever is registered beside the protocol's methods. */
export const addMethods = (lane: Lane, gate: Gate): void =>
  lane.addCustom((entry, wire) => (request, context) => {
    if (!isVisible(entry, context)) return Effect.fail(new McpError.MethodNotFound({ method: request.method }))
    const extension = unannounced(entry.extension, context)
    if (extension !== undefined) return Effect.fail(undeclared(extension, context))
    const answer = wire.decode(request)
    if (Result.isFailure(answer)) return Effect.fail(answer.failure)
    return gate(entering(Effect.map(answer.success, wire.encode), context))
  })

/** What nobody registered for, what cannot be read and what this client may not say is left alone. */
export const heard = (
  snapshot: Snapshot,
  notification: JsonRpc.Notification,
  context: Request
): Effect.Effect<void> => {
  const entry = snapshot.listener(notification.method)
  if (entry === undefined || unannounced(entry.extension, context) !== undefined) return Effect.void
  const isAllowed = isVisible(entry, context) && scopeRefusal(entry, context) === undefined
  const hear = isAllowed ? entry.on(context.revision) : undefined
  if (hear === undefined) return Effect.void
  const heard = hear(notification.params)
  return Result.isFailure(heard)
    ? Effect.logDebug(`ignored a notification that cannot be read: ${notification.method}`)
    : entering(heard.success, context)
}

/**
 * What the client does with the messages of its server.
 *
 * Notifications go to whoever listens. A request is answered by the handler registered for its method; there is none by
 * default, and what has no handler is not declared as a capability and is refused with -32601 (ROO-03).
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Handler from "@mcpfx/session/Handler"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type { Notifications } from "./Notifications.ts"

/**
 * Answers one method of the server, and the capability that says so.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answerer {
  readonly method: string
  readonly capability: Capabilities.Client
  readonly answer: (
    params: JsonRpc.JsonObject,
    context: RequestContext["Service"]
  ) => Effect.Effect<JsonRpc.ResultBody, McpError.McpError>
}

/**
 * The methods of the server that this client answers; none by default.
 *
 * @category references
 * @since 0.1.0
 */
export const Answerers = Context.Reference<ReadonlyArray<Answerer>>("@mcpfx/client/Answerers", {
  defaultValue: () => []
})

/**
 * The capabilities of `answerers`, added to those the options name (CAP-02).
 *
 * @category getters
 * @since 0.1.0
 */
export const declared = (
  answerers: ReadonlyArray<Answerer>,
  extra: Capabilities.Client | undefined
): Capabilities.Client => Object.assign({}, extra, ...answerers.map(({ capability }) => capability))

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  answerers: ReadonlyArray<Answerer>,
  notifications: Notifications
): Handler.Handler["Service"] => {
  const byMethod = new Map(answerers.map((answerer) => [answerer.method, answerer]))
  return {
    request: (request, context) =>
      byMethod.get(request.method)?.answer(request.params ?? {}, context) ??
        Effect.fail(new McpError.MethodNotFound({ method: request.method })),
    notification: (notification, context) => Effect.sync(() => notifications.publish(notification, context.revision))
  }
}

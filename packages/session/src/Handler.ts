/**
 * What a session does with the requests and notifications of its peer.
 *
 * Implemented by the server's dispatcher and by the client's handlers. The session gives the message with its params
 * unread and the facts of the request; the handler decodes them by the revision, once.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type { McpError } from "@mcpfx/schema/McpError"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RequestContext } from "./RequestContext.ts"

/**
 * @category services
 * @since 0.1.0
 */
export class Handler extends Context.Service<Handler, {
  /**
   * Answers one request with a wire result of the context's revision. A handler that completes at once never leaves the
   * caller's stack, and an answer that is an `Exit` is not run: the request has a fiber and a scope only where there is
   * something to run, so the call itself must not look at the current fiber. Defects, thrown ones too, are the caller's to
   * log and scrub; interruption means the peer cancelled or left.
   */
  readonly request: (
    request: JsonRpc.Request,
    context: RequestContext["Service"]
  ) => Effect.Effect<JsonRpc.ResultBody, McpError>
  /** Takes note of one notification; unknown ones are ignored. */
  readonly notification: (
    notification: JsonRpc.Notification,
    context: RequestContext["Service"]
  ) => Effect.Effect<void>
}>()("@mcpfx/session/Handler") {}

/**
 * The facts of the request being served, on every revision alike.
 *
 * On stateful revisions they come from the session, on 2026-07-28 from the request itself; a handler sees no difference.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import type * as Method from "@mcpfx/schema/Method"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Facts, Outlet } from "@mcpfx/transport/Exchange"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Asker } from "./Peer.ts"
import type { Reporter } from "./Progress.ts"

/**
 * @category services
 * @since 0.1.0
 */
export class RequestContext extends Context.Service<RequestContext, {
  /** The method on the wire. */
  readonly method: string
  /** The request's id; `undefined` while a notification is handled. */
  readonly id: JsonRpc.RequestId | undefined
  readonly revision: Revision
  /** The session that carries the request; `undefined` where there is none (2026-07-28, stateless servers). */
  readonly sessionId: string | undefined
  readonly facts: Facts
  /** What the client of this exchange can do; on 2026-07-28 what it declared on this very request (META-12). */
  readonly clientCapabilities: Capabilities.Client
  /** How the client calls itself: for display, never for decisions (META-10). */
  readonly clientInfo: Implementation.Implementation | undefined
  /** `_meta` of the request, as it came. */
  readonly meta: JsonRpc.JsonObject
  /** The token to report progress under; `undefined` when nobody asked for it (PRG-02 of field practice). */
  readonly progressToken: string | number | undefined
  /** Sends progress under that token; `undefined` without one. Handlers use `Progress.report`. */
  readonly progress: Reporter | undefined
  /**
   * The lowest level of log messages the client wants about this request; `undefined` for none. Legacy: the level of the
   * session, as it is when it is read (LOG-02). 2026-07-28: the level of the request (LOG-03).
   */
  readonly logLevel: Logging.Level | undefined
  /** Sends a notification on the stream of this request; waits while the stream is full, drops when it is gone. */
  readonly notify: <Name extends string, Params>(
    method: Method.NotificationMethod<Name, Params>,
    params: Params
  ) => Effect.Effect<void>
  /** Sends a notification to the client of this session, also once the request is over; `undefined` where none is kept. */
  readonly announce?:
    | (<Name extends string, Params>(
      method: Method.NotificationMethod<Name, Params>,
      params: Params
    ) => Effect.Effect<void>)
    | undefined
  /** Asks the other side on the stream of this request; `undefined` where the revision or the session cannot (RPC-17). */
  readonly asker: Asker | undefined
  /**
   * Closes the connection of the client, which comes back for the rest (HTTP-28); `undefined` where there is nothing to close.
   * Handlers use `Polling.hangUp`.
   */
  readonly hangUp?: Outlet["closeStream"]
  /** Which pass over the handler this is, from 1: more than 1 only on 2026-07-28 after asks. */
  readonly round: number
}>()("@mcpfx/session/RequestContext") {}

/**
 * A context that differs from `self` in some members. Copying with `...` loses members: some are worked out when they are
 * read.
 *
 * @category combinators
 * @since 0.1.0
 */
export const extend = (
  self: RequestContext["Service"],
  changes: Partial<RequestContext["Service"]>
): RequestContext["Service"] => {
  const extended: RequestContext["Service"] = Object.create(self)
  for (const [key, value] of Object.entries(changes)) {
    Object.defineProperty(extended, key, { value, enumerable: true })
  }
  return extended
}

/**
 * The other side, as a sender of requests sees it.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as McpError from "@mcpfx/schema/McpError"
import type * as Method from "@mcpfx/schema/Method"
import type * as Progress from "@mcpfx/schema/Progress"
import type { TransportError } from "@mcpfx/transport/TransportError"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { InvalidResponse, MethodUnsupported, RequestTimeout, SessionClosed } from "./SessionError.ts"

/**
 * Options of one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestOptions {
  /** How long to wait for the answer, moved by progress; 60 seconds by default (LIF-14). */
  readonly timeout?: Duration.Input | undefined
  /** How long progress may move the deadline at most; 10 minutes by default. */
  readonly maxTimeout?: Duration.Input | undefined
  /** Asks for progress and receives it, in order, until the answer. */
  readonly onProgress?: ((progress: Progress.Params) => Effect.Effect<void>) | undefined
  /** Members to add to `_meta`; reserved keys that the session sets win. */
  readonly meta?: JsonRpc.JsonObject | undefined
  /** Extra HTTP headers, such as `Mcp-Param-*`. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * Why a request has no result: the peer refused it (`PeerError`), it did not answer in time, its answer has the wrong
 * shape, the revision does not have the method, or the connection is gone.
 *
 * @category models
 * @since 0.1.0
 */
export type PeerFailure =
  | McpError.PeerError
  | RequestTimeout
  | InvalidResponse
  | MethodUnsupported
  | SessionClosed
  | TransportError

/**
 * Sends requests to the other side.
 *
 * @category models
 * @since 0.1.0
 */
export interface Asker {
  /**
   * Sends a request and waits for its result. Interruption and the deadline tell the peer with
   * `notifications/cancelled` (or by closing the stream on HTTP of 2026-07-28); the table entry never leaks.
   */
  readonly request: <Name extends string, Params, Result>(
    method: Method.RequestMethod<Name, Params, Result>,
    params: Params,
    options?: RequestOptions
  ) => Effect.Effect<Result, PeerFailure>
}

/**
 * Sends everything there is to send.
 *
 * @category models
 * @since 0.1.0
 */
export interface Peer extends Asker {
  /** A request of any name, its result unread. */
  readonly requestRaw: (
    method: string,
    params: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<JsonRpc.JsonObject, PeerFailure>
  readonly notify: <Name extends string, Params>(
    method: Method.NotificationMethod<Name, Params>,
    params: Params
  ) => Effect.Effect<void, SessionClosed | TransportError>
  /** A notification of any name. */
  readonly notifyRaw: (
    method: string,
    params: JsonRpc.JsonObject
  ) => Effect.Effect<void, SessionClosed | TransportError>
}

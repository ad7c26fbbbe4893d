/**
 * What can happen to a session and to the requests sent over it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Why a session ended.
 *
 * @category models
 * @since 0.1.0
 */
export const CloseReason = Schema.Literals(["closed", "terminated", "idle", "disconnected", "shutdown", "failed"])

/**
 * @category models
 * @since 0.1.0
 */
export type CloseReason = typeof CloseReason.Type

/**
 * The session is over; nothing more is sent or received.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionClosed extends Schema.TaggedError<SessionClosed>("@mcpfx/session/SessionClosed")("SessionClosed", {
  reason: CloseReason,
  detail: Schema.optionalKey(Schema.String)
}) {}

/**
 * The peer did not answer in time; it was told so.
 *
 * @category errors
 * @since 0.1.0
 */
export class RequestTimeout extends Schema.TaggedError<RequestTimeout>("@mcpfx/session/RequestTimeout")(
  "RequestTimeout",
  { method: Schema.String, millis: Schema.Finite }
) {}

/**
 * The peer's answer does not have the shape of its method on this revision.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidResponse extends Schema.TaggedError<InvalidResponse>("@mcpfx/session/InvalidResponse")(
  "InvalidResponse",
  { method: Schema.String, detail: Schema.String }
) {}

/**
 * There is no session of this id, or it belongs to somebody else: both answer alike.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionNotFound extends Schema.TaggedError<SessionNotFound>("@mcpfx/session/SessionNotFound")(
  "SessionNotFound",
  { sessionId: Schema.String }
) {}

/**
 * A limit of the directory is reached.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManySessions extends Schema.TaggedError<TooManySessions>("@mcpfx/session/TooManySessions")(
  "TooManySessions",
  { limit: Schema.Int, scope: Schema.Literals(["endpoint", "principal"]) }
) {}

/**
 * The revision in force does not have this method, or not in this direction. Nothing was sent.
 *
 * @category errors
 * @since 0.1.0
 */
export class MethodUnsupported extends Schema.TaggedError<MethodUnsupported>("@mcpfx/session/MethodUnsupported")(
  "MethodUnsupported",
  { method: Schema.String, revision: Schema.optionalKey(Schema.String) }
) {}

/**
 * The store of session records does not answer, or holds something that is no record.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionStoreUnavailable extends Schema.TaggedError<SessionStoreUnavailable>(
  "@mcpfx/session/SessionStoreUnavailable"
)("SessionStoreUnavailable", {
  operation: Schema.Literals(["load", "save", "remove"]),
  cause: Schema.Defect()
}) {}

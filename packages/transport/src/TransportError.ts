/**
 * What can go wrong between the bytes and the messages.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * The connection is over: the peer left, the process ended or the scope closed.
 *
 * @category errors
 * @since 0.1.0
 */
export class TransportClosed extends Schema.TaggedError<TransportClosed>("@mcpfx/transport/TransportClosed")(
  "TransportClosed",
  {
    reason: Schema.String,
    exitCode: Schema.optionalKey(Schema.Int),
    /** The end of what the process wrote to its standard error. */
    stderr: Schema.optionalKey(Schema.String),
    cause: Schema.optionalKey(Schema.Defect())
  }
) {}

/**
 * A message is larger than the limit of its direction.
 *
 * @category errors
 * @since 0.1.0
 */
export class MessageTooLarge extends Schema.TaggedError<MessageTooLarge>("@mcpfx/transport/MessageTooLarge")(
  "MessageTooLarge",
  { bytes: Schema.Int, limit: Schema.Int }
) {}

/**
 * The HTTP exchange ended without an answer, or with a status that is none.
 *
 * @category errors
 * @since 0.1.0
 */
export class HttpFailure extends Schema.TaggedError<HttpFailure>("@mcpfx/transport/HttpFailure")("HttpFailure", {
  status: Schema.optionalKey(Schema.Int),
  /**
   * The start of the body, or the reason there is none; never headers. With the address where there is no body, or where the
   * status says that it is the wrong one.
   */
  detail: Schema.String,
  wwwAuthenticate: Schema.optionalKey(Schema.String),
  retryAfter: Schema.optionalKey(Schema.String),
  /** A JSON-RPC error the body held without an id to answer. */
  error: Schema.optionalKey(Schema.Struct({
    code: Schema.Int,
    message: Schema.String,
    data: Schema.optionalKey(Schema.Unknown)
  })),
  /** Trying again changes nothing before somebody has acted, as by a login: what its cause says of itself. */
  final: Schema.optionalKey(Schema.Boolean),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/**
 * The server no longer knows the session (HTTP-39): initialize anew.
 *
 * @category errors
 * @since 0.1.0
 */
export class SessionLost extends Schema.TaggedError<SessionLost>("@mcpfx/transport/SessionLost")("SessionLost", {
  sessionId: Schema.String
}) {}

/**
 * The child process could not be started.
 *
 * @category errors
 * @since 0.1.0
 */
export class SpawnFailed extends Schema.TaggedError<SpawnFailed>("@mcpfx/transport/SpawnFailed")("SpawnFailed", {
  command: Schema.String,
  cause: Schema.Defect()
}) {}

/**
 * The event store did not do what it was asked to, or not in time.
 *
 * @category errors
 * @since 0.1.0
 */
export class EventStoreUnavailable
  extends Schema.TaggedError<EventStoreUnavailable>("@mcpfx/transport/EventStoreUnavailable")("EventStoreUnavailable", {
    operation: Schema.Literals(["append", "read", "end", "remove"]),
    cause: Schema.optionalKey(Schema.Defect())
  })
{}

/**
 * The event store keeps no more: the limit that was reached.
 *
 * @category errors
 * @since 0.1.0
 */
export class EventStoreFull extends Schema.TaggedError<EventStoreFull>("@mcpfx/transport/EventStoreFull")(
  "EventStoreFull",
  { limit: Schema.Literals(["eventBytes", "eventBytesPerSession"]) }
) {}

/**
 * @category errors
 * @since 0.1.0
 */
export const TransportError = Schema.Union([TransportClosed, MessageTooLarge, HttpFailure, SessionLost, SpawnFailed])

/**
 * @category errors
 * @since 0.1.0
 */
export type TransportError = typeof TransportError.Type

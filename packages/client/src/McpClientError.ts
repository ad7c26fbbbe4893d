/**
 * The one error of the client, with a tagged reason.
 *
 * `Effect.catchReason` (or a look at `reason._tag`) tells the cases apart; each reason carries the data a program can act
 * on. What the server said and what happened here are different reasons (RPC-23).
 *
 * @since 0.1.0
 */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as Codes from "@mcpfx/schema/Codes"
import * as Elicitation from "@mcpfx/schema/Elicitation"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Tool from "@mcpfx/schema/Tool"
import type { PeerFailure } from "@mcpfx/session/Peer"
import type { HttpFailure } from "@mcpfx/transport/TransportError"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const id = <Name extends string>(name: Name) => `@mcpfx/client/${name}` as const

/** The server answered with a JSON-RPC error. @category reasons @since 0.1.0 */
export class Refused extends Schema.TaggedError<Refused>(id("Refused"))("Refused", {
  code: Schema.Int,
  message: Schema.String,
  data: Schema.optionalKey(Schema.Unknown)
}) {}

/** No answer in time; the server was told to stop. @category reasons @since 0.1.0 */
export class TimedOut extends Schema.TaggedError<TimedOut>(id("TimedOut"))("TimedOut", { millis: Schema.Finite }) {}

/** The answer has not the shape of its method, or its content not that of its contract. @category reasons @since 0.1.0 */
export class BadAnswer extends Schema.TaggedError<BadAnswer>(id("BadAnswer"))("BadAnswer", { detail: Schema.String }) {}

/** The server, or the revision in force, does not offer this; nothing was sent. @category reasons @since 0.1.0 */
export class NotOffered extends Schema.TaggedError<NotOffered>(id("NotOffered"))("NotOffered", {
  what: Schema.String,
  revision: Schema.optionalKey(Schema.String)
}) {}

/** Client and server have no revision in common (LIF-04, VER-02). @category reasons @since 0.1.0 */
export class NoCommonRevision extends Schema.TaggedError<NoCommonRevision>(id("NoCommonRevision"))("NoCommonRevision", {
  offered: Schema.Array(Schema.String),
  supported: Schema.Array(Schema.String)
}) {}

/** The connection is gone, or could not be made. @category reasons @since 0.1.0 */
export class ConnectionLost extends Schema.TaggedError<ConnectionLost>(id("ConnectionLost"))("ConnectionLost", {
  detail: Schema.String,
  exitCode: Schema.optionalKey(Schema.Int),
  /** The end of what a server process wrote to its standard error. */
  stderr: Schema.optionalKey(Schema.String),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The server answered on the level of HTTP, or not at all: then there is no status. @category reasons @since 0.1.0 */
export class HttpRefused extends Schema.TaggedError<HttpRefused>(id("HttpRefused"))("HttpRefused", {
  status: Schema.optionalKey(Schema.Int),
  detail: Schema.String,
  wwwAuthenticate: Schema.optionalKey(Schema.String),
  retryAfter: Schema.optionalKey(Schema.String),
  /** Trying again changes nothing before somebody has acted, as by a login. */
  final: Schema.optionalKey(Schema.Boolean),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** The server has no resource of this URI, by whichever code it says so (RES-07). @category reasons @since 0.1.0 */
export class ResourceNotFound extends Schema.TaggedError<ResourceNotFound>(id("ResourceNotFound"))("ResourceNotFound", {
  uri: Schema.String
}) {}

/** A message is over a size limit. @category reasons @since 0.1.0 */
export class TooLarge extends Schema.TaggedError<TooLarge>(id("TooLarge"))("TooLarge", {
  bytes: Schema.Int,
  limit: Schema.Int
}) {}

/** A list has more pages or items than allowed, or its cursors go in a circle. @category reasons @since 0.1.0 */
export class PagesUnbounded extends Schema.TaggedError<PagesUnbounded>(id("PagesUnbounded"))("PagesUnbounded", {
  server: Schema.String,
  detail: Schema.String
}) {}

/** The tool's structured output does not fit the schema it is listed with (TOL-08). @category reasons @since 0.1.0 */
export class BadOutput extends Schema.TaggedError<BadOutput>(id("BadOutput"))("BadOutput", {
  tool: Schema.String,
  problems: Schema.Array(Schema.String)
}) {}

/** A typed call ended with `isError` and no failure of its contract. @category reasons @since 0.1.0 */
export class ToolFailed extends Schema.TaggedError<ToolFailed>(id("ToolFailed"))("ToolFailed", {
  tool: Schema.String,
  result: Tool.CallResult
}) {}

/** What a typed request was given does not encode; nothing was sent. @category reasons @since 0.1.0 */
export class BadInput extends Schema.TaggedError<BadInput>(id("BadInput"))("BadInput", { detail: Schema.String }) {}

/** The server needs input that this client has no handler for. @category reasons @since 0.1.0 */
export class InputNeeded extends Schema.TaggedError<InputNeeded>(id("InputNeeded"))("InputNeeded", {
  required: Capabilities.Client
}) {}

/**
 * The user rejected what the request asked of the client's model, and so the request is not sent again (SMP-09).
 *
 * @category reasons
 * @since 0.1.0
 */
export class InputRejected extends Schema.TaggedError<InputRejected>(id("InputRejected"))("InputRejected", {
  ask: Schema.String
}) {}

/** The handler of what the server asked for broke, or gave what does not fit. @category reasons @since 0.1.0 */
export class InputFailed extends Schema.TaggedError<InputFailed>(id("InputFailed"))("InputFailed", {
  ask: Schema.String,
  cause: Schema.Defect()
}) {}

/** A request came back with asks more often than allowed. @category reasons @since 0.1.0 */
export class TooManyRounds extends Schema.TaggedError<TooManyRounds>(id("TooManyRounds"))("TooManyRounds", {
  rounds: Schema.Int,
  /** The option that allows more. */
  option: Schema.Literal("maxRounds")
}) {}

/** The task was cancelled, by this client or somebody else. @category reasons @since 0.1.0 */
export class TaskCancelled extends Schema.TaggedError<TaskCancelled>(id("TaskCancelled"))("TaskCancelled", {
  taskId: Schema.String
}) {}

/** The user has to visit these pages before the request can be sent again (ELI-18). @category reasons @since 0.1.0 */
export class UrlElicitationRequired
  extends Schema.TaggedError<UrlElicitationRequired>(id("UrlElicitationRequired"))("UrlElicitationRequired", {
    elicitations: Schema.Array(Elicitation.UrlParams)
  })
{}

/**
 * @category reasons
 * @since 0.1.0
 */
export const Reason = Schema.Union([
  Refused,
  TimedOut,
  BadAnswer,
  NotOffered,
  NoCommonRevision,
  ConnectionLost,
  HttpRefused,
  ResourceNotFound,
  TooLarge,
  PagesUnbounded,
  BadOutput,
  ToolFailed,
  BadInput,
  InputNeeded,
  InputRejected,
  InputFailed,
  TooManyRounds,
  TaskCancelled,
  UrlElicitationRequired
])

/**
 * @category models
 * @since 0.1.0
 */
export type Reason = typeof Reason.Type

/**
 * A login leaves its own failure in the place of a 401, or another answer: one that came as far as here was not taken up by
 * any.
 */
const httpText = ({ cause, detail, final, status }: HttpRefused): string => {
  if (final === true) return detail
  const hint = status === 401 && cause === undefined ? " (no OAuthClient took this up)" : ""
  return `HTTP ${status ?? "failure"}: ${detail}${hint}`
}

const text = (reason: Reason): string => {
  switch (reason._tag) {
    case "Refused":
      return `the server refused: ${reason.message} (${reason.code})`
    case "TimedOut":
      return `no answer within ${reason.millis} ms`
    case "BadAnswer":
      return `the answer has the wrong shape: ${reason.detail}`
    case "NotOffered":
      return `${reason.what} is not offered${reason.revision === undefined ? "" : ` on ${reason.revision}`}`
    case "NoCommonRevision":
      return `no common revision: the server has ${reason.offered.join(", ")}, this client ${
        reason.supported.join(", ")
      }`
    case "ConnectionLost":
      return `the connection is gone: ${reason.detail}`
    case "HttpRefused":
      return httpText(reason)
    case "ResourceNotFound":
      return `there is no resource ${reason.uri}`
    case "TooLarge":
      return `a message of ${reason.bytes} bytes is over the limit of ${reason.limit}`
    case "PagesUnbounded":
      return `${reason.server}: ${reason.detail}`
    case "BadOutput":
      return `the output of ${reason.tool} does not fit its schema: ${reason.problems.join("; ")}`
    case "ToolFailed":
      return `the tool ${reason.tool} failed`
    case "BadInput":
      return `the input does not fit: ${reason.detail}`
    case "InputNeeded":
      return "the server needs input that this client cannot give"
    case "InputRejected":
      return `${reason.ask} was rejected by the user`
    case "InputFailed":
      return `the handler of ${reason.ask} failed`
    case "TaskCancelled":
      return "the task was cancelled"
    case "TooManyRounds":
      return `the server asked again after ${reason.rounds} rounds (${reason.option})`
    case "UrlElicitationRequired":
      return "the user has to visit a page first"
  }
}

/**
 * @category errors
 * @since 0.1.0
 */
export class McpClientError extends Schema.TaggedError<McpClientError>(id("McpClientError"))("McpClientError", {
  /** The method that was under way; absent while connecting. */
  method: Schema.optionalKey(Schema.String),
  reason: Reason
}) {
  override get message(): string {
    return this.method === undefined ? text(this.reason) : `${this.method}: ${text(this.reason)}`
  }
}

/**
 * A handler gave an answer that is none to what was asked: a fault of the program, which the server hears of as -32603. Says
 * what is wrong and where, never what the answer was.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnfitAnswer extends Schema.TaggedError<UnfitAnswer>(id("UnfitAnswer"))("UnfitAnswer", {
  /** What was asked. */
  method: Schema.String,
  problems: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `${this.method}: ${this.problems.join("; ")}`
  }
}

/** Whose statuses say more than any error in their body: who to ask for a token, how long to wait. */
const isForTransport = ({ retryAfter, status, wwwAuthenticate }: HttpFailure): boolean =>
  wwwAuthenticate !== undefined || retryAfter !== undefined || status === 401 || status === 403 || status === 429

const refusal = ({ code, data, message }: JsonRpc.WireError): Reason => {
  const wire = data === undefined ? { code, message } : { code, message, data }
  const known = code === Codes.urlElicitationRequired ? McpError.fromWire(wire) : undefined
  return known?._tag === "UrlElicitationRequired"
    ? new UrlElicitationRequired({ elicitations: known.elicitations })
    : new Refused(wire)
}

const httpReason = (failure: HttpFailure): Reason => {
  const { cause, detail, error, final, retryAfter, status, wwwAuthenticate } = failure
  if (error !== undefined && !isForTransport(failure)) return refusal(error)
  return new HttpRefused({
    detail,
    ...(status === undefined ? undefined : { status }),
    ...(wwwAuthenticate === undefined ? undefined : { wwwAuthenticate }),
    ...(retryAfter === undefined ? undefined : { retryAfter }),
    ...(final === undefined ? undefined : { final }),
    ...(cause === undefined ? undefined : { cause })
  })
}

/**
 * The reason for which a request over a session failed.
 *
 * @category conversions
 * @since 0.1.0
 */
export const reasonOf = (failure: PeerFailure): Reason => {
  switch (failure._tag) {
    case "PeerError":
      return refusal(failure)
    case "RequestTimeout":
      return new TimedOut({ millis: failure.millis })
    case "InvalidResponse":
      return new BadAnswer({ detail: failure.detail })
    case "MethodUnsupported":
      return new NotOffered({
        what: failure.method,
        ...(failure.revision === undefined ? undefined : { revision: failure.revision })
      })
    case "SessionClosed":
      return new ConnectionLost({ detail: failure.detail ?? `the session ended: ${failure.reason}` })
    case "SessionLost":
      return new ConnectionLost({ detail: "the server no longer knows the session" })
    case "TransportClosed":
      return new ConnectionLost({
        detail: failure.reason,
        ...(failure.exitCode === undefined ? undefined : { exitCode: failure.exitCode }),
        ...(failure.stderr === undefined ? undefined : { stderr: failure.stderr }),
        ...(failure.cause === undefined ? undefined : { cause: failure.cause })
      })
    case "SpawnFailed":
      return new ConnectionLost({ detail: `could not start ${failure.command}`, cause: failure.cause })
    case "MessageTooLarge":
      return new TooLarge({ bytes: failure.bytes, limit: failure.limit })
    case "HttpFailure":
      return httpReason(failure)
  }
}

/**
 * The client's view of a failed request; `method` names what was asked for.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromPeer = (failure: PeerFailure, method?: string): McpClientError => fail(reasonOf(failure), method)

/**
 * An error with this reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = (reason: Reason, method?: string): McpClientError =>
  new McpClientError(method === undefined ? { reason } : { method, reason })

/**
 * Turns the failures of a peer into the client's.
 *
 * @category combinators
 * @since 0.1.0
 */
export const mapPeer = (method?: string) => <A, R>(self: Effect.Effect<A, PeerFailure, R>) =>
  Effect.mapError(self, (failure) => fromPeer(failure, method))

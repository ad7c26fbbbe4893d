/**
 * The other side, as a sender of requests sees it.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as McpError from "@mcpfx/schema/McpError"
import type * as Method from "@mcpfx/schema/Method"
import type * as Progress from "@mcpfx/schema/Progress"
import type { RequestCodec, Revision, Sender as MethodSender } from "@mcpfx/schema/Revision"
import * as TraceContext from "@mcpfx/schema/TraceContext"
import type { Facts } from "@mcpfx/transport/Exchange"
import { TransportClosed, type TransportError } from "@mcpfx/transport/TransportError"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Tracer from "effect/Tracer"
import type { Read, Route } from "./internal/call.ts"
import type { Calls } from "./internal/calls.ts"
import { InvalidResponse, MethodUnsupported, type RequestTimeout, type SessionClosed } from "./SessionError.ts"
import type { Limits } from "./SessionLimits.ts"
import type { Listener } from "./Telemetry.ts"

/**
 * Options of one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestOptions {
  /**
   * How long to wait for the answer; 60 seconds by default (LIF-14). Progress moves it, and comes only with `onProgress`; so
   * does, on a client, what the server asks meanwhile, for as long as the answer to that takes.
   */
  readonly timeout?: Duration.Input | undefined
  /** How far from the sending progress may move the deadline; 10 minutes by default, or `timeout` if that is longer. */
  readonly maxTimeout?: Duration.Input | undefined
  /** Asks for progress and receives it, in order, until the answer. */
  readonly onProgress?: ((progress: Progress.Params) => Effect.Effect<void>) | undefined
  /** Called with the request's id before it is sent: listen streams are told apart by it (SUB-05). */
  readonly onSent?: ((id: JsonRpc.RequestId) => void) | undefined
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

/**
 * Whom requests are sent for.
 *
 * @internal
 */
export interface Sender {
  readonly role: "server" | "client"
  readonly calls: Calls
  readonly limits: Limits
  readonly listener: Listener | undefined
  readonly visibleId: string | undefined
  readonly transport: Facts["transport"] | undefined
  /** Members for the `_meta` of every request. */
  readonly envelope: JsonRpc.JsonObject | undefined
  /** Where to send to; `undefined` while nothing is open. */
  route(): Route | undefined
  /** The revision in force, or the one to open the conversation with this method. */
  revisionFor(method: string): Revision | undefined
}

/** Where one family of requests goes, and how long it may take. */
interface Way {
  readonly sender: Sender
  readonly route: () => Route | undefined
  /** In milliseconds, as is the other one. */
  readonly timeout: number
  readonly maxTimeout: number
}

const wayOf = (sender: Sender, route: Way["route"], timeout: Duration.Duration): Way => ({
  sender,
  route,
  timeout: Duration.toMillis(timeout),
  maxTimeout: Duration.toMillis(sender.limits.maxRequestTimeout)
})

/**
 * An asker over one route, with the patience of a human.
 *
 * @internal
 */
export const makeAsker = (sender: Sender, route: Route): Asker =>
  asker(wayOf(sender, () => route, sender.limits.askTimeout))

const asker = (way: Way): Asker => ({
  request: (method, params, request) =>
    exchange(way, method.name, request, (revision) => {
      const codec = revision?.request(method)
      return codec === undefined || !maySend(codec.sender, way.sender.role)
        ? undefined
        : { params: codec.encodeParams(params), read: (result) => decoded(codec, result) }
    })
})

/**
 * The other side, over whatever route is open.
 *
 * @internal
 */
export const make = (sender: Sender): Peer => {
  const way = wayOf(sender, () => sender.route(), sender.limits.requestTimeout)
  const notify = (method: string, params: JsonRpc.JsonObject): Effect.Effect<void, SessionClosed | TransportError> =>
    Effect.suspend(() => sender.calls.notify(sender.route() ?? nowhere, JsonRpc.notification(method, params)))
  return {
    ...asker(way),
    requestRaw: (method, params, request) => exchange(way, method, request, () => ({ params, read: Effect.succeed })),
    notifyRaw: notify,
    notify: (method, params) =>
      Effect.suspend(() => {
        const codec = sender.revisionFor(method.name)?.notification(method)
        // What the revision has no words for is not said.
        return codec === undefined || !maySend(codec.sender, sender.role)
          ? Effect.void
          : notify(method.name, codec.encodeParams(params))
      })
  }
}

const nowhere: Route = {
  send: () => Effect.fail(new TransportClosed({ reason: "no stream to the other side is open" }))
}

const maySend = (sender: MethodSender, role: "server" | "client"): boolean => sender === "both" || sender === role

const decoded = <Params, A>(
  codec: RequestCodec<Params, A>,
  result: JsonRpc.JsonObject
): Effect.Effect<A, InvalidResponse> => {
  const value = codec.decodeResult(result)
  return Result.isSuccess(value)
    ? Effect.succeed(value.success)
    : Effect.fail(new InvalidResponse({ method: codec.name, detail: value.failure.message() }))
}

/** A request as the revision in force writes it, and how its result is read. */
interface Written<A> {
  readonly params: JsonRpc.JsonObject
  readonly read: Read<A>
}

/** Sends, and lets telemetry see it where somebody listens. `write` gives `undefined` for what there is no word for. */
const exchange = <A>(
  way: Way,
  method: string,
  request: RequestOptions | undefined,
  write: (revision: Revision | undefined) => Written<A> | undefined
): Effect.Effect<A, PeerFailure> => {
  const { listener, transport, visibleId } = way.sender
  if (listener === undefined) {
    return Effect.callback((resume) => {
      const revision = way.sender.revisionFor(method)
      const written = write(revision)
      if (written !== undefined) return send(way, method, written, request, resume)
      resume(Effect.fail(unsupported(method, revision)))
      return undefined
    })
  }
  return Effect.suspend(() => {
    const revision = way.sender.revisionFor(method)
    const written = write(revision)
    return written === undefined ? Effect.fail(unsupported(method, revision)) : listener.call(
      Effect.callback<A, PeerFailure>((resume) => send(way, method, written, request, resume)),
      { method, params: written.params, id: undefined, revision, sessionId: visibleId, transport }
    )
  })
}

const unsupported = (method: string, revision: Revision | undefined): MethodUnsupported =>
  new MethodUnsupported(revision === undefined ? { method } : { method, revision: revision.version })

/** Sends for the fiber that runs. */
const send = <A>(
  way: Way,
  method: string,
  { params, read }: Written<A>,
  request: RequestOptions | undefined,
  resume: (answer: Effect.Effect<A, PeerFailure>) => void
): Effect.Effect<void> | undefined => {
  const { calls, envelope } = way.sender
  const fiber = Fiber.getCurrent()
  const timeout = request?.timeout === undefined ? way.timeout : Duration.toMillis(request.timeout)
  const plan = {
    method,
    params,
    meta: metaOf(request?.meta, envelope, fiber?.cache.span),
    route: way.route() ?? nowhere,
    send: request?.headers === undefined ? undefined : { headers: request.headers },
    timeout,
    maxTimeout: request?.maxTimeout === undefined
      ? Math.max(timeout, way.maxTimeout)
      : Duration.toMillis(request.maxTimeout),
    onProgress: request?.onProgress,
    onSent: request?.onSent
  }
  return calls.request(plan, fiber?.context ?? Context.empty(), read, resume)
}

/** The caller's members, then what every request carries, then the trace that is current. */
const metaOf = (
  meta: JsonRpc.JsonObject | undefined,
  envelope: JsonRpc.JsonObject | undefined,
  span: Tracer.AnySpan | undefined
): JsonRpc.JsonObject | undefined => {
  const trace = span === undefined ? undefined : traceMeta(span)
  if (trace === undefined && (meta === undefined || envelope === undefined)) return meta ?? envelope
  return { ...meta, ...envelope, ...trace }
}

/** Tracers may number spans as they like; only W3C numbers are passed on (META-15). */
const traceMeta = (span: Tracer.AnySpan): JsonRpc.JsonObject | undefined => {
  const { sampled, spanId, traceId } = span
  const meta = TraceContext.toMeta({ traceId: traceId.padStart(32, "0"), spanId, sampled })
  return TraceContext.parseParent(meta["traceparent"]) === undefined ? undefined : meta
}

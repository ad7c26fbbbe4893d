/**
 * The Streamable HTTP transport, server side: one path of an `HttpRouter`, from request to endpoint and back.
 *
 * A request passes the guard, is read within its bounds, parsed once, classified and handed to the `Endpoint`. The answer
 * comes back as JSON, or as an event stream when something comes before it. Bounds are those of `Limits`.
 *
 * @since 0.1.0
 */
import { versions } from "@mcpfx/schema/Revision"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Classify from "./Classify.ts"
import { Endpoint } from "./Endpoint.ts"
import { EventStore } from "./EventStore.ts"
import * as Guard from "./Guard.ts"
import { EventStreams } from "./internal/eventStreams.ts"
import { isModern } from "./internal/facts.ts"
import type { App } from "./internal/front.ts"
import * as Front from "./internal/front.ts"
import { Budget } from "./internal/gather.ts"
import { KeepAlive } from "./internal/keepAlive.ts"
import { Post } from "./internal/post.ts"
import { type Reply, unavailableResponse } from "./internal/respond.ts"
import { Resumption, type ResumptionOptions } from "./internal/resumption.ts"
import { SessionRoutes } from "./internal/sessionRoutes.ts"
import { Limits } from "./Limits.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends Guard.Options {
  /** Where the endpoint lives; also served with a slash at its end. Default `/mcp`. */
  readonly path?: `/${string}` | undefined
  /** The versions the endpoint speaks, which refusals list. Default all of the protocol. */
  readonly supportedVersions?: ReadonlyArray<string> | undefined
  /**
   * Runs around everything behind the guard, before a body is read: the place for authentication. What it answers by
   * itself, such as a 401, gets the CORS headers too; it sees no preflights.
   */
  readonly middleware?: ((app: App) => App) | undefined
  /** How long a body of more than 64 KiB may take to arrive. Default 60 seconds; then 408. */
  readonly bodyTimeout?: Duration.Input | undefined
}

/**
 * A Streamable HTTP endpoint as an effect of one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpEndpoint {
  /** Answers one request, whatever its path. */
  readonly app: App
  /**
   * Ends the streams that answer no request (GET) and takes nothing in any more: whatever comes gets a 503. Requests in
   * flight go on, until the scope of the endpoint closes.
   */
  readonly drain: Effect.Effect<void>
}

const allow = "POST, GET, DELETE, OPTIONS"

/** What keeps streams, where there is a store and the endpoint knows who may resume. */
const resumable = (
  endpoint: Endpoint["Service"],
  limits: Limits,
  settings: Pick<ResumptionOptions, "outbox" | "maxBytes">
): Effect.Effect<{ readonly streams?: EventStreams; readonly resumption?: Resumption }> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const store = Context.getOption(context, EventStore)
    const { verify } = endpoint
    if (Option.isNone(store) || verify === undefined) return Effect.succeed({})
    const streams = new EventStreams(store.value, limits, context)
    return Effect.succeed({ streams, resumption: new Resumption({ endpoint, verify, streams, ...settings }) })
  })

/**
 * Makes an endpoint that lives as long as the scope; when that closes its streams end and what waits for an answer gets a
 * 503.
 *
 * - Refused before anything is read: a foreign `Host` or `Origin` (403), other media types than JSON (415), an `Accept`
 *   with neither JSON nor event streams (406), bodies past `Limits.httpBodyIn` (413) or while `Limits.bufferedBodies` are
 *   held (503).
 * - A request is answered in JSON when its answer comes first. Something before it, or `Limits.streamAfter` of silence,
 *   makes the answer an event stream, if the client takes one.
 * - With an `EventStore` in the context the streams of sessions can be resumed (HTTP-33): a client that went away gets the
 *   rest when it comes back, and the handler never waits for it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Effect.Effect<HttpEndpoint, never, Endpoint | Scope.Scope> =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint
    const limits = yield* Limits
    yield* Guard.announce(options)
    const guard = Guard.make(options)
    const classifier = Classify.make(options.supportedVersions ?? versions)
    const keepAlive = new KeepAlive(yield* Effect.context<never>(), limits.keepAlive)
    const outbox = {
      messages: limits.outgoingMessages,
      size: limits.outgoingBytes,
      keepAlive,
      deadReader: limits.deadReader
    }
    const replies = new Set<Reply>()
    const reply = { outbox, maxBytes: limits.httpMessageOut, streamAfter: limits.streamAfter }
    const budget = new Budget(limits.bufferedBodies)
    const body = { maxBytes: limits.httpBodyIn, budget, timeout: options.bodyTimeout ?? "60 seconds" }
    const maxBytes = limits.httpMessageOut
    const { resumption, streams } = yield* resumable(endpoint, limits, { outbox, maxBytes })
    const post = new Post({ endpoint, limits, classifier, body, reply, open: replies, streams })
    const sessions = new SessionRoutes({ endpoint, classifier, outbox, maxBytes, resumption })
    let draining = false

    const drain = Effect.sync(() => {
      draining = true
      sessions.end()
    })
    yield* Effect.addFinalizer(() =>
      Effect.all([
        drain,
        Effect.sync(() => {
          for (const reply of replies) reply.shutdown()
        }),
        streams === undefined ? Effect.void : streams.close,
        Effect.sync(() => keepAlive.close())
      ], { discard: true })
    )

    const serve = (request: Front.Request, fiber: Fiber.Fiber<unknown, unknown>): Front.Response => {
      if (draining) return Effect.succeed(unavailableResponse(isModern(request.headers), "The server is shutting down"))
      switch (request.method) {
        case "POST":
          return post.serve(request, fiber)
        case "GET":
          return sessions.get(request, fiber)
        case "DELETE":
          return sessions.delete(request, fiber)
        default:
          return Effect.succeed(Front.notAllowed(allow))
      }
    }
    const app = Front.behind({ guard, allow, middleware: options.middleware }, serve)
    return { app, drain }
  })

/**
 * Adds an endpoint to a router, at `path` with and without a slash at its end, for all methods.
 *
 * @category layers
 * @since 0.1.0
 */
export const route = (
  endpoint: HttpEndpoint,
  path: `/${string}` = "/mcp"
): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.use((router) => Front.addPath(router, path, endpoint.app))

/**
 * {@link make} and {@link route} in one: the `Endpoint` as a path of the user's own application.
 *
 * **Example** (An endpoint that knows `ping`, as a fetch handler)
 *
 * ```ts
 * import { JsonRpc } from "@mcpfx/schema"
 * import { Endpoint, StreamableHttpServer } from "@mcpfx/transport"
 * import { Effect, Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const endpoint = Layer.succeed(Endpoint.Endpoint, {
 *   handle: ({ message, outlet }) => {
 *     if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, {}))
 *     return Effect.succeed({})
 *   },
 *   admitBatch: () => Effect.void,
 *   attach: () => Effect.void,
 *   terminate: () => Effect.void
 * })
 * const { handler } = HttpRouter.toWebHandler(Layer.provide(StreamableHttpServer.routes(), endpoint))
 * const response = await handler(
 *   new Request("http://localhost/mcp", {
 *     method: "POST",
 *     headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
 *     body: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
 *   })
 * )
 * await response.text() // => "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const routes = (options: Options = {}): Layer.Layer<never, never, HttpRouter.HttpRouter | Endpoint> =>
  Layer.unwrap(Effect.map(make(options), (endpoint) => route(endpoint, options.path)))

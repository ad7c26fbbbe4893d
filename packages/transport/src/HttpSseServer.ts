/**
 * The HTTP+SSE transport of 2024-11-05, server side, for clients that know no other: a GET opens the stream, whose first
 * event names where to POST, and whatever is answered comes on the stream (SSE-01, SSE-02).
 *
 * A stream is a connection with a session of its own: it ends with the stream. Bounds are those of `Limits`. Everything
 * newer than such a client is better off with Streamable HTTP beside it (SSE-05, SSE-08).
 *
 * @since 0.1.0
 */
import { versions } from "@mcpfx/schema/Revision"
import { SecureRandom } from "effect/crypto/SecureRandom"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { eraOf } from "./Classify.ts"
import { Endpoint } from "./Endpoint.ts"
import * as Guard from "./Guard.ts"
import type { App } from "./internal/front.ts"
import * as Front from "./internal/front.ts"
import { Budget } from "./internal/gather.ts"
import { KeepAlive } from "./internal/keepAlive.ts"
import { SseMessages } from "./internal/sseMessages.ts"
import { SseStreams, withoutSlash } from "./internal/sseStreams.ts"
import { Limits } from "./Limits.ts"

/**
 * Where the two endpoints are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Paths {
  /** Where a client opens its stream. Default `/sse`. */
  readonly path?: `/${string}` | undefined
  /** Where a client posts its messages. Default `/messages`. */
  readonly messages?: `/${string}` | undefined
  /**
   * What clients are told to post to, where a proxy in front changes paths: `"messages"` beside the stream, whatever is
   * before it, or `"/api/messages"`. By default the path of `messages`, with the prefix of the router it is mounted in.
   * The id of the stream is added to it.
   */
  readonly endpoint?: string | undefined
}

/**
 * What {@link make} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends Guard.Options, Paths {
  /** The versions the endpoint speaks; those without sessions are not served here. Default all of the protocol. */
  readonly supportedVersions?: ReadonlyArray<string> | undefined
  /** Runs around everything behind the guard, on both paths: the place for authentication. It sees no preflights. */
  readonly middleware?: ((app: App) => App) | undefined
  /** How long a body of more than 64 KiB may take to arrive. Default 60 seconds; then 408. */
  readonly bodyTimeout?: Duration.Input | undefined
}

/**
 * Both endpoints, each as an effect of one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpSse {
  /** Answers a GET with a stream, whatever its path. */
  readonly stream: App
  /** Answers a POST of a message, whatever its path. */
  readonly messages: App
  /** Opens no more streams (503), and ends each one that is open as soon as its requests are answered. */
  readonly drain: Effect.Effect<void>
}

const defaultPath = "/sse"
const defaultMessages = "/messages"
const allowStream = "GET, OPTIONS"
const allowMessages = "POST, OPTIONS"

/**
 * Makes both endpoints; they live as long as the scope, whose end ends the streams.
 *
 * - A stream is refused where `Limits.sseStreams` are open, or as many of one principal as `sseStreamsPerPrincipal` (503).
 * - A message is refused with 404 where its stream is not open or somebody else's, with 415, 413, 408 or 503 where its body
 *   does not do, and with 400 where it is no message or one of a revision without this transport. Everything else gets 202,
 *   and its answer on the stream.
 * - A client that does not read its stream is not read from either; after `Limits.deadReader` the stream is cut.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Options = {}
): Effect.Effect<HttpSse, never, Endpoint | SecureRandom | Scope.Scope> =>
  Effect.gen(function*() {
    const endpoint = yield* Endpoint
    const limits = yield* Limits
    const context = yield* Effect.context<never>()
    const keepAlive = new KeepAlive(context, limits.keepAlive)
    const outbox = {
      messages: limits.outgoingMessages,
      size: limits.outgoingBytes,
      keepAlive,
      deadReader: limits.deadReader
    }
    const streams = new SseStreams({
      connection: { endpoint, outbox, maxBytes: limits.httpMessageOut, context },
      random: yield* SecureRandom,
      path: withoutSlash(options.path ?? defaultPath),
      messages: options.messages ?? defaultMessages,
      endpoint: options.endpoint,
      maxStreams: limits.sseStreams,
      maxStreamsPerPrincipal: limits.sseStreamsPerPrincipal
    })
    const messages = new SseMessages({
      endpoint,
      limits,
      body: {
        maxBytes: limits.httpBodyIn,
        budget: new Budget(limits.bufferedBodies),
        timeout: options.bodyTimeout ?? "60 seconds"
      },
      supported: (options.supportedVersions ?? versions).filter((version) => eraOf(version) === "legacy"),
      find: streams.find
    })
    yield* Effect.addFinalizer(() =>
      Effect.sync(() => {
        streams.end()
        keepAlive.close()
      })
    )
    yield* Guard.announce(options)
    const front = { guard: Guard.make(options), middleware: options.middleware }
    return {
      stream: Front.behind({ ...front, allow: allowStream }, (request, fiber) =>
        request.method === "GET" ? streams.serve(request, fiber) : Effect.succeed(Front.notAllowed(allowStream))),
      messages: Front.behind({ ...front, allow: allowMessages }, (request, fiber) =>
        request.method === "POST" ? messages.serve(request, fiber) : Effect.succeed(Front.notAllowed(allowMessages))),
      drain: Effect.sync(() =>
        streams.drain()
      )
    }
  })

/**
 * Adds both endpoints to a router, each with and without a slash at its end, for all methods.
 *
 * @category layers
 * @since 0.1.0
 */
export const route = (server: HttpSse, paths: Paths = {}): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.use((router) =>
    Effect.andThen(
      Front.addPath(router, paths.path ?? defaultPath, server.stream),
      Front.addPath(router, paths.messages ?? defaultMessages, server.messages)
    )
  )

/**
 * {@link make} and {@link route} in one: the `Endpoint` as two paths of the user's own application.
 *
 * **Example** (A stream, as a fetch handler)
 *
 * ```ts
 * import { Endpoint, HttpSseServer } from "@mcpfx/transport"
 * import { Effect, Layer } from "effect"
 * import { SecureRandom } from "effect/crypto"
 * import { HttpRouter } from "effect/http"
 *
 * const endpoint = Layer.succeed(Endpoint.Endpoint, {
 *   handle: () => Effect.succeed({}),
 *   admitBatch: () => Effect.void,
 *   attach: () => Effect.void,
 *   terminate: () => Effect.void
 * })
 * const routes = Layer.provide(HttpSseServer.routes(), [endpoint, SecureRandom.layerWebCrypto])
 * const { dispose, handler } = HttpRouter.toWebHandler(routes)
 * const response = await handler(new Request("http://localhost/sse"))
 * response.headers.get("content-type") // => "text/event-stream"
 * await dispose()
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const routes = (
  options: Options = {}
): Layer.Layer<never, never, HttpRouter.HttpRouter | Endpoint | SecureRandom> =>
  Layer.unwrap(Effect.map(make(options), (server) => route(server, options)))

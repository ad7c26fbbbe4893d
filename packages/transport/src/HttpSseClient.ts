/**
 * The HTTP+SSE transport of 2024-11-05, client side, for servers that have no other: a GET opens the stream, which says
 * first where to POST, and whatever is answered comes on it (SSE-02).
 *
 * `McpClient.layerHttp` finds such servers by itself. Use this transport where it is known that a server is one.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import { ClientTransport } from "./ClientTransport.ts"
import { addressOf, headersOf, unreachable } from "./internal/clientCall.ts"
import { SseClient } from "./internal/sseClient.ts"
import { Limits } from "./Limits.ts"

/**
 * What {@link make} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Where the server's stream is; its path is used as it is. */
  readonly url: string | URL
  /** Headers for every request, those of the stream and those of the messages; an effect is run for each request. */
  readonly headers?: Headers.Input | Effect.Effect<Headers.Input> | undefined
  /** How long the server may take to say where to post. Default 10 seconds. */
  readonly endpointTimeout?: Duration.Input | undefined
}

/**
 * A transport to one server. `connect` opens the stream and waits until the server has said where to post.
 *
 * - Messages go to the origin of `url` alone: a server that wants them elsewhere, or redirects there, is refused and nothing
 *   is sent.
 * - `send` succeeds when the server has taken the message. One that says 404 has forgotten the session.
 * - The end of the stream is the end of the connection, with a reason, and the end of the session on the server.
 * - An answer over `Limits.clientMessageIn` fails its request alone.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<ClientTransport["Service"], never, HttpClient.HttpClient> =>
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const context = yield* Effect.context<never>()
    const limits = yield* Limits
    const url = Result.try(() => new URL(options.url))
    const headers = headersOf(options.headers)
    const endpointTimeout = Duration.fromInputUnsafe(options.endpointTimeout ?? "10 seconds")

    const connect: ClientTransport["Service"]["connect"] = Effect.fnUntraced(function*(endpoint) {
      if (Result.isFailure(url)) return yield* unreachable(options.url)
      const parts = { client, url: url.success, headers, endpoint, limits, endpointTimeout, context }
      const connection = yield* Effect.acquireRelease(
        Effect.sync(() => new SseClient(parts)),
        (connection) => connection.shutdown
      )
      // A stream that names no endpoint is not kept open until the scope ends.
      yield* Effect.onExit(connection.open, (exit) => Exit.isFailure(exit) ? connection.shutdown : Effect.void)
      return connection.link
    })
    return {
      kind: "http",
      era: "legacy",
      target: Result.isSuccess(url) ? addressOf(url.success) : String(options.url),
      connect
    }
  })

/**
 * {@link make} as a layer.
 *
 * **Example** (A server that is known to be old)
 *
 * ```ts
 * import { HttpSseClient } from "@mcpfx/transport"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const transport = HttpSseClient.layer({ url: "https://example.com/sse" }).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<ClientTransport, never, HttpClient.HttpClient> =>
  Layer.effect(ClientTransport, make(options))

/**
 * The Streamable HTTP transport, client side, on Effect's `HttpClient`.
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
import * as Scope from "effect/Scope"
import { ClientTransport } from "./ClientTransport.ts"
import type { Endpoint } from "./Endpoint.ts"
import { addressOf, Caller, headersOf, unreachable } from "./internal/clientCall.ts"
import { ClientConnection } from "./internal/clientConnection.ts"
import { Limits } from "./Limits.ts"
import { TransportClosed } from "./TransportError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The server's endpoint; its path is used as it is. */
  readonly url: string | URL
  /**
   * Headers for every request, as a record, as pairs or as a web `Headers`; an effect is run for each request. They never
   * take the place of what the protocol needs: `Accept`, `Content-Type` and the `Mcp-*` headers stay the transport's own.
   */
  readonly headers?: Headers.Input | Effect.Effect<Headers.Input> | undefined
  /** When streams that end are opened again. */
  readonly reconnect?: {
    /** Connections in a row without anything new on them; 0 opens nothing again. Default 10. */
    readonly maxRetries?: number | undefined
    /** The wait before the first, which doubles each time; what the server asks for goes first. Default 1 second. */
    readonly minDelay?: Duration.Input | undefined
    /** The longest wait; a stream that lived that long starts the count anew. Default 30 seconds. */
    readonly maxDelay?: Duration.Input | undefined
    /**
     * How long a request whose stream the server closes again and again is asked after while nothing comes; then it fails.
     * Default 10 minutes.
     */
    readonly pollFor?: Duration.Input | undefined
  } | undefined
  /** How long the end of the connection waits for the server to end the session. Default 5 seconds. */
  readonly closeTimeout?: Duration.Input | undefined
}

const reconnectOf = (options: Options["reconnect"]) => ({
  maxRetries: options?.maxRetries ?? 10,
  minDelay: Duration.fromInputUnsafe(options?.minDelay ?? "1 second"),
  maxDelay: Duration.fromInputUnsafe(options?.maxDelay ?? "30 seconds"),
  pollFor: Duration.fromInputUnsafe(options?.pollFor ?? "10 minutes")
})

/**
 * A transport to one server. Every `connect` is a connection of its own; nothing is sent before its first message.
 *
 * - A message is one POST; `send` succeeds when its answer has been handed over. Nothing is ever sent twice.
 * - Redirects are followed to the same origin only, with method and body (307, 308).
 * - Once a revision with sessions is agreed and the server has taken a message of it, the stream of the session is kept
 *   open in the background, and the session is ended with the scope.
 *
 * With `FetchHttpClient` the transport sets `redirect` of `FetchHttpClient.RequestInit`; what else that service holds stays.
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
    const reconnect = reconnectOf(options.reconnect)
    const closeTimeout = options.closeTimeout ?? "5 seconds"

    const open = (url: URL, endpoint: Endpoint["Service"]) => {
      const owner = Scope.makeUnsafe("parallel")
      const fibers = Scope.makeUnsafe("parallel")
      const caller = new Caller({ client, url, headers, owner, context })
      const connection = new ClientConnection({ caller, endpoint, limits, reconnect, fibers, context })
      const close = Effect.gen(function*() {
        connection.close(new TransportClosed({ reason: "The connection was closed" }))
        yield* connection.stop
        yield* Effect.timeoutOption(connection.terminate, closeTimeout)
        yield* Scope.close(owner, Exit.void)
      })
      return { link: connection.link, close }
    }

    return {
      kind: "http",
      target: Result.isSuccess(url) ? addressOf(url.success) : String(options.url),
      connect: (endpoint) =>
        Result.isFailure(url)
          ? Effect.fail(unreachable(options.url))
          : Effect.map(
            Effect.acquireRelease(Effect.sync(() => open(url.success, endpoint)), ({ close }) => close),
            ({ link }) => link
          )
    }
  })

/**
 * {@link make} as a layer.
 *
 * **Example** (A transport with a header of its own)
 *
 * ```ts
 * import { StreamableHttpClient } from "@mcpfx/transport"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const transport = StreamableHttpClient.layer({
 *   url: "https://example.com/mcp",
 *   headers: { "x-api-key": "k" }
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<ClientTransport, never, HttpClient.HttpClient> =>
  Layer.effect(ClientTransport, make(options))

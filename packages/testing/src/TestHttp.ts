/**
 * A server over HTTP without a port: web requests in, web responses out, under the clock of the test.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as McpServer from "@mcpfx/server/McpServer"
import type { InvalidOptions } from "@mcpfx/server/ServerError"
import type { ClientTransport } from "@mcpfx/transport/ClientTransport"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as Sse from "@mcpfx/transport/Sse"
import * as StreamableHttpClient from "@mcpfx/transport/StreamableHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { Unexpected } from "./TestError.ts"

/**
 * What came back for one request.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reply {
  readonly status: number
  /** A header, or `undefined`; the case of its name does not matter. */
  readonly header: (name: string) => string | undefined
  /** The whole body. */
  readonly text: Effect.Effect<string>
  /** The one message that the body is. */
  readonly message: Effect.Effect<JsonRpc.Message, Unexpected>
  /** The events of the body as they come; leaving the stream is leaving the server. */
  readonly events: Stream.Stream<Sse.Event>
  /** The messages of the body, whether it is JSON or an event stream. */
  readonly messages: Stream.Stream<JsonRpc.Message, Unexpected>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface TestHttp {
  readonly url: string
  /** Reaches the server, and nothing else. */
  readonly client: HttpClient.HttpClient
  /** A transport for a client or a `TestPeer`. */
  readonly transport: (
    options?: Partial<StreamableHttpClient.Options>
  ) => Effect.Effect<ClientTransport["Service"]>
  /** Sends a request as it is. Interruption while it waits aborts it. */
  readonly send: (request: Request) => Effect.Effect<Reply>
  /** Posts a message, or a text that is none, with the headers that clients have to send and those given. */
  readonly post: (
    body: JsonRpc.Outgoing | string,
    headers?: Readonly<Record<string, string>>
  ) => Effect.Effect<Reply>
  /** Asks for the stream of a session. */
  readonly get: (headers?: Readonly<Record<string, string>>) => Effect.Effect<Reply>
  /** Ends a session. */
  readonly delete: (headers?: Readonly<Record<string, string>>) => Effect.Effect<Reply>
}

const url = "http://localhost/mcp"

/** Bytes of the longest event that is read. */
const maxEvent = 32 * 1024 * 1024

/**
 * An HTTP client whose server is a function: a mock of any server, good or bad.
 *
 * **Example** (A server that is down)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { TestHttp } from "@mcpfx/testing"
 * import { Effect, Layer } from "effect"
 * import { HttpClient } from "effect/http"
 *
 * const down = TestHttp.clientOf(() => new Response("maintenance", { status: 503 }))
 * const Live = McpClient.layerHttp({ url: "https://example.com/mcp" }).pipe(
 *   Layer.provide(Layer.succeed(HttpClient.HttpClient, down))
 * )
 * const error = Effect.flip(Effect.scoped(Layer.build(Live)))
 * Effect.map(error, ({ message }) => message)
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const clientOf = (
  handler: (request: Request) => Response | Promise<Response> | Effect.Effect<Response>
): HttpClient.HttpClient =>
  HttpClient.make((request, _, signal) => {
    const failed = (cause: unknown) =>
      new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
    const web = HttpClientRequest.toWebResult(request, { signal })
    if (Result.isFailure(web)) return Effect.fail(failed(web.failure))
    return Effect.try({ try: () => handler(web.success), catch: failed }).pipe(
      Effect.flatMap((response): Effect.Effect<Response, HttpClientError.HttpClientError> =>
        Effect.isEffect(response)
          ? response
          : Effect.tryPromise({ try: () => Promise.resolve(response), catch: failed })
      ),
      Effect.map((response) => HttpClientResponse.fromWeb(request, response))
    )
  })

/**
 * Serves `registrations` over HTTP, without a port, while the scope is open.
 *
 * **Example** (A look at the raw answer)
 *
 * ```ts
 * import { JsonRpc } from "@mcpfx/schema"
 * import { TestHttp, TestPeer } from "@mcpfx/testing"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const http = yield* TestHttp.make(Layer.empty)
 *   const reply = yield* http.post(JsonRpc.request(1, "server/discover", TestPeer.modern()))
 *   return reply.status
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => 200
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: Partial<McpServer.HttpOptions> = {}
): Effect.Effect<
  TestHttp,
  E | InvalidOptions,
  Exclude<Exclude<R, McpServer.Provided>, HttpRouter.HttpRouter> | Scope.Scope
> =>
  Effect.gen(function*() {
    const served = McpServer.layerHttp(registrations, { name: "test", version: "0.0.0", ...options, path: "/mcp" })
    const built = yield* Layer.build(Layer.provideMerge(served, HttpRouter.layer))
    const context = yield* Effect.context<never>()
    const app = Effect.orDie(Context.get(built, HttpRouter.HttpRouter).asHttpEffect())
    return of(HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(app))
  })

const of = (handler: (request: Request) => Promise<Response>): TestHttp => {
  const client = clientOf(handler)
  const send: TestHttp["send"] = (request) =>
    Effect.map(Effect.promise((signal) => handler(new Request(request, { signal }))), replyOf)
  const common = { host: new URL(url).host }
  return {
    url,
    client,
    send,
    transport: (options) =>
      Effect.provideService(StreamableHttpClient.make({ url, ...options }), HttpClient.HttpClient, client),
    post: (body, headers) =>
      send(
        new Request(url, {
          method: "POST",
          headers: {
            ...common,
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            ...(typeof body === "string" ? undefined : modernHeaders(body)),
            ...headers
          },
          body: typeof body === "string" ? body : JsonRpc.stringify(body)
        })
      ),
    get: (headers) => send(new Request(url, { headers: { ...common, accept: "text/event-stream", ...headers } })),
    delete: (headers) => send(new Request(url, { method: "DELETE", headers: { ...common, ...headers } }))
  }
}

/** What clients of 2026-07-28 repeat of a message in its headers. */
const modernHeaders = (message: JsonRpc.Outgoing): Readonly<Record<string, string>> => {
  if (!("method" in message)) return {}
  const meta = message.params?.["_meta"]
  const version = JsonRpc.isJsonObject(meta) ? meta[MetaKey.protocolVersion] : undefined
  return typeof version === "string" ? McpHeaders.mirror(message, version) : {}
}

const replyOf = (response: Response): Reply => {
  const text = Effect.promise(() => response.text())
  const events = eventsOf(response)
  const message = Effect.flatMap(text, read)
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
  return {
    status: response.status,
    header: (name) => response.headers.get(name) ?? undefined,
    text,
    message,
    events,
    messages: isStream
      ? events.pipe(Stream.filter(({ data }) => data !== ""), Stream.mapEffect(({ data }) => read(data)))
      : Stream.fromEffect(message)
  }
}

const read = (text: string): Effect.Effect<JsonRpc.Message, Unexpected> => {
  const parsed = Result.flatMap(Result.try((): unknown => JSON.parse(text)), JsonRpc.parse)
  return Result.isSuccess(parsed)
    ? Effect.succeed(parsed.success)
    : Effect.fail(new Unexpected({ wanted: "a message", got: [text] }))
}

const eventsOf = (response: Response): Stream.Stream<Sse.Event> =>
  Stream.suspend(() => {
    const { body } = response
    if (body === null) return Stream.empty
    let events: Array<Sse.Event> = []
    const parser = new Sse.Parser({
      maxBytes: maxEvent,
      onEvent: (event) => events.push(event),
      onTooLarge: () => {}
    })
    return Stream.fromReadableStream({ evaluate: () => body, onError: (cause) => cause }).pipe(
      Stream.orDie,
      Stream.flatMap((chunk) => {
        parser.push(chunk)
        const complete = events
        events = []
        return Stream.fromIterable(complete)
      })
    )
  })

import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Queue } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import type { Exchange } from "../../src/Exchange.ts"
import type { Agreement, Link } from "../../src/Link.ts"
import * as StreamableHttpClient from "../../src/StreamableHttpClient.ts"
import { admitted, scripted, type Service } from "./http.ts"

/** A request as the server saw it. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: unknown
  readonly signal: AbortSignal
}

export type Respond = (seen: Seen) => Response | Effect.Effect<Response, Error>

const bodyOf = (request: HttpClientRequest.HttpClientRequest): unknown =>
  request.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(request.body.body)) : undefined

/** An HTTP client whose server is a function. */
export const clientOf = (respond: Respond) => {
  const seen: Array<Seen> = []
  const client = HttpClient.make((request, url, signal) => {
    const one = {
      method: request.method,
      url: url.href,
      headers: { ...request.headers },
      body: bodyOf(request),
      signal
    }
    seen.push(one)
    const response = respond(one)
    return (Effect.isEffect(response) ? response : Effect.succeed(response)).pipe(
      Effect.mapError((cause) =>
        new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      ),
      Effect.map((web) => HttpClientResponse.fromWeb(request, web))
    )
  })
  return { client, seen }
}

export const url = "https://example.com/mcp"

/** A connection to a server that is a function, and what the client's endpoint got. */
export const connect = Effect.fnUntraced(function*(
  respond: Respond,
  options: Partial<StreamableHttpClient.Options> = {},
  overrides: Partial<Service> = {}
) {
  const { client, seen } = clientOf(respond)
  const got = yield* Queue.unbounded<Exchange>()
  const endpoint = scripted({
    handle: (exchange) => {
      Queue.offerUnsafe(got, exchange)
      return admitted
    },
    ...overrides
  })
  const transport = yield* Effect.provideService(
    StreamableHttpClient.make({ url, ...options }),
    HttpClient.HttpClient,
    client
  )
  const link = yield* transport.connect(endpoint)
  return {
    link,
    seen,
    got,
    transport,
    messages: Effect.map(Queue.clear(got), (all) => all.map(({ message }) => message))
  }
})

export const json = (body: unknown, init: ResponseInit = {}) =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    ...init,
    headers: { "content-type": "application/json", ...init.headers }
  })

export const events = (text: string, init: ResponseInit = {}) =>
  new Response(text, { ...init, headers: { "content-type": "text/event-stream", ...init.headers } })

/** An event stream that the test writes. */
export const openEvents = (init: ResponseInit = {}) => {
  const encoder = new TextEncoder()
  const state = { cancelled: false }
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start: (it) => {
      controller = it
    },
    cancel: () => {
      state.cancelled = true
    }
  })
  return {
    response: new Response(body, { ...init, headers: { "content-type": "text/event-stream", ...init.headers } }),
    write: (text: string | Uint8Array) => controller?.enqueue(typeof text === "string" ? encoder.encode(text) : text),
    end: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
    state
  }
}

export const success = (id: JsonRpc.RequestId, result: JsonRpc.JsonObject = {}): JsonRpc.Success => ({
  jsonrpc: "2.0",
  id,
  result
})
export const failure = (id: JsonRpc.RequestId | null | undefined, code: number, message = "m"): JsonRpc.Failure => ({
  jsonrpc: "2.0",
  ...(id === undefined ? undefined : { id }),
  error: { code, message }
})

export const initialize = JsonRpc.request(0, "initialize", { protocolVersion: "2025-11-25" })
export const initialized = JsonRpc.notification("notifications/initialized")
export const accepted = () => new Response(null, { status: 202 })

/** A server with sessions: answers initialize with `sessionId`, notifications with 202, the rest as told. */
export const sessionServer = (rest: Respond, sessionId = "s-1"): Respond => (seen) => {
  const message = seen.body
  if (JsonRpc.isJsonObject(message) && message["method"] === "initialize") {
    return json(success(0, { protocolVersion: "2025-11-25" }), { headers: { "mcp-session-id": sessionId } })
  }
  if (seen.method === "POST" && JsonRpc.isJsonObject(message) && !("id" in message)) return accepted()
  return rest(seen)
}

/** Any other method than POST is refused: there are no streams. */
export const none = () => new Response(null, { status: 405 })

/** A connection on which a session is agreed, and its stream refused. */
export const session = Effect.fnUntraced(function*(
  rest: Respond,
  options: Partial<StreamableHttpClient.Options> = {},
  overrides: Partial<Service> = {}
) {
  const connection = yield* connect(
    sessionServer((seen) => seen.method === "POST" ? rest(seen) : none()),
    options,
    overrides
  )
  yield* agree(connection.link)
  yield* connection.messages
  return connection
})

export const legacy = { version: "2025-11-25", era: "legacy" } as const

/** What a client does first. */
export const agree = (link: Link, agreement: Agreement = legacy) =>
  Effect.gen(function*() {
    yield* link.send(initialize)
    yield* link.agreed(agreement)
    yield* link.send(initialized)
  })

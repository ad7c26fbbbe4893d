import { assert } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Effect, Exit, Queue, type Scope } from "effect"
import { HttpEffect, type HttpServerRequest } from "effect/http"
import { type Admission, Endpoint, type Rejected } from "../../src/Endpoint.ts"
import type { Exchange, Facts } from "../../src/Exchange.ts"
import * as Limits from "../../src/Limits.ts"
import type { Link } from "../../src/Link.ts"
import * as StreamableHttpServer from "../../src/StreamableHttpServer.ts"

export type Service = Endpoint["Service"]

export const admitted: Effect.Effect<Admission, Rejected> = Effect.succeed({})

/** An endpoint that answers every request at once with what came in, unless told otherwise. */
export const scripted = (overrides: Partial<Service> = {}): Service => ({
  handle: ({ facts, message, outlet }) => {
    if (JsonRpc.isRequest(message)) {
      outlet.answer(JsonRpc.success(message.id, { method: message.method, era: facts.classified?._tag }))
    }
    return admitted
  },
  admitBatch: () => Effect.void,
  attach: () => Effect.void,
  terminate: () => Effect.void,
  ...overrides
})

/** An endpoint that keeps what comes in for the test to answer. */
export const held = (disconnected?: (exchange: Exchange) => void) =>
  Effect.map(Queue.unbounded<Exchange>(), (exchanges) => ({
    endpoint: scripted({
      handle: (exchange) => {
        Queue.offerUnsafe(exchanges, exchange)
        return Effect.succeed({ disconnected: disconnected && (() => disconnected(exchange)) })
      }
    }),
    next: Queue.take(exchanges)
  }))

/** An endpoint whose GET streams are kept for the test. */
export const attached = Effect.map(
  Queue.unbounded<{ readonly link: Link; readonly facts: Facts; readonly left: Deferred.Deferred<void> }>(),
  (links) => ({
    attach: (facts: Facts, link: Link): Effect.Effect<void, Rejected, Scope.Scope> => {
      const left = Deferred.makeUnsafe<void>()
      return Effect.acquireRelease(
        Effect.sync(() => {
          Queue.offerUnsafe(links, { link, facts, left })
        }),
        () => Effect.sync(() => Deferred.doneUnsafe(left, Exit.void))
      )
    },
    next: Queue.take(links)
  })
)

export interface Call {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Record<string, string | undefined>
  readonly signal?: AbortSignal
  readonly url?: string
}

export const request = ({ body, headers = {}, method = "POST", signal, url = "http://localhost:3000/mcp" }: Call) => {
  const all: Record<string, string | undefined> = {
    ...(method === "POST" ? { "content-type": "application/json" } : undefined),
    accept: "application/json, text/event-stream",
    ...headers
  }
  const text = body === undefined || typeof body === "string" ? body : JSON.stringify(body)
  return new Request(url, {
    method,
    headers: Object.entries(all).flatMap(([name, value]): Array<[string, string]> =>
      value === undefined ? [] : [[name, value]]
    ),
    ...(text === undefined ? undefined : { body: text }),
    ...(signal === undefined ? undefined : { signal })
  })
}

/** The endpoint as a function from request to response, on the clock of the test. */
export const serve = Effect.fnUntraced(function*(endpoint: Service, options: StreamableHttpServer.Options = {}) {
  const server = yield* Effect.provideService(StreamableHttpServer.make(options), Endpoint, endpoint)
  const context = yield* Effect.context<never>()
  const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(
    server.app
  )
  return {
    server,
    send: (request: Request): Effect.Effect<Response> => Effect.promise(() => handler(request)),
    fetch: (call: Call): Effect.Effect<Response> => Effect.promise(() => handler(request(call))),
    /** Status and body, parsed where it is JSON. */
    ask: (call: Call) =>
      Effect.promise(async () => {
        const response = await handler(request(call))
        const text = await response.text()
        const json = response.headers.get("content-type") === "application/json"
        return { status: response.status, headers: response.headers, body: json ? JSON.parse(text) : text }
      })
  }
})

/** Lets events of the platform (aborts, stream reads) run that have been fired already. */
export const turns = Effect.forEach(
  Array.from({ length: 5 }),
  () => Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve))),
  { discard: true }
)

/** Reads a response piece by piece. */
export const reading = (response: Response) => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  assert.isDefined(reader)
  return {
    next: Effect.promise(async () => {
      const { done, value } = await reader.read()
      return done ? undefined : value
    }),
    cancel: Effect.promise(() => reader.cancel()),
    rest: Effect.promise(async () => {
      let text = ""
      for (let read = await reader.read(); !read.done; read = await reader.read()) text += read.value
      return text
    })
  }
}

export const ping = JsonRpc.request(1, "ping")
export const note = (progress: number) => JsonRpc.notification("notifications/progress", { progress })
export const sse = (...messages: ReadonlyArray<unknown>) =>
  messages.map((message) => `data: ${JSON.stringify(message)}\n\n`).join("")

export const modern = (id: JsonRpc.RequestId, method: string, params: JsonRpc.JsonObject = {}) =>
  JsonRpc.request(id, method, {
    ...params,
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {}
    }
  })

export const modernHeaders = (method: string, name?: string): Record<string, string> => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": method,
  ...(name === undefined ? undefined : { "mcp-name": name })
})

export const limited = (overrides: Partial<Limits.Limits>) =>
  Effect.provideService(Limits.Limits, { ...Limits.defaults, ...overrides })

/** The body of a refusal whose request has no id. */
export const refused = (code: number, message: string, data?: unknown) => ({
  jsonrpc: "2.0",
  error: { code, message, ...(data === undefined ? undefined : { data }) }
})

/** Both endpoints of HTTP+SSE as functions from request to response, and a reader of its streams. */
import { assert } from "@effect/vitest"
import { Effect, Option, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpEffect, HttpServerRequest } from "effect/http"
import { Endpoint } from "../../src/Endpoint.ts"
import * as HttpSseServer from "../../src/HttpSseServer.ts"
import { CurrentPrincipal } from "../../src/Principal.ts"
import * as Sse from "../../src/Sse.ts"
import type { Service } from "./http.ts"

export const origin = "http://localhost:3000"

/** Reads a stream event by event; comments are passed over. */
export const eventsOf = (response: Response) => {
  const reader = response.body?.getReader()
  assert.isDefined(reader)
  const events: Array<Sse.Event> = []
  const parser = new Sse.Parser({ maxBytes: 1 << 26, onEvent: (event) => events.push(event), onTooLarge: () => {} })
  const next = Effect.promise(async () => {
    while (events.length === 0) {
      const { done, value } = await reader.read()
      if (done) return undefined
      parser.push(value)
    }
    return events.shift()
  })
  return {
    next,
    /** The next message, parsed. */
    message: Effect.map(next, (event): unknown => {
      assert.strictEqual(event?.event, "message")
      return JSON.parse(event?.data ?? "")
    }),
    cancel: Effect.promise(() => reader.cancel())
  }
}

export interface Posted {
  readonly headers?: Record<string, string | undefined>
  readonly method?: string
}

export const serveSse = Effect.fnUntraced(function*(endpoint: Service, options: HttpSseServer.Options = {}) {
  const server = yield* HttpSseServer.make(options).pipe(
    Effect.provideService(Endpoint, endpoint),
    Effect.provide(SecureRandom.layerWebCrypto)
  )
  const context = yield* Effect.context<never>()
  const handlerOf = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)
  const stream = handlerOf(server.stream)
  const messages = handlerOf(server.messages)

  const get = (headers: Record<string, string> = {}, method = "GET", url = `${origin}/sse`) =>
    Effect.promise((signal) =>
      stream(new Request(url, { method, headers: { accept: "text/event-stream", ...headers }, signal }))
    )
  const post = (uri: string, body: unknown, { headers = {}, method = "POST" }: Posted = {}) =>
    Effect.promise(async () => {
      const all: Record<string, string | undefined> = { "content-type": "application/json", ...headers }
      const response = await messages(
        new Request(new URL(uri, `${origin}/sse`), {
          method,
          headers: Object.entries(all).flatMap(([name, value]): Array<[string, string]> =>
            value === undefined ? [] : [[name, value]]
          ),
          ...(method === "POST" ? { body: typeof body === "string" ? body : JSON.stringify(body) } : undefined)
        })
      )
      const text = await response.text()
      const body_: unknown = text === "" ? undefined : JSON.parse(text)
      return { status: response.status, headers: response.headers, body: body_ }
    })
  /** A stream that is open, and where it says to post. */
  const open = (headers: Record<string, string> = {}) =>
    Effect.gen(function*() {
      const response = yield* get(headers)
      assert.strictEqual(response.status, 200)
      const events = eventsOf(response)
      const first = yield* events.next
      assert.strictEqual(first?.event, "endpoint")
      const uri = first?.data ?? ""
      return { ...events, response, uri, post: (body: unknown, how?: Posted) => post(uri, body, how) }
    })
  return { server, get, post, open }
})

/** Takes the principal from a header. */
export const byHeader: NonNullable<HttpSseServer.Options["middleware"]> = (app) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    const subject = headers["x-user"]
    return subject === undefined ? app : Effect.provideService(
      app,
      CurrentPrincipal,
      Option.some({ issuer: "i", subject, scopes: [], claims: {} })
    )
  })

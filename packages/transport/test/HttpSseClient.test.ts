import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Effect, Exit, Fiber, Queue, Scope, Tracer } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import type { Exchange } from "../src/Exchange.ts"
import * as HttpSseClient from "../src/HttpSseClient.ts"
import { admitted, limited, note, ping, scripted, type Service, turns } from "./support/http.ts"
import {
  accepted,
  clientOf,
  events,
  failure,
  json,
  legacy,
  openEvents,
  type Respond,
  success
} from "./support/httpClient.ts"

const url = "https://example.com/app/sse"
const hello = (uri: string) => `event: endpoint\ndata: ${uri}\n\n`
const message = (value: unknown) => `event: message\ndata: ${JSON.stringify(value)}\n\n`

/** A server whose stream the test writes; every POST is answered by `respond`. */
const server = (respond: Respond = accepted, uri = "messages?sessionId=s1") => {
  const stream = openEvents()
  stream.write(hello(uri))
  const { client, seen } = clientOf((one) => one.method === "GET" ? stream.response : respond(one))
  return { client, seen, stream }
}

const connect = Effect.fnUntraced(function*(
  client: HttpClient.HttpClient,
  options: Partial<HttpSseClient.Options> = {},
  overrides: Partial<Service> = {}
) {
  const got = yield* Queue.unbounded<Exchange>()
  const endpoint = scripted({
    handle: (exchange) => {
      Queue.offerUnsafe(got, exchange)
      return admitted
    },
    ...overrides
  })
  const transport = yield* Effect.provideService(
    HttpSseClient.make({ url, ...options }),
    HttpClient.HttpClient,
    client
  )
  const link = yield* transport.connect(endpoint)
  return { link, got, transport, next: Effect.map(Queue.take(got), ({ message }) => message) }
})

/** What connecting to a server fails with whose stream is `response`. */
const refusedBy = (response: () => Response) => {
  const { client, seen } = clientOf(response)
  return Effect.map(
    Effect.flip(connect(client)),
    (error) => ({ error, posted: seen.some(({ method }) => method === "POST") })
  )
}

describe("connecting", () => {
  it.effect("[SSE-02] waits until the server has said where to post, relative to the stream", () =>
    Effect.gen(function*() {
      const stream = openEvents()
      const { client, seen } = clientOf(({ method }) => method === "GET" ? stream.response : accepted())
      const connecting = yield* Effect.forkChild(connect(client), { startImmediately: true })
      yield* turns
      assert.isUndefined(connecting.pollUnsafe())
      stream.write(": welcome\n\nretry: 1000\n\n")
      stream.write(hello("messages?sessionId=s1"))
      const { link, transport } = yield* Fiber.join(connecting)
      yield* link.send(ping)
      assert.deepStrictEqual(seen.map(({ method, url }) => [method, url]), [
        ["GET", url],
        ["POST", "https://example.com/app/messages?sessionId=s1"]
      ])
      assert.strictEqual(seen[0]?.headers["accept"], "text/event-stream")
      assert.strictEqual(seen[1]?.headers["content-type"], "application/json")
      assert.deepStrictEqual(seen[1]?.body, { ...ping })
      assert.strictEqual(transport.target, url)
      assert.strictEqual(transport.era, "legacy")
    }).pipe(Effect.scoped))

  it.effect("[SSE-02] takes a path and a whole address on the same server", () =>
    Effect.gen(function*() {
      for (const uri of ["/in?sessionId=1", "https://example.com/in?sessionId=1"]) {
        const { client, seen } = server(accepted, uri)
        const { link } = yield* connect(client)
        yield* link.send(ping)
        assert.strictEqual(seen[1]?.url, "https://example.com/in?sessionId=1")
      }
    }).pipe(Effect.scoped))

  for (
    const uri of [
      "https://evil.example/in",
      "http://example.com/in",
      "https://example.com:8443/in",
      "//evil.example/in"
    ]
  ) {
    it.effect(`posts nothing to another origin: ${uri}`, () =>
      Effect.gen(function*() {
        const { error, posted } = yield* refusedBy(() => events(hello(uri)))
        assert.deepInclude(error, { _tag: "TransportClosed" })
        assert.isFalse(posted)
      }).pipe(Effect.scoped))
  }

  it.effect("fails with the status of a server that has no stream, and what it says about tokens", () =>
    Effect.gen(function*() {
      const missing = yield* refusedBy(() => new Response("nothing here", { status: 404 }))
      assert.deepInclude(missing.error, {
        _tag: "HttpFailure",
        status: 404,
        detail: "nothing here (https://example.com/app/sse)"
      })
      const headers = { "www-authenticate": "Bearer" }
      const closed = yield* refusedBy(() => new Response(null, { status: 401, headers }))
      assert.deepInclude(closed.error, { _tag: "HttpFailure", status: 401, wwwAuthenticate: "Bearer" })
      const page = yield* refusedBy(() => new Response("<html>", { headers: { "content-type": "text/html" } }))
      assert.deepInclude(page.error, { _tag: "HttpFailure", status: 200 })
    }).pipe(Effect.scoped))

  it.effect("fails when the stream begins with something else, or ends, or says nothing for ten seconds", () =>
    Effect.gen(function*() {
      const other = yield* refusedBy(() => events(message(note(1))))
      assert.deepInclude(other.error, { _tag: "HttpFailure", status: 200 })
      const empty = yield* refusedBy(() => events(""))
      assert.deepInclude(empty.error, { _tag: "HttpFailure", status: 200 })
      const silent = openEvents()
      const { client } = clientOf(() => silent.response)
      const connecting = yield* Effect.forkChild(Effect.flip(connect(client)), { startImmediately: true })
      yield* turns
      yield* TestClock.adjust("9999 millis")
      assert.isUndefined(connecting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      assert.deepInclude(yield* Fiber.join(connecting), { _tag: "HttpFailure", status: 200 })
      yield* turns
      // The stream is let go of at once, not when the scope ends.
      assert.isTrue(silent.state.cancelled)
    }).pipe(Effect.scoped))

  it.effect("fails when the address is none", () =>
    Effect.gen(function*() {
      const { client } = server()
      const error = yield* Effect.flip(connect(client, { url: "not a url" }))
      assert.strictEqual(error._tag, "HttpFailure")
    }).pipe(Effect.scoped))
})

describe("the stream", () => {
  it.effect("[SSE-02] hands over messages, and passes over what is none", () =>
    Effect.gen(function*() {
      const { client, stream } = server()
      const { next } = yield* connect(client)
      stream.write(hello("https://evil.example/later"))
      stream.write("event: ping\ndata: 2026\n\ndata:\n\ndata: junk\n\n")
      stream.write(`data: ${JSON.stringify(note(1))}\r\n\r\n`)
      stream.write(message([success(1), success(2)]))
      assert.deepStrictEqual(yield* next, note(1))
      assert.deepStrictEqual([yield* next, yield* next], [success(1), success(2)])
    }).pipe(Effect.scoped))

  it.effect("[field FRM-02] is read whole however it is cut", () =>
    Effect.gen(function*() {
      const { client, stream } = server()
      const { next } = yield* connect(client)
      const sent = JsonRpc.notification("n", { text: "é—🎉" })
      for (const byte of new TextEncoder().encode(message(sent))) stream.write(new Uint8Array([byte]))
      assert.deepStrictEqual(yield* next, sent)
    }).pipe(Effect.scoped))

  it.effect("[field FRM-14] of an answer that is too large fails its request alone", () =>
    Effect.gen(function*() {
      const { client, seen, stream } = server()
      const { got } = yield* connect(client)
      const text = "x".repeat(2000)
      stream.write(message({ jsonrpc: "2.0", id: 1, result: { text } }))
      stream.write(message({ jsonrpc: "2.0", id: "r", method: "ask", params: { text } }))
      stream.write(message(success(2)))
      const large = yield* Queue.take(got)
      assert.deepInclude(large.fault, { _tag: "MessageTooLarge", limit: 1000 })
      assert.deepInclude(large.message, { id: 1 })
      assert.deepStrictEqual((yield* Queue.take(got)).message, success(2))
      yield* turns
      assert.deepInclude(seen.at(-1)?.body, { id: "r" })
    }).pipe(limited({ clientMessageIn: 1000 }), Effect.scoped))

  it.effect("that is cut is the end of the connection, with the reason, and of what is being sent", () =>
    Effect.gen(function*() {
      const { client, stream } = server(({ body }) =>
        JsonRpc.isJsonObject(body) && body["method"] === "ping" ? Effect.never : accepted()
      )
      const { link } = yield* connect(client)
      const sending = yield* Effect.forkChild(Effect.flip(link.send(ping)), { startImmediately: true })
      stream.fail(new Error("cut"))
      assert.deepInclude(yield* link.closed, { _tag: "TransportClosed", reason: "The stream broke off" })
      assert.strictEqual((yield* Fiber.join(sending))._tag, "TransportClosed")
      assert.strictEqual((yield* Effect.flip(link.send(note(1))))._tag, "TransportClosed")
    }).pipe(Effect.scoped))

  it.effect("that the server ends is the same", () =>
    Effect.gen(function*() {
      const { client, stream } = server()
      const { link } = yield* connect(client)
      stream.end()
      assert.deepInclude(yield* link.closed, { reason: "The server ended the stream" })
    }).pipe(Effect.scoped))

  it.effect("is let go of with the scope", () =>
    Effect.gen(function*() {
      const { client, stream } = server()
      const scope = yield* Scope.make()
      const { link } = yield* Scope.provide(connect(client), scope)
      yield* Scope.close(scope, Exit.void)
      yield* turns
      assert.isTrue(stream.state.cancelled)
      assert.deepInclude(yield* link.closed, { reason: "The connection was closed" })
    }))
})

describe("posting", () => {
  it.effect("[HTTP-43] names the agreed version from 2025-06-18 on, and sends the user's headers with everything", () =>
    Effect.gen(function*() {
      const { client, seen } = server()
      const { link } = yield* connect(client, { headers: { authorization: "Bearer t", accept: "text/html" } })
      yield* link.send(ping)
      yield* link.agreed({ version: "2024-11-05", era: "legacy" })
      yield* link.send(ping)
      yield* link.agreed(legacy)
      yield* link.send(ping)
      assert.deepStrictEqual(seen.map(({ headers }) => headers["mcp-protocol-version"]), [
        undefined,
        undefined,
        undefined,
        "2025-11-25"
      ])
      assert.isTrue(seen.every(({ headers }) => headers["authorization"] === "Bearer t"))
      assert.isFalse(seen.some(({ headers }) => headers["accept"] === "text/html"))
    }).pipe(Effect.scoped))

  it.effect("[HTTP-39] that meets 404 says that the session is lost, once there is one", () =>
    Effect.gen(function*() {
      const { client } = server(() => new Response("gone", { status: 404 }))
      const { link } = yield* connect(client)
      assert.deepInclude(yield* Effect.flip(link.send(ping)), { _tag: "HttpFailure", status: 404 })
      yield* link.agreed(legacy)
      assert.deepInclude(yield* Effect.flip(link.send(ping)), { _tag: "SessionLost" })
    }).pipe(Effect.scoped))

  it.effect("that is refused fails with the status; an error that answers is handed over", () =>
    Effect.gen(function*() {
      const { client } = server(({ body }) =>
        JsonRpc.isJsonObject(body) && body["id"] === 1
          ? json(failure(1, -32600), { status: 400 })
          : new Response("busy", { status: 503, headers: { "retry-after": "7" } })
      )
      const { link, next } = yield* connect(client)
      yield* link.send(ping)
      assert.deepInclude(yield* next, { id: 1 })
      const busy = yield* Effect.flip(link.send(note(1)))
      assert.deepInclude(busy, { _tag: "HttpFailure", status: 503, retryAfter: "7" })
    }).pipe(Effect.scoped))

  it.effect("[field HTP-17] follows no redirect to another origin", () =>
    Effect.gen(function*() {
      const { client, seen } = server(() =>
        new Response(null, { status: 307, headers: { location: "https://evil.example/in" } })
      )
      const { link } = yield* connect(client)
      assert.deepInclude(yield* Effect.flip(link.send(ping)), { _tag: "HttpFailure", status: 307 })
      assert.isFalse(seen.some(({ url }) => url.includes("evil")))
    }).pipe(Effect.scoped))

  it.effect("shows the id of the session in no span", () =>
    Effect.gen(function*() {
      const shown: Array<unknown> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          shown.push(span.attributes)
          return span
        }
      })
      const { client } = server()
      yield* Effect.provideService(
        Effect.flatMap(connect(client), ({ link }) => link.send(ping)),
        Tracer.Tracer,
        tracer
      )
      const attributes = shown.flatMap((map) => map instanceof Map ? Array.from(map.values(), String) : [])
      assert.isTrue(attributes.some((attribute) => attribute.includes("/app/messages")))
      assert.isFalse(attributes.some((attribute) => attribute.includes("s1")))
    }).pipe(Effect.scoped))

  it.effect("answers what the server asks, and refuses for the endpoint what that does not admit", () =>
    Effect.gen(function*() {
      const { client, seen, stream } = server()
      const posted = yield* Deferred.make<void>()
      yield* connect(client, {}, {
        handle: ({ message, outlet }) => {
          if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { roots: [] }))
          Deferred.doneUnsafe(posted, Exit.void)
          return admitted
        }
      })
      stream.write(message(JsonRpc.request("r1", "roots/list")))
      yield* Deferred.await(posted)
      yield* turns
      assert.deepStrictEqual(seen.at(-1)?.body, { jsonrpc: "2.0", id: "r1", result: { roots: [] } })
    }).pipe(Effect.scoped))
})

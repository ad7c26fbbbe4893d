import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Fiber, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpRouter } from "effect/http"
import { TestClock } from "effect/testing"
import { Endpoint } from "../src/Endpoint.ts"
import * as HttpSseServer from "../src/HttpSseServer.ts"
import type { Link } from "../src/Link.ts"
import { admitted, held, limited, note, ping, refused, scripted, turns } from "./support/http.ts"
import { byHeader, eventsOf, origin, serveSse } from "./support/sse.ts"

const pong = (id: JsonRpc.RequestId) => ({ jsonrpc: "2.0", id, result: { method: "ping", era: "Legacy" } })
const result = (id: JsonRpc.RequestId, text: string) => JsonRpc.success(id, { text })

describe("the stream", () => {
  it.effect("[SSE-01, SSE-02, SEC-06] begins with where to post, without an origin and with an unguessable id", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted())
      const first = yield* open()
      const second = yield* open()
      assert.match(first.uri, /^\/messages\?sessionId=[A-Za-z0-9_-]{24}$/)
      assert.notStrictEqual(first.uri, second.uri)
      assert.strictEqual(first.response.headers.get("content-type"), "text/event-stream")
      assert.strictEqual(first.response.headers.get("cache-control"), "no-cache, no-transform")
      assert.strictEqual(first.response.headers.get("x-accel-buffering"), "no")
    }))

  it.effect("[SSE-02] carries the answers to what is posted, as `message` events", () =>
    Effect.gen(function*() {
      const { open } = yield* serveSse(scripted())
      const stream = yield* open()
      const { body, status } = yield* stream.post(ping)
      assert.deepStrictEqual({ body, status }, { body: undefined, status: 202 })
      assert.deepStrictEqual(yield* stream.message, pong(1))
    }))

  it.effect("carries what comes before an answer, and keeps two streams apart", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { open } = yield* serveSse(endpoint)
      const one = yield* open()
      const two = yield* open()
      yield* one.post(ping)
      yield* two.post(ping)
      const ofOne = yield* next
      const ofTwo = yield* next
      ofTwo.outlet.answer(result(1, "two"))
      yield* ofOne.outlet.push(note(1))
      ofOne.outlet.answer(result(1, "one"))
      assert.deepStrictEqual(yield* one.message, note(1))
      assert.deepStrictEqual(yield* one.message, { ...result(1, "one") })
      assert.deepStrictEqual(yield* two.message, { ...result(1, "two") })
    }))

  it.effect("tells the endpoint of one connection for all that is posted, and of the principal of each message", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { open } = yield* serveSse(endpoint, { middleware: byHeader })
      const stream = yield* open({ "x-user": "ada" })
      const headers = { "x-user": "ada", "mcp-session-id": "of another transport", "x-other": "1" }
      yield* stream.post(ping, { headers })
      yield* stream.post(JsonRpc.notification("notifications/initialized"), { headers })
      const request = yield* next
      const notification = yield* next
      assert.isDefined(request.facts.connection)
      assert.strictEqual(request.facts.connection, notification.facts.connection)
      assert.strictEqual(request.facts.transport, "http")
      assert.isUndefined(request.facts.sessionId)
      assert.strictEqual(request.facts.headers?.["x-other"], "1")
      assert.deepInclude(request.facts.classified, { _tag: "Legacy", version: "2024-11-05" })
      assert.strictEqual(request.facts.principal._tag, "Some")
    }))

  it.effect("[HTTP-64] says something every 15 seconds", () =>
    Effect.gen(function*() {
      const { get } = yield* serveSse(scripted())
      const response = yield* get()
      const reader = response.body?.getReader()
      const read = Effect.promise(async () => new TextDecoder().decode((await reader?.read())?.value))
      yield* read
      const later = yield* Effect.forkChild(read, { startImmediately: true })
      yield* turns
      yield* TestClock.adjust("15 seconds")
      assert.strictEqual(yield* Fiber.join(later), ": keepalive\n\n")
    }))

  it.effect("asks for no more than a client that takes event streams", () =>
    Effect.gen(function*() {
      const { get } = yield* serveSse(scripted())
      assert.strictEqual((yield* get({ accept: "application/json" })).status, 406)
      assert.strictEqual((yield* get({ accept: "*/*" })).status, 200)
      const wrong = yield* get({}, "POST")
      assert.strictEqual(wrong.status, 405)
      assert.strictEqual(wrong.headers.get("allow"), "GET, OPTIONS")
    }))
})

describe("where to post", () => {
  const routed = (options: HttpSseServer.Options, prefix?: string) =>
    Effect.gen(function*() {
      const endpoint = Layer.succeed(Endpoint, scripted())
      const routes = HttpSseServer.routes(options).pipe(Layer.provide([endpoint, SecureRandom.layerWebCrypto]))
      const mounted = prefix === undefined
        ? routes
        : Layer.provide(
          routes,
          Layer.effect(HttpRouter.HttpRouter, Effect.map(HttpRouter.HttpRouter, (router) => router.prefixed(prefix)))
        )
      const { dispose, handler } = HttpRouter.toWebHandler(mounted, { disableLogger: true })
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      return (url: string, init?: RequestInit) => Effect.promise(() => handler(new Request(origin + url, init)))
    })
  const uriAt = Effect.fnUntraced(function*(options: HttpSseServer.Options, url: string, prefix?: string) {
    const send = yield* routed(options, prefix)
    const response = yield* send(url)
    const first = yield* eventsOf(response).next
    const uri = first?.data ?? ""
    const target = new URL(uri, origin + url)
    const posted = yield* send(target.pathname + target.search, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(ping)
    })
    return { uri: uri.replace(/sessionId=.*/, "sessionId=id"), status: posted.status }
  })

  it.effect("is beside the stream, with the prefix of the router that both are in", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* uriAt({}, "/sse"), { uri: "/messages?sessionId=id", status: 202 })
      assert.deepStrictEqual(yield* uriAt({}, "/sse/"), { uri: "/messages?sessionId=id", status: 202 })
      assert.deepStrictEqual(
        yield* uriAt({ path: "/events/", messages: "/in" }, "/events?x=1"),
        { uri: "/in?sessionId=id", status: 202 }
      )
      assert.deepStrictEqual(yield* uriAt({}, "/api/sse", "/api"), { uri: "/api/messages?sessionId=id", status: 202 })
    }))

  it.effect("is what the options say where a proxy changes paths", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* uriAt({ endpoint: "messages" }, "/sse"), {
        uri: "messages?sessionId=id",
        status: 202
      })
      const { uri } = yield* uriAt({ endpoint: "/app/messages?tenant=1" }, "/sse")
      assert.strictEqual(uri, "/app/messages?tenant=1&sessionId=id")
    }))

  it.effect("never names another host, whatever is asked for", () =>
    Effect.gen(function*() {
      const { get } = yield* serveSse(scripted())
      for (const path of ["//evil.example/sse", "/.//evil.example/sse", "/a/../..//evil.example/sse"]) {
        const event = yield* eventsOf(yield* get({}, "GET", origin + path)).next
        assert.strictEqual(new URL(event?.data ?? "", origin).origin, origin, path)
      }
    }))
})

/** An endpoint that keeps the link of the last message. */
const linked = () => {
  const kept: { link: Link | undefined } = { link: undefined }
  const endpoint = scripted({
    handle: (exchange) => {
      kept.link = exchange.facts.connection
      return scripted().handle(exchange)
    }
  })
  return { kept, endpoint }
}

describe("the link", () => {
  it.effect("sends what answers nothing, and says when the reader has left", () =>
    Effect.gen(function*() {
      const { endpoint, kept } = linked()
      const { open } = yield* serveSse(endpoint)
      const stream = yield* open()
      yield* stream.post(ping)
      yield* stream.message
      const { link } = kept
      assert.isDefined(link)
      yield* link.send(note(1))
      assert.deepStrictEqual(yield* stream.message, note(1))
      const tooLarge = yield* Effect.flip(link.send(JsonRpc.notification("n", { text: "x".repeat(300) })))
      assert.strictEqual(tooLarge._tag, "MessageTooLarge")
      yield* stream.cancel
      assert.deepInclude(yield* link.closed, { _tag: "TransportClosed", reason: "The reader has left" })
      assert.strictEqual((yield* Effect.flip(link.send(note(2))))._tag, "TransportClosed")
    }).pipe(limited({ httpMessageOut: 200 })))

  it.effect("ends the stream after what was sent, when the session is over", () =>
    Effect.gen(function*() {
      const { endpoint, kept } = linked()
      const { open } = yield* serveSse(endpoint)
      const stream = yield* open()
      yield* stream.post(ping)
      yield* kept.link?.close ?? Effect.void
      assert.deepStrictEqual(yield* stream.message, pong(1))
      assert.isUndefined(yield* stream.next)
      assert.strictEqual((yield* stream.post(ping)).status, 404)
    }))

  it.effect("[RPC-08] leaves out the id of what cannot be read from 2025-11-25 on", () =>
    Effect.gen(function*() {
      const { endpoint, kept } = linked()
      const { open } = yield* serveSse(endpoint)
      const stream = yield* open()
      yield* stream.post(ping)
      yield* kept.link?.agreed({ version: "2025-11-25", era: "legacy" }) ?? Effect.void
      assert.notProperty((yield* stream.post("{")).body, "id")
    }))
})

describe("an answer", () => {
  it.effect("that is too large becomes an error, and one that cannot be written too", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { open } = yield* serveSse(endpoint)
      const stream = yield* open()
      yield* stream.post(ping)
      const first = yield* next
      first.outlet.answer(result(1, "x".repeat(1000)))
      assert.deepInclude(yield* stream.message, { id: 1 })
      yield* stream.post(JsonRpc.request(2, "ping"))
      const second = yield* next
      second.outlet.answer(JsonRpc.success(2, { n: 1n } as never))
      assert.deepStrictEqual(yield* stream.message, { ...refused(-32603, "Internal error"), id: 2 })
    }).pipe(limited({ httpMessageOut: 500 })))

  it.effect("to a client that has left is nobody's, and its request hears of it", () =>
    Effect.gen(function*() {
      const left: Array<unknown> = []
      const { endpoint, next } = yield* held((exchange) => left.push("id" in exchange.message && exchange.message.id))
      const { open } = yield* serveSse(endpoint)
      const stream = yield* open()
      yield* stream.post(ping)
      const { outlet } = yield* next
      yield* stream.cancel
      yield* turns
      assert.deepStrictEqual(left, [1])
      outlet.answer(result(1, "late"))
      yield* outlet.push(note(1))
    }))
})

describe("the end", () => {
  it.effect("[field SHT-02] is after the requests in flight; no new streams, and idle ones end at once", () =>
    Effect.gen(function*() {
      const { endpoint, next } = yield* held()
      const { get, open, server } = yield* serveSse(endpoint)
      const busy = yield* open()
      const idle = yield* open()
      yield* busy.post(ping)
      const { outlet } = yield* next
      yield* server.drain
      assert.isUndefined(yield* idle.next)
      assert.strictEqual((yield* get()).status, 503)
      // An answer to a question of the server still comes in.
      assert.strictEqual((yield* busy.post(JsonRpc.success(1, {}))).status, 202)
      outlet.answer(result(1, "done"))
      assert.deepStrictEqual(yield* busy.message, { ...result(1, "done") })
      assert.isUndefined(yield* busy.next)
    }))

  it.effect("of the scope is the end of every stream", () =>
    Effect.gen(function*() {
      const stream = yield* Effect.scoped(
        Effect.gen(function*() {
          const { endpoint } = yield* held()
          const { open } = yield* serveSse(endpoint)
          const stream = yield* open()
          yield* stream.post(ping)
          return stream
        })
      )
      assert.isUndefined(yield* stream.next)
    }))
})

describe("a client that does not read", () => {
  it.effect("[field MEM-05] is not read from, and cut when it takes nothing for a minute", () =>
    Effect.gen(function*() {
      const { endpoint, kept } = linked()
      const { open } = yield* serveSse(endpoint)
      const stream = yield* open()
      yield* stream.post(ping)
      // The platform takes a little ahead; then answers wait, and at last messages do.
      const blocked = yield* Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(stream.post(JsonRpc.request(2, "ping")), { startImmediately: true })
        yield* Effect.repeat(turns, { times: 10 })
        return fiber
      }).pipe(Effect.repeat({ until: (fiber) => fiber.pollUnsafe() === undefined, times: 20 }))
      yield* TestClock.adjust("59 seconds")
      yield* turns
      assert.isUndefined(blocked.pollUnsafe())
      yield* TestClock.adjust("1 seconds")
      assert.strictEqual((yield* Fiber.join(blocked)).status, 404)
      const { link } = kept
      assert.isDefined(link)
      assert.deepInclude(yield* link.closed, { reason: "The reader takes nothing" })
      assert.strictEqual((yield* stream.post(ping)).status, 404)
    }).pipe(limited({ outgoingMessages: 2 })))
})

describe("five hundred streams", () => {
  it.effect("that come and go leave nothing behind", () =>
    Effect.gen(function*() {
      let open_ = 0
      const { get, open } = yield* serveSse(scripted({
        handle: (exchange) => {
          const { connection } = exchange.facts
          if (connection !== undefined) {
            open_++
            Effect.runFork(Effect.map(connection.closed, () => open_--))
          }
          return admitted
        }
      }))
      for (let round = 0; round < 50; round++) {
        const streams = yield* Effect.all(Array.from({ length: 10 }, () => open()), { concurrency: 10 })
        yield* Effect.forEach(streams, (stream) => stream.post(ping))
        yield* Effect.forEach(streams, (stream) => stream.cancel)
      }
      yield* turns
      assert.strictEqual(open_, 0)
      // All places are free again.
      const again = yield* Effect.all(Array.from({ length: 10 }, () => open()))
      assert.strictEqual((yield* get()).status, 503)
      assert.strictEqual(again.length, 10)
    }).pipe(limited({ sseStreams: 10 })))
})

import { assert, describe, it } from "@effect/vitest"
import { AuthError } from "@mcpfx/auth"
import { Context, Effect, Fiber, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { gzipSync } from "node:zlib"
import { get, out, post, reasonOf, scripted, url } from "./support/outbound.ts"

/** A body of endless chunks, which says what becomes of it. */
const endless = (size: number) => {
  const state = { pulled: 0, cancelled: false }
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      state.pulled++
      controller.enqueue(new Uint8Array(size).fill(97))
    },
    cancel: () => {
      state.cancelled = true
    }
  })
  return { state, body }
}

describe("what is sent", () => {
  it.effect("gives every status as an answer, with headers and text, and an empty one without a body", () =>
    Effect.gen(function*() {
      for (const [status, body] of [[200, "é"], [404, "no"], [503, "later"], [204, null]] as const) {
        const { client } = scripted(() => new Response(body, { status, headers: { "x-a": "b" } }))
        const answer = yield* out(client).send(get)
        assert.strictEqual(answer.status, status)
        assert.strictEqual(answer.body, body ?? "")
        assert.strictEqual(answer.headers["x-a"], "b")
      }
    }))

  it.effect("[SEC-05] goes to https only, and never with a name or a password in the address", () =>
    Effect.gen(function*() {
      const { asked, client } = scripted(() => new Response("hi"))
      const urls = [
        "http://login.example.com/",
        "http://127.0.0.1/",
        "http://localhost/",
        "ftp://login.example.com/",
        "file:///etc/passwd",
        "data:text/plain,hi",
        "https://user@login.example.com/",
        "https://:password@login.example.com/"
      ]
      for (const url of urls) {
        const reason = yield* reasonOf(out(client).send(HttpClientRequest.get(url)))
        assert.deepStrictEqual([reason._tag, "why" in reason && reason.why], ["InsecureServer", "scheme"], url)
        assert.notInclude(JSON.stringify(reason), "password@")
      }
      assert.strictEqual((yield* reasonOf(out(client).send(HttpClientRequest.get("https://"))))._tag, "BadAnswer")
      assert.lengthOf(asked, 0)
    }))

  it.effect("[SEC-05] goes to http on the loopback interface where the policy says so", () =>
    Effect.gen(function*() {
      const { client } = scripted(() => new Response("hi"))
      const local = out(client, { policy: { loopback: true } })
      for (const host of ["localhost:8080", "127.0.0.1", "[::1]"]) {
        assert.strictEqual((yield* local.send(HttpClientRequest.get(`http://${host}/`))).body, "hi")
      }
      for (const host of ["10.0.0.1", "example.com", "0.0.0.0"]) {
        const reason = yield* reasonOf(local.send(HttpClientRequest.get(`http://${host}/`)))
        assert.strictEqual(reason._tag, "InsecureServer", host)
      }
    }))

  it.effect("[SEC-05] asks the guard, whose error comes out as it is", () =>
    Effect.gen(function*() {
      const { asked, client } = scripted(() => new Response("hi"))
      const reason = yield* reasonOf(out(client).send(HttpClientRequest.get("https://169.254.169.254/latest?secret=1")))
      assert.deepStrictEqual({ ...reason }, {
        ...new AuthError.InsecureServer({
          url: "https://169.254.169.254/latest",
          why: "address",
          detail: "its address is link-local"
        })
      })
      assert.lengthOf(asked, 0)
    }))

  it.effect("carries no cookie and nothing of the protocol", () =>
    Effect.gen(function*() {
      const { asked, client } = scripted(() => new Response("hi"))
      const headers = { cookie: "a", "mcp-session-id": "b", "Mcp-Method": "c", "last-event-id": "d", accept: "e" }
      yield* out(client).send(HttpClientRequest.setHeaders(get, headers))
      assert.deepStrictEqual(asked.map(({ headers }) => Object.entries(headers)), [[["accept", "e"]]])
    }))

  it.effect("[field AUT-21] leaves no secret in spans, and asks for no trace of the client", () =>
    Effect.gen(function*() {
      const spans: Array<unknown> = []
      const tracer = yield* Effect.tracer
      const { asked, client } = scripted(() => new Response("hi", { headers: { "x-b": "secret" } }))
      yield* out(client).send(HttpClientRequest.setHeader(post, "authorization", "Bearer secret")).pipe(
        Effect.withTracer({
          span: (options) => {
            const span = tracer.span(options)
            spans.push(span)
            return span
          }
        })
      )
      assert.lengthOf(spans, 1)
      const text = JSON.stringify(
        spans,
        (_, value) => value instanceof Map ? [...value] : typeof value === "bigint" ? 0 : value
      )
      assert.include(text, "https://login.example.com/.well-known/x")
      assert.notInclude(text, "secret")
      assert.isUndefined(asked[0]?.headers["traceparent"])
    }))
})

describe("what comes back", () => {
  it.effect("[SEC-05] is read up to its limit, then let go of", () =>
    Effect.gen(function*() {
      const { body, state } = endless(1024)
      const { client } = scripted(() => new Response(body))
      const reason = yield* reasonOf(out(client).send(get))
      assert.deepStrictEqual({ ...reason }, {
        ...new AuthError.BadAnswer({
          url: "https://login.example.com/.well-known/x",
          status: 200,
          detail: "it is larger than 524288 bytes"
        })
      })
      assert.isTrue(state.cancelled)
      assert.isBelow(state.pulled, 516)
    }))

  it.effect("[SEC-05] is not read at all where it says itself that it is too large", () =>
    Effect.gen(function*() {
      const { body, state } = endless(1)
      const { client } = scripted(() => new Response(body, { headers: { "content-length": "1025" } }))
      assert.strictEqual((yield* reasonOf(out(client, { maxBytes: 1024 }).send(get)))._tag, "BadAnswer")
      assert.isTrue(state.cancelled)
      assert.isBelow(state.pulled, 3)
    }))

  it.effect("fits to the byte", () =>
    Effect.gen(function*() {
      const { client } = scripted(() => new Response("é".repeat(512)))
      assert.strictEqual((yield* out(client, { maxBytes: 1024 }).send(get)).body.length, 512)
      assert.strictEqual((yield* reasonOf(out(client, { maxBytes: 1023 }).send(get)))._tag, "BadAnswer")
    }))

  it.effect("[SEC-05] is waited for so long, headers and body together", () =>
    Effect.gen(function*() {
      const silent = HttpClient.make(() => Effect.never)
      const stuck = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(1)) })
      const late = HttpClient.make((request) =>
        Effect.delay(Effect.succeed(HttpClientResponse.fromWeb(request, new Response(stuck))), "9 seconds")
      )
      for (const client of [silent, late]) {
        const fiber = yield* Effect.forkChild(reasonOf(out(client).send(get)))
        yield* TestClock.adjust("9999 millis")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("1 millis")
        assert.deepStrictEqual({ ...(yield* Fiber.join(fiber)) }, {
          ...new AuthError.Unavailable({
            url: "https://login.example.com/.well-known/x",
            detail: "it does not answer within 10 seconds"
          })
        })
      }
    }))

  it.effect("[SEC-05] is let go of within a second, whatever the platform does", () =>
    Effect.gen(function*() {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(2048)),
        cancel: () => new Promise(() => {})
      })
      const { client } = scripted(() => new Response(body))
      const fiber = yield* Effect.forkChild(reasonOf(out(client, { maxBytes: 1024 }).send(get)))
      yield* Effect.promise(() => new Promise((settle) => setImmediate(settle)))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "BadAnswer")
    }))

  it.effect("that breaks off, or never begins, is nobody's answer; nothing is sent twice", () =>
    Effect.gen(function*() {
      let asked = 0
      const refused = HttpClient.make((request) =>
        Effect.suspend(() => {
          asked++
          const cause = new Error("connect ECONNREFUSED secret")
          return Effect.fail(
            new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
          )
        })
      )
      assert.strictEqual((yield* reasonOf(out(refused).send(post)))._tag, "Unavailable")
      assert.strictEqual(asked, 1)
      const broken = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("secret")) })
      const { client } = scripted(() => new Response(broken))
      assert.strictEqual((yield* reasonOf(out(client).send(get)))._tag, "Unavailable")
    }))
})

/** The real fetch client, over a `fetch` of the test. */
const fetchClient = (fetch: typeof globalThis.fetch, init?: RequestInit) =>
  Effect.map(
    Layer.build(
      FetchHttpClient.layer.pipe(
        Layer.provide(Layer.succeed(FetchHttpClient.Fetch, fetch)),
        Layer.provide(init === undefined ? Layer.empty : Layer.succeed(FetchHttpClient.RequestInit, init))
      )
    ),
    Context.get(HttpClient.HttpClient)
  )

describe("answers of fetch", () => {
  it.effect("[SEC-05] are counted as they come out of their coding", () =>
    Effect.gen(function*() {
      const bomb = gzipSync(Buffer.alloc(8 * 1024 * 1024))
      assert.isBelow(bomb.length, 10_000)
      const headers = { "content-encoding": "gzip", "content-length": String(bomb.length) }
      const client = yield* fetchClient(() =>
        Promise.resolve(
          new Response(new Blob([bomb]).stream().pipeThrough(new DecompressionStream("gzip")), { headers })
        )
      )
      assert.strictEqual((yield* reasonOf(out(client).send(get)))._tag, "BadAnswer")
    }))

  it.effect("[SEC-05] [field AUT-22] are asked for without redirects and cookies, with all else that the user set", () =>
    Effect.gen(function*() {
      const inits: Array<RequestInit | undefined> = []
      const client = yield* fetchClient((_, init) => {
        inits.push(init)
        return Promise.resolve(new Response("hi"))
      }, { redirect: "follow", cache: "no-store", headers: { "x-proxy": "p" } })
      yield* out(client).send(get)
      yield* Effect.provideService(out(client).send(get), FetchHttpClient.RequestInit, { cache: "reload" })
      yield* client.get(url)
      assert.deepStrictEqual(
        inits.map((init) => [init?.redirect, init?.credentials, init?.cache]),
        [["manual", "omit", "no-store"], ["manual", "omit", "reload"], ["follow", undefined, "no-store"]]
      )
      assert.strictEqual(new Headers(inits[0]?.headers).get("x-proxy"), "p")
    }))
})

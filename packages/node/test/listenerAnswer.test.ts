/** Answers that are wrong, that break off, and that nobody reads: what the client gets is whole, or is seen not to be. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Readable } from "node:stream"
import { eventually, head, peer, raw } from "./support/raw.ts"
import { bodyOf, quietly, serve, statusOf } from "./support/serving.ts"

const { text } = HttpServerResponse
const bytes = (size: number) => new Uint8Array(size).fill(120)
const at = (path: `/${string}`, response: HttpServerResponse.HttpServerResponse) =>
  HttpRouter.add("GET", path, response)
const MiB = 2 ** 20

describe("an answer of another length than it says", () => {
  const abc = new TextEncoder().encode("abc")
  const says = (length: number) => ({ headers: { "content-length": String(length) } })
  const streams = [
    ["/longer", HttpServerResponse.stream(Stream.make(abc, abc), { contentLength: 3 })],
    ["/shorter", HttpServerResponse.stream(Stream.make(abc), { contentLength: 6 })],
    ["/readable", HttpServerResponse.raw(Readable.from([Buffer.from("abcdef")]), says(3))]
  ] as const
  const known = [
    ["/text-longer", HttpServerResponse.setHeader(text("abcdef"), "content-length", "3")],
    ["/text-shorter", HttpServerResponse.setHeader(text("é"), "content-length", "1")],
    ["/raw", HttpServerResponse.raw("é", says(1))],
    ["/raw-bytes", HttpServerResponse.raw(abc, says(4))],
    ["/empty", HttpServerResponse.empty({ status: 200, ...says(3) })]
  ] as const

  it.live("costs the connection: no byte of it is taken for the next answer, and no byte is waited for", () =>
    Effect.gen(function*() {
      const routes = [...streams, ...known].map(([path, response]) => at(path, response))
      const port = yield* serve(Layer.mergeAll(at("/next", text("next")), ...routes))
      const then = head("GET /next", {}, true)
      for (const [path] of streams) {
        const answer = yield* Effect.timeout(raw(port, [head(`GET ${path}`, {}, true) + then]), "2 seconds")
        assert.notInclude(answer, "next", path)
        assert.isAtMost(bodyOf(answer).length, 3, path)
      }
      // Where it is known before a byte is written, the client hears so.
      for (const [path] of known) {
        const answer = yield* Effect.timeout(
          raw(port, [head(`GET ${path}`, {}, true) + head("GET /next")]),
          "2 seconds"
        )
        assert.strictEqual(statusOf(answer), 500, path)
        assert.match(answer, /\r\n\r\nHTTP\/1\.1 200 [^]*next$/, path)
      }
    }).pipe(quietly))

  it.live("is none where there is no body: HEAD says how long it would be", () =>
    Effect.gen(function*() {
      const port = yield* serve(at("/", HttpServerResponse.stream(Stream.make(abc), { contentLength: 3 })))
      assert.match(yield* raw(port, [head("HEAD /")]), /content-length: 3\r\n/)
    }))
})

describe("an answer that cannot be written", () => {
  it.live("is a plain 500, in its first line too", () =>
    Effect.gen(function*() {
      const port = yield* serve(Layer.mergeAll(
        at("/line", text("x", { statusText: "a\r\nset-cookie: b" })),
        at("/value", text("x", { statusText: "Fine", headers: { "x-a": "a\r\nset-cookie: b" } })),
        at("/name", text("x", { headers: { "x\r\nset-cookie": "b" } })),
        at("/far", text("x", { headers: { "x-a": "\u4e2d" } })),
        at("/huge", text("x", { headers: { "x-a": "a".repeat(MiB) } }))
      ))
      for (const path of ["/line", "/value", "/name", "/far"]) {
        const answer = yield* Effect.timeout(raw(port, [head(`GET ${path}`)]), "2 seconds")
        assert.match(answer, /^HTTP\/1\.1 500 Internal Server Error\r\n/, path)
        assert.notInclude(answer, "cookie", path)
      }
      // Large headers are the client's to bear.
      assert.isAbove((yield* raw(port, [head("GET /huge")])).length, MiB)
    }).pipe(quietly))

  it.live("lets go of the stream that it was to be made of", () =>
    Effect.gen(function*() {
      const readable = new Readable({ read: () => {} })
      let cancelled = 0
      const web = new ReadableStream({ cancel: () => void cancelled++ })
      const bad = { headers: { "x-a": "\n" } }
      const port = yield* serve(Layer.mergeAll(
        at("/readable", HttpServerResponse.raw(readable, bad)),
        at("/web", HttpServerResponse.raw(web, bad)),
        at("/head", HttpServerResponse.raw(new Response(new ReadableStream({ cancel: () => void cancelled++ }))))
      ))
      yield* raw(port, [head("GET /readable")])
      yield* raw(port, [head("GET /web")])
      yield* raw(port, [head("HEAD /head")])
      yield* eventually("the end of all three", () => readable.destroyed && cancelled === 2)
    }).pipe(quietly))

  it.live("nor be thought of, is a 500 or a cut, and never a wait", () =>
    Effect.gen(function*() {
      // What the types forbid and JavaScript does.
      const broken: Effect.Effect<never> = Effect.flatMap(Effect.sleep(1), () => JSON.parse("{}"))
      const port = yield* serve(Layer.merge(
        HttpRouter.add("GET", "/", broken),
        at("/stream", HttpServerResponse.stream(Stream.concat(Stream.make(bytes(3)), Stream.fromEffect(broken))))
      ))
      assert.strictEqual(statusOf(yield* Effect.timeout(raw(port, [head("GET /")]), "2 seconds")), 500)
      const cut = yield* Effect.timeout(raw(port, [head("GET /stream", {}, true)]), "2 seconds")
      assert.strictEqual(bodyOf(cut), "3\r\nxxx\r\n")
    }).pipe(quietly))
})

describe("a stream that breaks off", () => {
  it.live("is a reset to HTTP/1.0, for which an end would be the whole", () =>
    Effect.gen(function*() {
      const failing = Stream.concat(Stream.make(bytes(3)), Stream.fromEffect(Effect.delay(Effect.die("over"), 50)))
      const port = yield* serve(Layer.merge(
        at("/", HttpServerResponse.stream(failing)),
        at("/whole", HttpServerResponse.stream(Stream.make(bytes(3))))
      ))
      const get = (path: string) => Effect.flatMap(peer(port, `GET ${path} HTTP/1.0\r\n\r\n`), ({ over }) => over)
      assert.strictEqual((yield* get("/")).error, "ECONNRESET")
      const whole = yield* get("/whole")
      assert.deepStrictEqual([bodyOf(whole.text), whole.error], ["xxx", undefined])
      assert.notMatch(whole.text, /transfer-encoding/i)
    }).pipe(quietly))
})

describe("a client that is not done sending", () => {
  it.live("gets the whole answer, however large it and the unread body are", () =>
    Effect.gen(function*() {
      const port = yield* serve(HttpRouter.add("POST", "/", HttpServerResponse.uint8Array(bytes(4 * MiB))))
      const sending = yield* peer(port, head("POST /", { "content-length": 20 * MiB }, true))
      sending.socket.pause()
      sending.socket.write(bytes(5 * MiB))
      yield* Effect.sleep(50)
      sending.socket.resume()
      assert.strictEqual(bodyOf((yield* sending.over).text).length, 4 * MiB)
    }))

  it.live("hears why it is refused before anybody looked at its request", () =>
    Effect.gen(function*() {
      // Many more than may be are refused by Node.
      const port = yield* serve(HttpRouter.add("POST", "/", text("x")), { maxHeaders: 2 })
      const sending = yield* peer(port, head("POST /", { "content-length": 20 * MiB }))
      sending.socket.pause()
      sending.socket.write(bytes(5 * MiB))
      yield* Effect.sleep(50)
      sending.socket.resume()
      assert.strictEqual(statusOf((yield* sending.over).text), 431)
    }))
})

describe("a client that reads nothing", () => {
  const whole = at("/whole", HttpServerResponse.uint8Array(bytes(32 * MiB)))

  it.live("is waited for so long, be its answer whole or a stream", () =>
    Effect.gen(function*() {
      const ended = yield* Deferred.make<string>()
      const endless = Stream.forever(Stream.make(bytes(MiB))).pipe(
        Stream.onExit((exit) => Deferred.succeed(ended, exit._tag))
      )
      const routes = Layer.merge(whole, at("/endless", HttpServerResponse.stream(endless)))
      const port = yield* serve(routes, { deadReader: "200 millis" })
      const dead = yield* Effect.forEach(["/whole", "/endless"], (path) => peer(port, head(`GET ${path}`)))
      for (const { socket } of dead) socket.pause()
      assert.strictEqual(yield* Effect.timeout(Deferred.await(ended), "5 seconds"), "Failure")
      yield* Effect.sleep("500 millis")
      for (const { heard, over, socket } of dead) {
        socket.resume()
        yield* over
        assert.isBelow(heard().length, 31 * MiB)
      }
    }))

  it.live("is not taken for one that reads, or that there is nothing to read for", () =>
    Effect.gen(function*() {
      const [first, last] = [
        Stream.make(bytes(3 * MiB)),
        Stream.fromEffect(Effect.delay(Effect.succeed(bytes(1)), 1100))
      ]
      const routes = Layer.merge(whole, at("/late", HttpServerResponse.stream(Stream.concat(first, last))))
      const port = yield* serve(routes, { deadReader: "800 millis" })
      assert.strictEqual(bodyOf(yield* raw(port, [head("GET /whole")])).length, 32 * MiB)
      assert.match(yield* raw(port, [head("GET /late")]), /\r\n0\r\n\r\n$/)
    }))
})

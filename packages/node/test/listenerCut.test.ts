/** Connections that say nonsense, and clients that leave at whatever moment: the server goes on, and nothing of them is left. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import * as fc from "fast-check"
import { connect } from "node:net"
import { eventually, head, peer, raw } from "./support/raw.ts"
import { bodyOf, quietly, serve, statusOf } from "./support/serving.ts"

const { text } = HttpServerResponse
const hello = HttpRouter.add("GET", "/", text("hello"))
const get = head("GET /")

describe("nonsense", () => {
  it.live("is refused by its connection alone, without a word about the server", () =>
    Effect.gen(function*() {
      const port = yield* serve(hello)
      const rows: ReadonlyArray<readonly [said: string, status: number]> = [
        ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
        ["\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400],
        ["CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n", 0],
        ["GET / HTTP/1.1\r\n\r\n", 400],
        ["GET /\0 HTTP/1.1\r\nhost: a\r\n\r\n", 400],
        ["GET / HTTP/1.1\r\nhost: a\r\nx: \0\r\n\r\n", 400],
        [`GET /${"x".repeat(2 ** 21)} HTTP/1.1\r\nhost: a\r\n\r\n`, 431],
        [`GET / HTTP/1.1\r\nhost: a\r\n${"x: 1\r\n".repeat(3000)}\r\n`, 431],
        ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n", 400],
        ["POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", 400],
        ["GET / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n", 200],
        ["\0".repeat(2 ** 16), 400]
      ]
      for (const [said, status] of rows) {
        const answer = yield* Effect.timeout(raw(port, [said]), "2 seconds")
        assert.strictEqual(statusOf(answer), status, said.slice(0, 60))
        assert.notMatch(answer, /node|listener|stack|\/home|\.ts|\.js/i)
      }
      assert.strictEqual(bodyOf(yield* raw(port, [get])), "hello")
    }))
})

describe("clients that leave", () => {
  it.live("at whatever moment leave no handler behind that goes on, and every finalizer has run", () =>
    Effect.gen(function*() {
      let opened = 0
      let closed = 0
      const counted = <E, R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
        Effect.andThen(
          Effect.acquireRelease(Effect.sync(() => opened++), () => Effect.sync(() => closed++)),
          Effect.orDie(effect)
        )
      const request = HttpServerRequest.HttpServerRequest
      const ticks = Stream.tick("2 millis").pipe(Stream.take(20), Stream.map(() => new Uint8Array(2000)))
      const port = yield* serve(Layer.mergeAll(
        HttpRouter.add("POST", "/read", counted(Effect.map(Effect.flatMap(request, (it) => it.text), text))),
        HttpRouter.add(
          "POST",
          "/parts",
          counted(Effect.as(Effect.flatMap(request, ({ stream }) => Stream.runDrain(stream)), text("x")))
        ),
        HttpRouter.add("POST", "/work", counted(Effect.as(Effect.sleep("20 millis"), text("x")))),
        HttpRouter.add("POST", "/stream", counted(Effect.succeed(HttpServerResponse.stream(ticks)))),
        HttpRouter.add(
          "POST",
          "/large",
          counted(Effect.succeed(HttpServerResponse.uint8Array(new Uint8Array(2 ** 22))))
        )
      ))
      const leaving = fc.record({
        path: fc.constantFrom("/read", "/parts", "/work", "/stream", "/large"),
        size: fc.constantFrom(10, 70_000),
        chunked: fc.boolean(),
        said: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
        after: fc.integer({ min: 0, max: 30 }),
        how: fc.constantFrom("end", "destroy", "reset", "pause")
      })
      const leave = (
        { after, chunked, how, path, said, size }: typeof leaving extends fc.Arbitrary<infer A> ? A : never
      ) =>
        new Promise<void>((resolve) => {
          const body = "x".repeat(size)
          const whole = chunked
            ? `${head(`POST ${path}`, { "transfer-encoding": "chunked" }, true)}${
              size.toString(16)
            }\r\n${body}\r\n0\r\n\r\n`
            : head(`POST ${path}`, { "content-length": size }, true) + body
          const socket = connect(port, "127.0.0.1", () => {
            if (how === "pause") socket.pause()
            socket.write(whole.slice(0, Math.ceil(said * whole.length)))
            setTimeout(() => {
              if (how === "end") socket.end()
              else if (how === "reset") socket.resetAndDestroy()
              else socket.destroy()
              resolve()
            }, after)
          })
          socket.on("error", () => {}).resume()
        })
      const crowd = fc.array(leaving, { minLength: 25, maxLength: 25 })
      yield* Effect.promise(() =>
        fc.assert(fc.asyncProperty(crowd, (all) => Promise.all(all.map(leave)).then(() => {})), { numRuns: 12 })
      )
      yield* eventually("the end of all", () => opened === closed)
      assert.isAbove(opened, 50)
      assert.strictEqual(statusOf(yield* raw(port, [head("POST /work", { "content-length": 0 })])), 200)
    }).pipe(quietly))

  it.live("in crowds, before they have said a word, are no burden", () =>
    Effect.gen(function*() {
      const port = yield* serve(hello)
      const silent = yield* Effect.forEach(Array.from({ length: 300 }), () => peer(port), { concurrency: 100 })
      assert.strictEqual(bodyOf(yield* raw(port, [get])), "hello")
      for (const { socket } of silent) socket.destroy()
      assert.strictEqual(bodyOf(yield* raw(port, [get])), "hello")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Queue, Scope } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { request as httpRequest } from "node:http"
import { connect } from "node:net"
import { Endpoint } from "../src/Endpoint.ts"
import * as StreamableHttpServer from "../src/StreamableHttpServer.ts"
import {
  admitted,
  attached,
  held,
  limited,
  note,
  ping,
  reading,
  refused,
  request,
  scripted,
  type Service,
  sse
} from "./support/http.ts"
import { type Serve, servers } from "./support/nodeServers.ts"

/** The endpoint on a real socket; gives its port. */
const listenOver =
  (serve: Serve) => (endpoint: Service, beside: Layer.Layer<never, never, HttpRouter.HttpRouter> = Layer.empty) =>
    serve(Layer.merge(Layer.provide(StreamableHttpServer.routes(), Layer.succeed(Endpoint, endpoint)), beside))

const fetchFrom = (port: number, call: Parameters<typeof request>[0]) =>
  Effect.promise(() => fetch(request({ url: `http://127.0.0.1:${port}/mcp`, ...call })))

/** Writes bytes to a socket as given and reads until it closes. */
const raw = (port: number, writes: ReadonlyArray<string | Uint8Array>) =>
  Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => text += chunk.toString("utf8"))
    socket.on("close", () => resume(Effect.succeed(text)))
    socket.on("error", () => {})
    const next = (i: number): void => {
      const piece = writes[i]
      if (piece === undefined) return
      socket.write(piece)
      setImmediate(() => next(i + 1))
    }
    socket.on("connect", () => next(0))
    return Effect.sync(() => socket.destroy())
  })

/** What comes first on a socket, which is closed then. */
const firstPiece = (port: number, written: string) =>
  Effect.callback<string>((resume) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(written))
    socket.once("data", (chunk) => {
      resume(Effect.succeed(chunk.toString("utf8")))
      socket.destroy()
    })
    return Effect.sync(() => socket.destroy())
  })

const head = (lines: ReadonlyArray<string>) => lines.join("\r\n") + "\r\n\r\n"
const body = JSON.stringify(ping)
const post = [
  "Host: 127.0.0.1",
  "Content-Type: application/json",
  "Accept: application/json, text/event-stream",
  "Connection: close"
]
const pong = JSON.stringify({ jsonrpc: "2.0", id: 1, result: { method: "ping", era: "Legacy" } })

describe.each(servers)("over a socket of %s", (_, serve) => {
  const listen = listenOver(serve)

  it.live("[field HTP-36] an HTTP/1.0 client gets a whole answer without chunks; without a host it gets 403", () =>
    Effect.gen(function*() {
      const port = yield* listen(scripted({
        handle: ({ message, outlet }) =>
          Effect.gen(function*() {
            yield* outlet.push(note(1))
            yield* Effect.yieldNow
            if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, {}))
            return {}
          })
      }))
      const length = `Content-Length: ${body.length}`
      const old = yield* raw(port, [head(["POST /mcp HTTP/1.0", ...post, length]) + body])
      assert.match(old, /^HTTP\/1\.1 200 OK\r\n/)
      assert.notMatch(old, /transfer-encoding/i)
      assert.strictEqual(old.slice(old.indexOf("\r\n\r\n") + 4), sse(note(1), { jsonrpc: "2.0", id: 1, result: {} }))
      const hostless = yield* raw(port, [head(["POST /mcp HTTP/1.0", ...post.slice(1), length]) + body])
      assert.match(hostless, /^HTTP\/1\.1 403 /)
      assert.include(hostless, JSON.stringify(refused(-32600, "Invalid request: Header Host is missing")))
    }))

  it.live("[field FRM-02] a body that comes byte by byte arrives whole", () =>
    Effect.gen(function*() {
      const seen = yield* Queue.unbounded<unknown>()
      const port = yield* listen(scripted({
        handle: (exchange) => {
          Queue.offerUnsafe(seen, "params" in exchange.message ? exchange.message.params?.["t"] : undefined)
          return scripted().handle(exchange)
        }
      }))
      const bytes = new TextEncoder().encode(JSON.stringify(JsonRpc.request(1, "ping", { t: "é—🎉" })))
      const pieces = [...bytes].map((byte) => new Uint8Array([byte]))
      const answer = yield* raw(port, [
        head(["POST /mcp HTTP/1.1", ...post, `Content-Length: ${bytes.length}`]),
        ...pieces
      ])
      assert.include(answer, pong)
      assert.strictEqual(yield* Queue.take(seen), "é—🎉")
    }))

  it.live("a body that breaks while an answer to another request is under way on its connection ends no more than that", () =>
    Effect.gen(function*() {
      const uncaught = yield* Effect.acquireRelease(
        Effect.sync(() => {
          const errors: Array<unknown> = []
          const note = (error: unknown) => void errors.push(error)
          process.on("uncaughtExceptionMonitor", note)
          return { errors, note }
        }),
        ({ note }) => Effect.sync(() => process.off("uncaughtExceptionMonitor", note))
      )
      const port = yield* listen(
        scripted(),
        HttpRouter.add("GET", "/slow", Effect.as(Effect.sleep(30), HttpServerResponse.text("slow")))
      )
      const slow = head(["GET /slow HTTP/1.1", "Host: 127.0.0.1"])
      const chunked = head(["POST /mcp HTTP/1.1", ...post.slice(0, 3), "Transfer-Encoding: chunked"])
      const asking = head([
        "POST /mcp HTTP/1.1",
        ...post.slice(0, 3),
        "Transfer-Encoding: chunked",
        "Expect: 100-continue"
      ])
      for (const broken of [`${chunked}zz\r\n`, `${chunked}2\r\n{}\r\nzz\r\n`, `${asking}zz\r\n`]) {
        yield* raw(port, [slow + broken])
      }
      yield* Effect.sleep(50)
      assert.deepStrictEqual(uncaught.errors, [])
      const whole = head(["POST /mcp HTTP/1.1", ...post, `Content-Length: ${body.length}`]) + body
      assert.include(yield* raw(port, [whole]), pong)
    }))

  it.live("a client that asks before it sends is told to go on", () =>
    Effect.gen(function*() {
      const port = yield* listen(scripted())
      const answer = yield* raw(port, [
        head(["POST /mcp HTTP/1.1", ...post, `Content-Length: ${body.length}`, "Expect: 100-continue"]),
        body
      ])
      assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/)
      assert.include(answer, pong)
    }))

  it.live("a body that a middleware has read already is not lost", () =>
    Effect.gen(function*() {
      const texts: Array<string> = []
      const reader = HttpRouter.middleware(
        (app) =>
          Effect.gen(function*() {
            const request = yield* HttpServerRequest.HttpServerRequest
            texts.push(yield* Effect.orDie(request.text))
            return yield* app
          }),
        { global: true }
      )
      const port = yield* listen(scripted(), reader)
      const response = yield* fetchFrom(port, { body: ping })
      assert.deepStrictEqual(texts, [body])
      assert.strictEqual(response.status, 200)
      assert.strictEqual(yield* Effect.promise(() => response.text()), pong)
    }))

  it.live("[field HTP-29] a huge body is cut at the limit, announced or chunked, and others are served meanwhile", () =>
    Effect.gen(function*() {
      const port = yield* listen(scripted())
      const upload = (headers: Record<string, string | number>) =>
        Effect.callback<number>((resume) => {
          const client = httpRequest({
            port,
            host: "127.0.0.1",
            path: "/mcp",
            method: "POST",
            headers: { "content-type": "application/json", ...headers }
          })
          const block = Buffer.alloc(64 * 1024, 0x20)
          let sent = 0
          let answered = false
          const more = (): void => {
            while (sent < 50 * 1024 * 1024 && !client.destroyed && !answered) {
              sent += block.length
              if (!client.write(block)) return void client.once("drain", more)
            }
          }
          client.on("response", (response) => {
            answered = true
            response.resume()
            resume(Effect.succeed(response.statusCode ?? 0))
            client.destroy()
          })
          client.on("error", () => resume(Effect.succeed(0)))
          more()
        })
      const uploads = yield* Effect.forkChild(
        Effect.all([upload({ "content-length": 50 * 1024 * 1024 }), upload({ "transfer-encoding": "chunked" })], {
          concurrency: 2
        })
      )
      assert.strictEqual((yield* fetchFrom(port, { body: ping })).status, 200)
      assert.deepStrictEqual(yield* Fiber.join(uploads), [413, 413])
      assert.strictEqual((yield* fetchFrom(port, { body: ping })).status, 200)
    }))

  it.live("[field HTP-16] [field HTP-35] events are seen before the work is done, and the end of the body is no leaving", () =>
    Effect.gen(function*() {
      let left = 0
      const { endpoint, next } = yield* held(() => left++)
      const port = yield* listen(endpoint)
      const fiber = yield* Effect.forkChild(fetchFrom(port, { body: ping }))
      const { outlet } = yield* next
      yield* outlet.push(note(1))
      const events = reading(yield* Fiber.join(fiber))
      assert.strictEqual(yield* events.next, sse(note(1)))
      yield* outlet.push(note(2))
      yield* outlet.push(note(3))
      outlet.answer(JsonRpc.success(1, {}))
      assert.strictEqual(yield* events.rest, sse(note(2), note(3), { jsonrpc: "2.0", id: 1, result: {} }))
      assert.strictEqual(left, 0)
    }))

  it.live("[field HTP-26] [field HTP-27] a cut socket is told once, whenever it is cut, and later calls are served", () =>
    Effect.gen(function*() {
      const left = yield* Queue.unbounded<JsonRpc.RequestId>()
      const { endpoint, next } = yield* held(({ message }) => {
        if (JsonRpc.isRequest(message)) Queue.offerUnsafe(left, message.id)
      })
      const port = yield* listen(endpoint)
      const lines = head(["POST /mcp HTTP/1.1", ...post, `Content-Length: ${body.length}`])
      const waiting = yield* Effect.forkChild(raw(port, [lines + body]))
      const first = yield* next
      yield* Fiber.interrupt(waiting)
      assert.strictEqual(yield* Queue.take(left), 1)
      first.outlet.answer(JsonRpc.success(1, {}))
      const streaming = yield* Effect.forkChild(raw(port, [lines + body]))
      const second = yield* next
      yield* second.outlet.push(note(1))
      yield* Fiber.interrupt(streaming)
      assert.strictEqual(yield* Queue.take(left), 1)
      yield* second.outlet.push(note(2))
      second.outlet.answer(JsonRpc.success(1, {}))
      const third = yield* Effect.forkChild(fetchFrom(port, { body: ping }))
      const { outlet } = yield* next
      outlet.answer(JsonRpc.success(1, {}))
      assert.strictEqual((yield* Fiber.join(third)).status, 200)
      assert.strictEqual(yield* Queue.size(left), 0)
    }))

  it.live.each([["1.0", ":\n\n"], ["1.1", "3\r\n:\n\n\r\n"]])(
    "the stream of a session begins in one piece, with its head and a comment, over HTTP/%s",
    ([version, opening]) =>
      Effect.gen(function*() {
        const { attach, next } = yield* attached
        const port = yield* listen(scripted({ attach }))
        const asked = ["Host: 127.0.0.1", "Accept: text/event-stream", "Mcp-Session-Id: s"]
        const text = yield* firstPiece(port, head([`GET /mcp HTTP/${version}`, ...asked]))
        assert.match(text, /^HTTP\/1\.1 200 OK\r\n/)
        assert.strictEqual(text.slice(text.indexOf("\r\n\r\n") + 4), opening)
        yield* Deferred.await((yield* next).left)
      })
  )

  it.live("a reader that takes nothing for too long is cut off", () =>
    Effect.gen(function*() {
      const left = yield* Queue.unbounded<unknown>()
      const { endpoint, next } = yield* held(({ message }) => Queue.offerUnsafe(left, message))
      const { attach, next: nextStream } = yield* attached
      const port = yield* listen({ ...endpoint, attach })
      const text = "x".repeat(1024 * 1024)
      const blocked = (lines: string) =>
        Effect.callback<void>((resume) => {
          const socket = connect(port, "127.0.0.1")
          socket.pause()
          socket.on("connect", () => socket.write(lines))
          socket.on("error", () => {})
          socket.on("close", () => resume(Effect.void))
          return Effect.sync(() => socket.destroy())
        })
      const post1 = yield* Effect.forkChild(
        blocked(head(["POST /mcp HTTP/1.1", ...post, `Content-Length: ${body.length}`]) + body)
      )
      const { outlet } = yield* next
      yield* Effect.forkChild(Effect.forever(outlet.push(JsonRpc.notification("n", { text }))))
      assert.deepStrictEqual(yield* Queue.take(left), ping)
      yield* Fiber.interrupt(post1)
      const get = yield* Effect.forkChild(blocked(head(["GET /mcp HTTP/1.1", ...post])))
      const { left: gone, link } = yield* nextStream
      yield* Effect.flip(Effect.forever(link.send(JsonRpc.notification("n", { text }))))
      yield* Deferred.await(gone)
      yield* Fiber.interrupt(get)
    }).pipe(limited({ outgoingMessages: 2, deadReader: Duration.millis(100) })))

  it.live("a large answer arrives whole", () =>
    Effect.gen(function*() {
      const text = "é".repeat(2 * 1024 * 1024)
      const port = yield* listen(scripted({
        handle: ({ message, outlet }) => {
          if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { text }))
          return admitted
        }
      }))
      const response = yield* fetchFrom(port, { body: ping })
      const json = yield* Effect.promise(() => response.json())
      assert.strictEqual(json.result.text, text)
    }))

  it.live("[field SHT-02] fifty idle streams do not hold up the end of the server", () =>
    Effect.gen(function*() {
      const { attach, next } = yield* attached
      const scope = yield* Scope.make()
      const http = yield* Scope.provide(
        Effect.provideService(StreamableHttpServer.make(), Endpoint, scripted({ attach })),
        scope
      )
      const port = yield* Scope.provide(serve(StreamableHttpServer.route(http)), scope)
      const streams = yield* Effect.forEach(
        Array.from({ length: 50 }),
        () => Effect.map(fetchFrom(port, { method: "GET" }), reading),
        { concurrency: 50 }
      )
      yield* Effect.forEach(streams, () => next)
      yield* http.drain
      yield* Effect.timeout(Scope.close(scope, Exit.void), "2 seconds")
      for (const stream of streams) assert.strictEqual(yield* stream.rest, ":\n\n")
    }))
})

/** The server under the routes: where it listens, what it bounds, how it ends. */
import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Queue, Scope } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { readFileSync } from "node:fs"
import { createServer, request, type Server, type ServerOptions } from "node:http"
import { createServer as createSecureServer, request as secureRequest } from "node:https"
import { connect } from "node:net"
import { connect as connectSecurely } from "node:tls"
import { NodeListener } from "../src/index.ts"
import { head, raw } from "./support/raw.ts"

const { text } = HttpServerResponse
const hello = HttpRouter.add("GET", "/", text("hello"))
const Now = McpServer.tool(Tool.make("now"), () => Effect.succeed("now"))
const info = { name: "t", version: "1" }

const [key, cert] = ["key", "cert"].map((name) =>
  readFileSync(new URL(`./fixtures/login.${name}.pem`, import.meta.url))
)
const overTls = (settings: ServerOptions): Server => createSecureServer({ ...settings, key, cert })

const addressOf = <E, R>(serving: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Effect.map(Layer.build(serving), (context) => {
    const { address } = Context.get(context, HttpServer.HttpServer)
    return "port" in address ? address : assert.fail("no port")
  })

const portOf = <E, R>(serving: Layer.Layer<HttpServer.HttpServer, E, R>) =>
  Effect.map(addressOf(serving), ({ port }) => port)

const get = head("GET /")
const bodyOf = (answer: string): string => answer.slice(answer.indexOf("\r\n\r\n") + 4)
const statusOf = (answer: string): number => Number(answer.slice(9, 12))

describe("where it listens", () => {
  it.live("[HTTP-04] on the loopback interface, on a free port, unless it is told otherwise", () =>
    Effect.gen(function*() {
      const address = yield* addressOf(NodeListener.layer(hello))
      assert.strictEqual(HttpServer.formatAddress(address), `http://127.0.0.1:${address.port}`)
      assert.strictEqual(bodyOf(yield* raw(address.port, [get])), "hello")
    }))

  it.live("[HTTP-04] elsewhere only where every endpoint says which hosts it answers to", () =>
    Effect.gen(function*() {
      const open = McpServer.layerHttp(Now, { ...info, allowedHosts: ["mcp.example.com"] })
      const closed = McpServer.layerHttp(Now, { ...info, path: "/other", sse: true })
      const both = NodeListener.layer(Layer.merge(open, closed), { host: "0.0.0.0" })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(both)))
      assert.strictEqual(error._tag, "Exposed")
      assert.strictEqual(
        error.message,
        "an endpoint without allowedHosts is not to be reached at 0.0.0.0: give it the names it is reached by"
      )
      const port = yield* portOf(NodeListener.layer(open, { host: "0.0.0.0" }))
      const send = (host: string) => raw(port, [`GET /mcp HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`])
      assert.strictEqual(statusOf(yield* send("127.0.0.1")), 403)
      assert.notStrictEqual(statusOf(yield* send("mcp.example.com")), 403)
    }))

  it.live("says why it cannot, once the routes stand", () =>
    Effect.gen(function*() {
      const port = yield* portOf(NodeListener.layer(hello))
      const taken = yield* Effect.flip(Effect.scoped(Layer.build(NodeListener.layer(hello, { port }))))
      assert.deepInclude(taken, { _tag: "CannotListen", reason: "taken", code: "EADDRINUSE" })
      const absent = yield* Effect.flip(Effect.scoped(Layer.build(NodeListener.layer(hello, { host: "192.0.2.1" }))))
      assert.deepInclude(absent, { _tag: "CannotListen", reason: "absent", address: "192.0.2.1:0" })
      const failing = NodeListener.layer(Layer.effectDiscard(Effect.fail("no routes")), { port })
      assert.strictEqual(yield* Effect.flip(Effect.scoped(Layer.build(failing))), "no routes")
    }))

  it.live("a server of one's own making gets the bounds", () =>
    Effect.gen(function*() {
      let made: Server | undefined
      const serving = NodeListener.layer(hello, {
        createServer: (settings) => made = createServer(settings),
        headersTimeout: "7 seconds",
        requestTimeout: "9 seconds",
        keepAliveTimeout: "2 seconds",
        maxConnections: 5
      })
      const port = yield* portOf(serving)
      assert.deepInclude(made, {
        headersTimeout: 7000,
        requestTimeout: 9000,
        keepAliveTimeout: 2000,
        maxConnections: 5
      })
      assert.strictEqual(bodyOf(yield* raw(port, [get])), "hello")
    }))

  it.live("behind TLS", () =>
    Effect.gen(function*() {
      const port = yield* portOf(NodeListener.layer(hello, { createServer: overTls }))
      const answer = yield* Effect.callback<string>((resume) => {
        secureRequest({ port, host: "127.0.0.1", rejectUnauthorized: false, agent: false }, (response) => {
          response.on("data", (chunk) => resume(Effect.succeed(String(chunk))))
        }).end()
      })
      assert.strictEqual(answer, "hello")
    }))

  it.live("as an HttpServer of any application", () =>
    Effect.gen(function*() {
      const serving = HttpRouter.serve(hello, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeListener.layerServer())
      )
      assert.strictEqual(bodyOf(yield* raw(yield* portOf(serving), [get])), "hello")
      const bare = yield* portOf(NodeListener.layerServer())
      assert.strictEqual(statusOf(yield* raw(bare, [get])), 503)
    }))
})

describe("what it bounds", () => {
  it.live("headers that are too many, too long, or too slow", () =>
    Effect.gen(function*() {
      const port = yield* portOf(
        NodeListener.layer(hello, { maxHeaders: 10, maxHeaderBytes: 2048, headersTimeout: "500 millis" })
      )
      const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`x-${i}`, "1"]))
      assert.strictEqual(statusOf(yield* raw(port, [head("GET /", many(8))])), 200)
      assert.strictEqual(statusOf(yield* raw(port, [head("GET /", many(9))])), 431)
      assert.strictEqual(statusOf(yield* raw(port, [head("GET /", { "x-long": "x".repeat(3000) })])), 431)
      assert.strictEqual(statusOf(yield* raw(port, ["GET / HTTP/1.1\r\nhost: a\r\n"])), 408)
    }))

  it.live("[field HTP-30] bodies that never come to their end, small and large", () =>
    Effect.gen(function*() {
      const port = yield* portOf(
        NodeListener.layer(McpServer.layerHttp(Now, info), {
          requestTimeout: "700 millis",
          headersTimeout: "500 millis"
        })
      )
      const type = { "content-type": "application/json", accept: "application/json, text/event-stream" }
      for (const length of [100, 100_000]) {
        const answer = yield* raw(port, [head("POST /mcp", { ...type, "content-length": length }), "{"])
        assert.strictEqual(statusOf(answer), 408)
      }
    }))

  it.live("connections past the limit are closed", () =>
    Effect.gen(function*() {
      const port = yield* portOf(NodeListener.layer(hello, { maxConnections: 1 }))
      const first = connect(port, "127.0.0.1")
      yield* Effect.promise(() => new Promise<void>((resolve) => first.once("connect", () => resolve())))
      assert.strictEqual(yield* raw(port, [get]), "")
      first.destroy()
    }))

  it.live("what follows on the same connection is answered in order, whatever came before", () =>
    Effect.gen(function*() {
      const echo = HttpRouter.add("POST", "/", HttpServerResponse.empty({ status: 413 }))
      const port = yield* portOf(NodeListener.layer(Layer.merge(hello, echo)))
      const unread = head("POST /", { "content-length": 100_000 }, true) + "x".repeat(100_000)
      const answer = yield* raw(port, [unread + head("GET /", {}, true) + get])
      assert.deepStrictEqual(answer.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 413", "HTTP/1.1 200", "HTTP/1.1 200"])
      // An endless one costs the connection.
      const endless = head("POST /", { "content-length": 10_000_000 }, true)
      assert.match(yield* raw(port, [endless, "x".repeat(400_000)]), /^HTTP\/1\.1 413 [^]*connection: close/i)
    }))

  it.live("nothing is upgraded: the request is answered", () =>
    Effect.gen(function*() {
      const port = yield* portOf(NodeListener.layer(hello))
      const answer = yield* raw(port, [
        "GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade, close\r\nupgrade: websocket\r\n\r\n"
      ])
      assert.strictEqual(statusOf(answer), 200)
    }))

  it.live("a client that asks before it sends is not asked for what is refused", () =>
    Effect.gen(function*() {
      const port = yield* portOf(
        NodeListener.layer(HttpRouter.add("POST", "/", HttpServerResponse.empty({ status: 413 })))
      )
      const answer = yield* raw(port, [head("POST /", { "content-length": 5, expect: "100-continue" }, true)])
      assert.match(answer, /^HTTP\/1\.1 413 [^]*connection: close/i)
    }))
})

describe("how it ends", () => {
  const gated = Effect.gen(function*() {
    const started = yield* Queue.unbounded<void>()
    const gate = yield* Deferred.make<void>()
    let interrupted = 0
    const handler = Effect.andThen(Queue.offer(started, undefined), Deferred.await(gate)).pipe(
      Effect.as(text("done")),
      Effect.onInterrupt(() => Effect.sync(() => interrupted++))
    )
    return { gate, interrupted: () => interrupted, routes: HttpRouter.add("GET", "/", handler), started }
  })

  it.live("requests in flight are answered, new connections are not taken", () =>
    Effect.gen(function*() {
      const { gate, routes, started } = yield* gated
      const scope = yield* Scope.make()
      const port = yield* Scope.provide(portOf(NodeListener.layer(routes)), scope)
      const answer = yield* Effect.forkChild(raw(port, [head("GET /", {}, true)]))
      yield* Queue.take(started)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* Effect.sleep("50 millis")
      assert.strictEqual(yield* raw(port, [get]), "")
      yield* Deferred.succeed(gate, undefined)
      const text = yield* Fiber.join(answer)
      assert.strictEqual(bodyOf(text), "done")
      assert.match(text, /connection: close/i)
      yield* Fiber.join(closing)
    }))

  it.live("a client that closes its half of the connection has left", () =>
    Effect.gen(function*() {
      const { interrupted, routes, started } = yield* gated
      const port = yield* portOf(NodeListener.layer(routes))
      yield* Effect.callback<void>((resume) => {
        const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true })
        Effect.runFork(Effect.andThen(Queue.take(started), Effect.sync(() => socket.end())))
        socket.on("data", () => {})
        socket.on("end", () => {
          socket.destroy()
          resume(Effect.void)
        })
        socket.write(get)
      })
      yield* Effect.sleep("50 millis")
      assert.strictEqual(interrupted(), 1)
    }))

  it.live("what takes longer than it may is interrupted", () =>
    Effect.gen(function*() {
      const { interrupted, routes, started } = yield* gated
      const scope = yield* Scope.make()
      const port = yield* Scope.provide(portOf(NodeListener.layer(routes, { drainTimeout: "100 millis" })), scope)
      const answer = yield* Effect.forkChild(raw(port, [get]))
      yield* Queue.take(started)
      yield* Effect.timeout(Scope.close(scope, Exit.void), "3 seconds")
      assert.strictEqual(interrupted(), 1)
      assert.strictEqual(statusOf(yield* Fiber.join(answer)), 503)
    }))

  it.live("connections that wait for their next request do not hold it up", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const port = yield* Scope.provide(portOf(NodeListener.layer(hello)), scope)
      const idle = yield* Effect.forkChild(raw(port, [head("GET /", {}, true)]))
      yield* Effect.sleep("50 millis")
      yield* Effect.timeout(Scope.close(scope, Exit.void), "2 seconds")
      assert.strictEqual(bodyOf(yield* Fiber.join(idle)), "hello")
    }))

  for (const secure of [false, true]) {
    it.live(`connections that never had a request do not hold it up, ${secure ? "with" : "without"} TLS`, () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const options = secure ? { createServer: overTls } : {}
        const port = yield* Scope.provide(portOf(NodeListener.layer(hello, options)), scope)
        const ended = yield* Deferred.make<void>()
        yield* Effect.callback<void>((resume) => {
          const to = { port, host: "127.0.0.1" }
          const opened = (): void => resume(Effect.void)
          const socket = secure ? connectSecurely({ ...to, rejectUnauthorized: false }, opened) : connect(to, opened)
          socket.on("error", () => {}).on("close", () => Deferred.doneUnsafe(ended, Exit.void)).resume()
        })
        yield* Effect.timeout(Scope.close(scope, Exit.void), "2 seconds")
        yield* Deferred.await(ended)
      }))
  }
})

describe("in a server of somebody else", () => {
  const behind = Effect.fnUntraced(function*(scope: Scope.Scope) {
    const listener = yield* Scope.provide(NodeListener.make(hello, { drainTimeout: "100 millis" }), scope)
    const server = createServer((request, response) =>
      listener(request, response, () => void response.writeHead(418).end("not ours"))
    )
    yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
    yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
    const address = server.address()
    return typeof address === "object" && address !== null ? address.port : 0
  })

  it.live("routes are answered, the rest is left alone, and after the end there is a 503", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const port = yield* behind(scope)
      assert.strictEqual(bodyOf(yield* raw(port, [get])), "hello")
      const other = yield* raw(port, [head("POST /other", { "content-length": 3 }) + "abc"])
      assert.strictEqual(statusOf(other), 418)
      assert.include(other, "not ours")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(statusOf(yield* raw(port, [get])), 503)
    }))

  it.live("a body that it does not take is there for the next", () =>
    Effect.gen(function*() {
      const listener = yield* NodeListener.make(hello)
      const server = createServer((incoming, response) =>
        listener(incoming, response, () => {
          let body = ""
          incoming.on("data", (chunk) => {
            body += String(chunk)
          })
          incoming.on("end", () => response.end(body))
        })
      )
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close()))
      yield* Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void)))
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const text = yield* Effect.callback<string>((resume) => {
        const sent = request({ port, host: "127.0.0.1", method: "POST", path: "/x" }, (response) => {
          let all = ""
          response.on("data", (chunk) => {
            all += String(chunk)
          })
          response.on("end", () => resume(Effect.succeed(all)))
        })
        sent.end("for the next")
      })
      assert.strictEqual(text, "for the next")
    }))
})

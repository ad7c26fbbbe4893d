import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Effect, Fiber, Layer, Queue } from "effect"
import { FetchHttpClient, type HttpClient, HttpRouter } from "effect/http"
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Endpoint } from "../src/Endpoint.ts"
import type { Exchange } from "../src/Exchange.ts"
import * as StreamableHttpClient from "../src/StreamableHttpClient.ts"
import * as StreamableHttpServer from "../src/StreamableHttpServer.ts"
import { admitted, attached, limited, modern, note, ping, scripted, type Service } from "./support/http.ts"
import { agree, failure, success } from "./support/httpClient.ts"

/** A bare server; gives its port. */
const bare = (listener: RequestListener) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(listener)
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    ),
    (server) => (server.address() as AddressInfo).port
  )

/** The transport's own server; gives its port. */
const served = Effect.fnUntraced(function*(endpoint: Service) {
  const server = createServer()
  yield* Layer.build(
    HttpRouter.serve(Layer.provide(StreamableHttpServer.routes(), Layer.succeed(Endpoint, endpoint)), {
      disableLogger: true,
      disableListenLog: true
    }).pipe(
      Layer.provide(
        NodeHttpServer.layer(() => server, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "1 second" })
      )
    )
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  return (server.address() as AddressInfo).port
})

const clients: Record<string, Layer.Layer<HttpClient.HttpClient>> = {
  fetch: FetchHttpClient.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp
}

const connect = Effect.fnUntraced(function*(
  url: string,
  layer: Layer.Layer<HttpClient.HttpClient> = FetchHttpClient.layer,
  handle: Service["handle"] = () => admitted
) {
  const got = yield* Queue.unbounded<Exchange>()
  const transport = yield* Effect.provideContext(StreamableHttpClient.make({ url }), yield* Layer.build(layer))
  const link = yield* transport.connect(scripted({
    handle: (exchange) => {
      Queue.offerUnsafe(got, exchange)
      return handle(exchange)
    }
  }))
  return { link, got, messages: Effect.map(Queue.clear(got), (all) => all.map(({ message }) => message)) }
})

const mcp = (port: number) => `http://127.0.0.1:${port}/mcp`
const bodyOf = (request: IncomingMessage) =>
  new Promise<string>((resolve) => {
    let text = ""
    request.on("data", (chunk: Buffer) => text += chunk.toString("utf8"))
    request.on("end", () => resolve(text))
  })
const answer = (response: ServerResponse, message: unknown, status = 200) =>
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(message))

for (const [name, layer] of Object.entries(clients)) {
  describe(`both ends, over ${name}`, () => {
    it.live("requests, notifications, streams and sessions go there and back", () =>
      Effect.gen(function*() {
        const { attach, next } = yield* attached
        const sessions: Array<unknown> = []
        const terminated = yield* Deferred.make<unknown>()
        const port = yield* served(scripted({
          attach,
          terminate: (facts) => Effect.asVoid(Deferred.succeed(terminated, facts.sessionId)),
          handle: (exchange) => {
            const { facts, message, outlet } = exchange
            sessions.push([facts.sessionId, facts.protocolVersion])
            if (!JsonRpc.isRequest(message)) return admitted
            if (message.method === "initialize") {
              outlet.answer(JsonRpc.success(message.id, {}))
              return Effect.succeed({ sessionId: "s-1" })
            }
            return Effect.gen(function*() {
              yield* outlet.push(note(1))
              yield* Effect.yieldNow
              outlet.answer(JsonRpc.success(message.id, { t: "é—🎉" }))
              return {}
            })
          }
        }))
        yield* Effect.scoped(Effect.gen(function*() {
          const { got, link, messages } = yield* connect(mcp(port), layer)
          yield* agree(link)
          const stream = yield* next
          yield* messages
          yield* link.send(ping)
          assert.deepStrictEqual(yield* messages, [note(1), success(1, { t: "é—🎉" })])
          yield* stream.link.send(note(2))
          assert.deepStrictEqual((yield* Queue.take(got)).message, note(2))
        }))
        assert.strictEqual(yield* Deferred.await(terminated), "s-1")
        assert.deepStrictEqual(sessions, [[undefined, undefined], ["s-1", "2025-11-25"], ["s-1", "2025-11-25"]])
      }))

    it.live("[HTTP-58] a modern request is repeated in its headers as the server wants it", () =>
      Effect.gen(function*() {
        const port = yield* served(scripted())
        const { link, messages } = yield* connect(mcp(port), layer)
        for (const name of ["add", "café", " edge ", "=?base64?YQ==?=", "a\nb"]) {
          yield* link.send(modern(1, "tools/call", { name }))
          assert.deepStrictEqual(yield* messages, [success(1, { method: "tools/call", era: "Modern" })])
        }
      }))

    it.live("[HTTP-62] interrupting a request is seen by the server, before and in the stream", () =>
      Effect.gen(function*() {
        const left = yield* Queue.unbounded<unknown>()
        const came = yield* Queue.unbounded<Exchange>()
        const port = yield* served(scripted({
          handle: (exchange) => {
            Queue.offerUnsafe(came, exchange)
            return Effect.succeed({ disconnected: () => Queue.offerUnsafe(left, exchange.message) })
          }
        }))
        const { got, link } = yield* connect(mcp(port), layer)
        const waiting = yield* Effect.forkChild(link.send(ping))
        yield* Queue.take(came)
        yield* Fiber.interrupt(waiting)
        assert.deepStrictEqual(yield* Queue.take(left), ping)
        const streaming = yield* Effect.forkChild(link.send(ping))
        const { outlet } = yield* Queue.take(came)
        yield* outlet.push(note(1))
        yield* Queue.take(got)
        yield* Fiber.interrupt(streaming)
        assert.deepStrictEqual(yield* Queue.take(left), ping)
      }))

    it.live("[field HTP-17] the platform follows no redirect by itself", () =>
      Effect.gen(function*() {
        const seen: Array<string> = []
        const port: number = yield* bare((request, response) => {
          seen.push(`${request.method} ${request.url} ${request.headers["mcp-method"]}`)
          request.resume()
          if (request.url === "/mcp") response.writeHead(307, { location: "/mcp/" }).end("moved")
          else if (request.url === "/old") response.writeHead(301, { location: "/mcp/" }).end("moved")
          else if (request.url === "/away") response.writeHead(307, { location: "http://127.0.0.1:1/mcp" }).end()
          else answer(response, success(1))
        })
        const { link, messages } = yield* connect(mcp(port), layer)
        yield* link.send(modern(1, "tools/list"))
        assert.deepStrictEqual(yield* messages, [success(1)])
        for (const [path, target] of [["/old", mcp(port) + "/"], ["/away", "http://127.0.0.1:1/mcp"]] as const) {
          const other = yield* connect(`http://127.0.0.1:${port}${path}`, layer)
          const error = yield* Effect.flip(other.link.send(modern(1, "tools/list")))
          assert.deepInclude(error, { _tag: "HttpFailure", detail: `Redirected to ${target}, which is not followed` })
        }
        assert.deepStrictEqual(seen, [
          "POST /mcp tools/list",
          "POST /mcp/ tools/list",
          "POST /old tools/list",
          "POST /away tools/list"
        ])
      }))

    it.live("[field HTP-24] a server that is not there is named", () =>
      Effect.gen(function*() {
        const { link } = yield* connect("http://127.0.0.1:1/mcp", layer)
        const error = yield* Effect.flip(link.send(ping))
        assert.deepInclude(error, { _tag: "HttpFailure", detail: "No answer from http://127.0.0.1:1/mcp" })
      }))

    it.live("[field HTP-23] a connection that broke fails its request and is not tried again", () =>
      Effect.gen(function*() {
        let requests = 0
        const port = yield* bare((request) => {
          requests++
          request.socket.destroy()
        })
        const { link } = yield* connect(mcp(port), layer)
        assert.strictEqual((yield* Effect.flip(link.send(ping)))._tag, "HttpFailure")
        assert.strictEqual(requests, 1)
      }))
  })
}

describe("connections", () => {
  /** One connection at a time. */
  const single = NodeHttpClient.layerUndiciNoDispatcher.pipe(
    Layer.provide(NodeHttpClient.layerDispatcherOptions({ connections: 1, pipelining: 1 }))
  )

  it.live("[field HTP-20] bodies nobody wants do not keep their connection from the next request", () =>
    Effect.gen(function*() {
      const sockets = new Set<unknown>()
      const port = yield* bare((request, response) => {
        sockets.add(request.socket)
        void bodyOf(request).then((text) => {
          const message = JSON.parse(text)
          if (message.method === "bad") return answer(response, failure(undefined, -32600, "x".repeat(5000)), 400)
          if (message.id === undefined) {
            return response.writeHead(202, { "content-type": "text/plain" }).end("0123456789")
          }
          answer(response, success(message.id))
        })
      })
      const { link, messages } = yield* connect(mcp(port), single)
      for (let i = 0; i < 20; i++) yield* link.send(JsonRpc.notification("n"))
      for (let i = 0; i < 20; i++) yield* Effect.flip(link.send(JsonRpc.request(2, "bad")))
      yield* Effect.timeout(link.send(ping), "2 seconds")
      assert.deepStrictEqual(yield* messages, [success(1)])
      assert.isBelow(sockets.size, 5)
    }))

  it.live("[field HTP-20] streams that end after their answer leave their connection for the next request", () =>
    Effect.gen(function*() {
      const sockets = new Set<unknown>()
      const port = yield* bare((request, response) => {
        sockets.add(request.socket)
        void bodyOf(request).then((text) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(`data: ${JSON.stringify(success(JSON.parse(text).id))}\n\n`)
          setImmediate(() => response.end())
        })
      })
      const { link } = yield* connect(mcp(port), single)
      for (let i = 0; i < 20; i++) yield* link.send(ping)
      assert.isBelow(sockets.size, 3)
    }))

  it.live("[field HTP-10] a stream that stays open after its answer does not hold up the next request for long", () =>
    Effect.gen(function*() {
      const port = yield* bare((request, response) => {
        void bodyOf(request).then((text) => {
          response.writeHead(200, { "content-type": "text/event-stream" })
          response.write(`data: ${JSON.stringify(success(JSON.parse(text).id))}\n\n`)
        })
      })
      const { link } = yield* connect(mcp(port), single)
      yield* link.send(ping)
      yield* Effect.timeout(link.send(ping), "5 seconds")
    }))

  it.live("a compressed answer that is too large when expanded is refused", () =>
    Effect.gen(function*() {
      const { gzipSync } = yield* Effect.promise(() => import("node:zlib"))
      const bomb = gzipSync(JSON.stringify(success(1, { text: "x".repeat(1024 * 1024) })))
      const port = yield* bare((request, response) => {
        request.resume()
        response.writeHead(200, {
          "content-type": "application/json",
          "content-encoding": "gzip",
          "content-length": bomb.length
        }).end(bomb)
      })
      const { link } = yield* connect(mcp(port))
      assert.strictEqual((yield* Effect.flip(link.send(ping)))._tag, "MessageTooLarge")
    }).pipe(limited({ clientMessageIn: 100_000 })))

  it.live("what the user set for fetch is kept", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const port = yield* bare((request, response) => {
        seen.push(request.headers["x-init"])
        request.resume()
        answer(response, success(1))
      })
      const init = Layer.succeed(FetchHttpClient.RequestInit, { headers: { "x-init": "yes" } })
      const { link } = yield* connect(mcp(port), Layer.provideMerge(FetchHttpClient.layer, init))
      yield* link.send(ping)
      assert.deepStrictEqual(seen, ["yes"])
    }))

  it.live("what the user set for fetch is kept, also where only the client's own layer knows of it", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const port = yield* bare((request, response) => {
        seen.push(request.headers["x-init"])
        request.resume()
        if (request.url === "/mcp") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end()
        else answer(response, success(1))
      })
      const init = Layer.succeed(FetchHttpClient.RequestInit, { headers: { "x-init": "yes" } })
      const { link } = yield* connect(mcp(port), Layer.provide(FetchHttpClient.layer, init))
      assert.strictEqual((yield* Effect.flip(link.send(ping)))._tag, "HttpFailure")
      assert.deepStrictEqual(seen, ["yes"])
    }))
})

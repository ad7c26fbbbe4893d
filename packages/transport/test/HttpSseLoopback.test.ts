/** HTTP+SSE over real sockets, our client and our server, and raw clients that misbehave. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Deferred, Duration, Effect, Exit, Layer, Queue, Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient, type HttpClient, HttpRouter } from "effect/http"
import { createServer } from "node:http"
import { type AddressInfo, connect as connectSocket } from "node:net"
import { Endpoint } from "../src/Endpoint.ts"
import type { Exchange } from "../src/Exchange.ts"
import * as HttpSseClient from "../src/HttpSseClient.ts"
import * as HttpSseServer from "../src/HttpSseServer.ts"
import type { Link } from "../src/Link.ts"
import { admitted, limited, note, ping, scripted, type Service } from "./support/http.ts"

/** Both endpoints on a real socket; gives its port. */
const listen = Effect.fnUntraced(function*(endpoint: Service, options: HttpSseServer.Options = {}) {
  const server = createServer()
  // Last of all, for the sockets that a test leaves open.
  yield* Effect.addFinalizer(() => Effect.sync(() => server.closeAllConnections()))
  const routes = HttpSseServer.routes(options).pipe(
    Layer.provide([Layer.succeed(Endpoint, endpoint), SecureRandom.layerWebCrypto])
  )
  yield* Layer.build(
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provide(
        NodeHttpServer.layer(() => server, { port: 0, host: "127.0.0.1", gracefulShutdownTimeout: "1 second" })
      )
    )
  )
  return (server.address() as AddressInfo).port
})

const clients: Record<string, Layer.Layer<HttpClient.HttpClient>> = {
  fetch: FetchHttpClient.layer,
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp
}

const connect = Effect.fnUntraced(function*(
  port: number,
  layer: Layer.Layer<HttpClient.HttpClient> = FetchHttpClient.layer
) {
  const got = yield* Queue.unbounded<Exchange>()
  const context = yield* Layer.build(layer)
  const transport = yield* Effect.provideContext(HttpSseClient.make({ url: `http://127.0.0.1:${port}/sse` }), context)
  const link = yield* transport.connect(scripted({
    handle: (exchange) => {
      Queue.offerUnsafe(got, exchange)
      return admitted
    }
  }))
  return { link, next: Effect.map(Queue.take(got), ({ message }) => message) }
})

/** An endpoint that keeps the links it hears from. */
const linked = Effect.map(Queue.unbounded<Link>(), (links) => ({
  links,
  endpoint: scripted({
    handle: (exchange) => {
      const { connection } = exchange.facts
      if (connection !== undefined) Queue.offerUnsafe(links, connection)
      return scripted().handle(exchange)
    }
  })
}))

const pong: JsonRpc.Success = { jsonrpc: "2.0", id: 1, result: { method: "ping", era: "Legacy" } }

describe("both sides", () => {
  for (const [name, layer] of Object.entries(clients)) {
    it.live(`talk over ${name}, and both hear of the end`, () =>
      Effect.gen(function*() {
        const { endpoint, links } = yield* linked
        const port = yield* listen(endpoint)
        const scope = yield* Scope.make()
        const { link, next } = yield* Scope.provide(connect(port, layer), scope)
        yield* link.send(ping)
        assert.deepStrictEqual(yield* next, pong)
        const served = yield* Queue.take(links)
        yield* served.send(note(1))
        assert.deepStrictEqual(yield* next, note(1))
        yield* Scope.close(scope, Exit.void)
        assert.deepInclude(yield* served.closed, { reason: "The reader has left" })
      }), 20_000)
  }

  it.live("a message of a few megabytes arrives whole, each way", () =>
    Effect.gen(function*() {
      const text = "é".repeat(1_500_000)
      const port = yield* listen(scripted({
        handle: ({ message, outlet }) => {
          if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { text: message.params?.["text"] }))
          return admitted
        }
      }))
      const { link, next } = yield* connect(port)
      yield* link.send(JsonRpc.request(1, "echo", { text }))
      const answer = yield* next
      assert.isTrue(JsonRpc.isResponse(answer) && !JsonRpc.isFailure(answer) && answer.result["text"] === text)
    }), 20_000)

  it.live(
    "[field SHT-02] the end of the server ends the stream with all that was said on it",
    () =>
      Effect.gen(function*() {
        const scope = yield* Scope.make()
        const asked = yield* Deferred.make<Exchange>()
        const port = yield* Scope.provide(
          listen(scripted({
            handle: (exchange) => {
              Deferred.doneUnsafe(asked, Exit.succeed(exchange))
              return admitted
            }
          })),
          scope
        )
        const { link, next } = yield* connect(port)
        yield* link.send(ping)
        const { outlet } = yield* Deferred.await(asked)
        outlet.answer(JsonRpc.success(1, { last: true }))
        yield* Scope.close(scope, Exit.void)
        const last: JsonRpc.Success = { jsonrpc: "2.0", id: 1, result: { last: true } }
        assert.deepStrictEqual(yield* next, last)
        assert.strictEqual((yield* link.closed)._tag, "TransportClosed")
      }),
    20_000
  )
})

/** A socket that asks for the stream and then reads nothing more; gives where to post. */
const deaf = (port: number) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<{ readonly uri: string; readonly socket: ReturnType<typeof connectSocket> }>((resume) => {
        const socket = connectSocket(port, "127.0.0.1", () =>
          socket.write("GET /sse HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"))
        let text = ""
        socket.on("data", (chunk) => {
          text += chunk.toString("utf8")
          const uri = /data: (\S+)\n/.exec(text)?.[1]
          if (uri === undefined) {
            return
          }
          socket.pause()
          resume(Effect.succeed({ uri, socket }))
        })
        socket.on("error", () => {})
      }),
      ({ socket }) =>
        Effect.sync(() =>
          socket.destroy()
        )
    ),
    ({ uri }) => uri
  )

describe("a client that does not read", () => {
  it.live("[field MEM-05] is cut, while others are served", () =>
    Effect.gen(function*() {
      const text = "x".repeat(200_000)
      const links = yield* Queue.unbounded<Link>()
      const port = yield* listen(scripted({
        handle: ({ facts, message, outlet }) => {
          if (facts.connection !== undefined) Queue.offerUnsafe(links, facts.connection)
          if (JsonRpc.isRequest(message)) outlet.answer(JsonRpc.success(message.id, { text }))
          return admitted
        }
      }))
      const uri = yield* deaf(port)
      const post = Effect.promise(async () => {
        const response = await fetch(`http://127.0.0.1:${port}${uri}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(ping)
        })
        await response.text()
        return response.status
      })
      // What the kernel and the platform buffer goes first.
      yield* Effect.repeat(post, { until: (status) => status !== 202, times: 400 })
      const link = yield* Queue.take(links)
      assert.deepInclude(yield* link.closed, { reason: "The reader takes nothing" })
      const { link: other, next } = yield* connect(port)
      yield* other.send(ping)
      assert.deepInclude(yield* next, { id: 1 })
    }).pipe(limited({ outgoingMessages: 4, deadReader: Duration.millis(300) })), 30_000)
})

describe("a hundred connections", () => {
  it.live("that are dropped leave nothing behind", () =>
    Effect.gen(function*() {
      let open = 0
      const seen = new Set<Link>()
      const port = yield* listen(scripted({
        handle: (exchange) => {
          const { connection } = exchange.facts
          if (connection !== undefined && !seen.has(connection)) {
            seen.add(connection)
            open++
            Effect.runFork(Effect.map(connection.closed, () => open--))
          }
          return scripted().handle(exchange)
        }
      }))
      yield* Effect.forEach(Array.from({ length: 100 }), () =>
        Effect.scoped(Effect.flatMap(connect(port), ({ link, next }) => Effect.andThen(link.send(ping), next))), {
        concurrency: 20,
        discard: true
      })
      assert.strictEqual(seen.size, 100)
      yield* Effect.repeat(Effect.sleep("10 millis"), {
        until: () =>
          open === 0,
        times: 300
      })
      assert.strictEqual(open, 0)
    }), 30_000)
})

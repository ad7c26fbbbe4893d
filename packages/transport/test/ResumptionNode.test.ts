/** Client and server on real sockets, with something between them that cuts connections in the middle. */
import { assert, describe, it } from "@effect/vitest"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import { Effect, Fiber, Layer, Queue } from "effect"
import { FetchHttpClient } from "effect/http"
import { type AddressInfo, connect as connectTo, createServer as createProxy, type Socket } from "node:net"
import { Endpoint } from "../src/Endpoint.ts"
import * as EventStore from "../src/EventStore.ts"
import type { Exchange } from "../src/Exchange.ts"
import * as StreamableHttpClient from "../src/StreamableHttpClient.ts"
import * as StreamableHttpServer from "../src/StreamableHttpServer.ts"
import { admitted, note, scripted } from "./support/http.ts"
import { initialize, initialized, legacy } from "./support/httpClient.ts"
import { servers } from "./support/nodeServers.ts"

const portOf = (server: { readonly address: () => unknown }): number => (server.address() as AddressInfo).port

/** Passes on what comes, and cuts every connection now and then. */
const cutting = (target: number) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly cut: () => number; readonly close: () => void }>((resume) => {
      const open = new Set<Socket>()
      const proxy = createProxy((client) => {
        const server = connectTo(target, "127.0.0.1")
        for (const [one, other] of [[client, server], [server, client]] as const) {
          open.add(one)
          one.on("data", (chunk) => other.write(chunk))
          one.on("error", () => {})
          one.on("close", () => {
            open.delete(one)
            other.destroy()
          })
        }
      })
      const cut = () => {
        const sockets = Array.from(open)
        for (const socket of sockets) socket.resetAndDestroy()
        return sockets.length
      }
      proxy.listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({
          port: portOf(proxy),
          cut,
          close: () => {
            cut()
            proxy.close()
          }
        })))
    }),
    ({ close }) => Effect.sync(close)
  )

describe.each(servers)("over sockets of %s that are cut", (_, serve) => {
  it.live(
    "[HTTP-33] [field HTP-32] a request and the stream of its session arrive whole",
    () =>
      Effect.gen(function*() {
        const exchanges = yield* Queue.unbounded<Exchange>()
        const links = yield* Queue.unbounded<Parameters<Endpoint["Service"]["attach"]>[1]>()
        const endpoint = scripted({
          handle: (exchange) => {
            const { message, outlet } = exchange
            if (!JsonRpc.isRequest(message)) return admitted
            if (message.method !== "initialize") {
              Queue.offerUnsafe(exchanges, exchange)
              return admitted
            }
            outlet.answer(JsonRpc.success(message.id, { protocolVersion: "2025-11-25" }))
            return Effect.succeed({ sessionId: "s1" })
          },
          attach: (_, link) => Effect.sync(() => void Queue.offerUnsafe(links, link)),
          verify: () => Effect.void
        })
        const port = yield* serve(
          Layer.provide(StreamableHttpServer.routes(), [Layer.succeed(Endpoint, endpoint), EventStore.layerMemory])
        )
        const proxy = yield* cutting(port)

        const got: Array<JsonRpc.Message> = []
        const transport = yield* Effect.provide(
          StreamableHttpClient.make({
            url: `http://127.0.0.1:${proxy.port}/mcp`,
            reconnect: { minDelay: "20 millis", maxRetries: 50 }
          }),
          FetchHttpClient.layer
        )
        const link = yield* transport.connect(scripted({
          handle: ({ message }) => {
            got.push(message)
            return admitted
          }
        }))
        yield* link.send(initialize)
        yield* link.agreed(legacy)
        yield* link.send(initialized)
        const standing = yield* Queue.take(links)
        got.splice(0)

        const request = yield* Effect.forkChild(link.send(JsonRpc.request(7, "tools/call")))
        const { outlet } = yield* Queue.take(exchanges)
        let cuts = 0
        for (let n = 1; n <= 120; n++) {
          yield* outlet.push(note(n))
          if (n % 10 === 0) yield* standing.send(note(1000 + n))
          yield* Effect.sleep("4 millis")
          if (n % 40 === 0) cuts += proxy.cut()
        }
        outlet.answer(JsonRpc.success(7, { done: true }))
        yield* Effect.timeout(Fiber.join(request), "10 seconds")
        // The other stream may still be on its way.
        const progress = () =>
          got.flatMap((message) => "params" in message ? [Number(message.params?.["progress"])] : [])
        for (let i = 0; i < 100 && progress().length < 132; i++) yield* Effect.sleep("50 millis")
        assert.isAtLeast(cuts, 4)
        assert.deepStrictEqual(
          progress().filter((n) => n < 1000),
          Array.from({ length: 120 }, (_, index) => index + 1)
        )
        assert.deepStrictEqual(
          progress().filter((n) => n > 1000),
          Array.from({ length: 12 }, (_, index) => 1010 + 10 * index)
        )
        assert.strictEqual(yield* Queue.size(links), 0)
        assert.strictEqual(yield* Queue.size(exchanges), 0)
      }).pipe(Effect.scoped),
    40_000
  )
})

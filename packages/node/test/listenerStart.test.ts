/** How servers begin: with bounds of any length, at addresses that are none, and side by side. */
import { assert, describe, it } from "@effect/vitest"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { type Duration, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { NodeListener } from "../src/index.ts"
import { head, raw } from "./support/raw.ts"
import { bodyOf, portOf, serve, statusOf } from "./support/serving.ts"

const { text } = HttpServerResponse
const hello = HttpRouter.add("GET", "/", text("hello"))
const get = head("GET /")

describe("bounds", () => {
  const lengths: ReadonlyArray<Duration.Input> = ["Infinity", "10 seconds", 601, 0.5, 0, 1e15]

  it.live("of any length are ones that Node takes", () =>
    Effect.gen(function*() {
      for (const requestTimeout of [undefined, ...lengths]) {
        for (const headersTimeout of [undefined, ...lengths]) {
          let made: Server | undefined
          yield* Effect.scoped(serve(hello, {
            requestTimeout,
            headersTimeout,
            keepAliveTimeout: requestTimeout,
            createServer: (settings) => made = createServer(settings)
          }))
          for (const millis of [made?.requestTimeout, made?.headersTimeout, made?.keepAliveTimeout]) {
            assert.isTrue(Number.isSafeInteger(millis) && Number(millis) > 0, `${requestTimeout} ${headersTimeout}`)
          }
          assert.isAtMost(Number(made?.headersTimeout), Number(made?.requestTimeout))
        }
      }
    }))

  it.live("that are long keep connections between two requests", () =>
    Effect.gen(function*() {
      const port = yield* serve(hello, { keepAliveTimeout: "Infinity", deadReader: "Infinity" })
      const answer = yield* raw(port, [head("GET /", {}, true), get], 20)
      assert.strictEqual(answer.match(/hello/g)?.length, 2)
    }))
})

describe("an address", () => {
  const refusal = (options: NodeListener.ServerOptions) => Effect.flip(Effect.scoped(serve(hello, options)))

  it.live("that is none is an error like one that is taken", () =>
    Effect.gen(function*() {
      for (const port of [70_000, -1, Number.NaN, 1.5]) {
        assert.deepInclude(yield* refusal({ port }), {
          _tag: "CannotListen",
          reason: "failed",
          code: "ERR_SOCKET_BAD_PORT"
        })
      }
      assert.deepInclude(yield* refusal({ host: "a\0b" }), { _tag: "CannotListen", reason: "failed" })
      assert.deepInclude(yield* refusal({ host: "no.such.host.invalid" }), { _tag: "CannotListen", code: "ENOTFOUND" })
      assert.deepInclude(yield* refusal({ host: "2001:db8::1" }), {
        _tag: "CannotListen",
        reason: "absent",
        address: "[2001:db8::1]:0"
      })
    }))

  it.live("of IPv6 may be in brackets", () =>
    Effect.gen(function*() {
      for (const host of ["::1", "[::1]"]) {
        const context = yield* Layer.build(NodeListener.layer(hello, { host }))
        const server = yield* Effect.provideContext(HttpServer.HttpServer, context)
        const url = HttpServer.formatAddress(server.address)
        assert.match(url, /^http:\/\/\[::1\]:\d+$/)
        assert.strictEqual(yield* Effect.promise(async () => await (await fetch(url)).text()), "hello")
      }
    }))
})

describe("two servers in one program", () => {
  const at = (path: `/${string}`) => HttpRouter.add("GET", path, text(path))
  const Now = McpServer.tool(Tool.make("now"), () => Effect.succeed("now"))
  const endpoint = McpServer.layerHttp(Now, { name: "t", version: "1" })

  it.live("have their own routes, be they beside or below each other", () =>
    Effect.gen(function*() {
      const ports: Array<number> = []
      const noting = (serving: Layer.Layer<HttpServer.HttpServer, unknown>) =>
        Layer.effectDiscard(Effect.map(portOf(serving), (port) => ports.push(port)))
      const [a, b] = [NodeListener.layer(at("/a")), NodeListener.layer(at("/b"))]
      const listening = Effect.map(
        HttpServer.HttpServer,
        ({ address }) => "port" in address && ports.push(address.port)
      )
      yield* Layer.build(Layer.merge(noting(a), noting(b)))
      yield* Layer.build(
        Layer.effectDiscard(listening).pipe(
          Layer.provide(NodeListener.layer(at("/b"))),
          Layer.provide(Layer.tap(NodeListener.layer(at("/a")), (context) => Effect.provideContext(listening, context)))
        )
      )
      const answers = yield* Effect.forEach(
        ports,
        (port) => Effect.forEach(["/a", "/b"], (path) => Effect.map(raw(port, [head(`GET ${path}`)]), statusOf))
      )
      assert.deepStrictEqual(answers, [[200, 404], [404, 200], [200, 404], [404, 200]])
    }))

  it.live("[HTTP-04] are both looked at, though they have the same endpoint", () =>
    Effect.gen(function*() {
      const inside = NodeListener.layer(endpoint)
      const outside = NodeListener.layer(endpoint, { host: "0.0.0.0" })
      for (const both of [Layer.merge(outside, inside), Layer.provideMerge(outside, inside)]) {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(both)))
        assert.strictEqual(error._tag, "Exposed")
      }
    }))

  it.live("are ended one by one", () =>
    Effect.gen(function*() {
      const stays = yield* serve(hello)
      yield* Effect.scoped(serve(hello))
      assert.strictEqual(bodyOf(yield* raw(stays, [get])), "hello")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Endpoint } from "../src/Endpoint.ts"
import * as StreamableHttpServer from "../src/StreamableHttpServer.ts"
import { attached, ping, request, scripted, serve } from "./support/http.ts"

describe("CORS", () => {
  const origin = "http://localhost:6274"

  it.effect("[field HTP-22] a preflight is answered before authentication and sessions", () =>
    Effect.gen(function*() {
      const { fetch } = yield* serve(scripted(), {
        middleware: () => Effect.succeed(HttpServerResponse.empty({ status: 401 }))
      })
      const response = yield* fetch({
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers":
            "authorization, content-type, mcp-protocol-version, mcp-session-id, mcp-method, mcp-name"
        }
      })
      assert.strictEqual(response.status, 204)
      assert.strictEqual(response.headers.get("access-control-allow-origin"), origin)
      assert.include(response.headers.get("access-control-allow-headers"), "mcp-session-id")
      assert.include(response.headers.get("access-control-allow-methods"), "DELETE")
    }))

  it.effect("[field HTP-22] answers carry the headers a page needs, refusals included", () =>
    Effect.gen(function*() {
      const open = yield* serve(scripted({ attach: (yield* attached).attach }))
      const closed = yield* serve(scripted(), {
        middleware: () =>
          Effect.succeed(HttpServerResponse.empty({ status: 401, headers: { "www-authenticate": "Bearer" } }))
      })
      const responses = [
        yield* open.fetch({ body: ping, headers: { origin } }),
        yield* open.fetch({ body: "{oops", headers: { origin } }),
        yield* open.fetch({ method: "GET", headers: { origin } }),
        yield* closed.fetch({ body: ping, headers: { origin } })
      ]
      assert.deepStrictEqual(responses.map((response) => response.status), [200, 400, 200, 401])
      for (const response of responses) {
        assert.strictEqual(response.headers.get("access-control-allow-origin"), origin)
        assert.include(response.headers.get("access-control-expose-headers"), "mcp-session-id")
        assert.include(response.headers.get("vary"), "Origin")
      }
      yield* Effect.promise(() => responses[2]?.body?.cancel() ?? Promise.resolve())
    }))

  it.effect("authentication comes after the guard and before the body", () =>
    Effect.gen(function*() {
      let asked = 0
      const { ask } = yield* serve(scripted(), {
        middleware: () =>
          Effect.sync(() => {
            asked++
            return HttpServerResponse.empty({ status: 401 })
          })
      })
      assert.strictEqual((yield* ask({ body: "{oops" })).status, 401)
      assert.strictEqual((yield* ask({ body: ping, headers: { origin: "https://evil.example" } })).status, 403)
      assert.strictEqual(asked, 1)
    }))
})

describe("routes", () => {
  const fetchWith = (options: StreamableHttpServer.Options) =>
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() =>
          HttpRouter.toWebHandler(
            Layer.merge(
              Layer.provide(StreamableHttpServer.routes(options), Layer.succeed(Endpoint, scripted())),
              HttpRouter.add("GET", "/health", HttpServerResponse.text("ok"))
            ),
            { disableLogger: true }
          )
        ),
        ({ dispose }) => Effect.promise(dispose)
      ),
      ({ handler }) => (call: Parameters<typeof request>[0]) => Effect.promise(() => handler(request(call)))
    )

  it.effect("[HTTP-01] [field HTP-17] the endpoint is one path, with and without a slash at its end, beside others", () =>
    Effect.gen(function*() {
      const fetch = yield* fetchWith({})
      const status = (path: string, call: Parameters<typeof request>[0] = { body: ping }) =>
        Effect.map(fetch({ ...call, url: `http://localhost${path}` }), (response) => response.status)
      assert.strictEqual(yield* status("/mcp"), 200)
      assert.strictEqual(yield* status("/mcp/"), 200)
      assert.strictEqual(yield* status("/mcp?x=1"), 200)
      assert.strictEqual(yield* status("/mcp", { method: "PUT" }), 405)
      assert.strictEqual(yield* status("/mcp", { method: "HEAD" }), 405)
      assert.strictEqual(yield* status("/health", { method: "GET" }), 200)
      assert.strictEqual(yield* status("/other"), 404)
    }))

  it.effect("the path is an option", () =>
    Effect.gen(function*() {
      const fetch = yield* fetchWith({ path: "/api/v1/mcp" })
      assert.strictEqual((yield* fetch({ body: ping, url: "http://localhost/api/v1/mcp" })).status, 200)
      assert.strictEqual((yield* fetch({ body: ping })).status, 404)
    }))
})

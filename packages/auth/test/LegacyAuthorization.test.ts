import { assert, describe, it } from "@effect/vitest"
import { AuthError, LegacyAuthorization } from "@mcpfx/auth"
import { TestHttp } from "@mcpfx/testing"
import { Effect, Layer, Logger } from "effect"
import { HttpClient } from "effect/http"
import { jsonOf, origin, serve } from "./support/protecting.ts"

const issuer = "https://login.example.com/tenant"
const resource = `${origin}/mcp`

const metadata: Readonly<Record<string, unknown>> = {
  issuer,
  authorization_endpoint: `${issuer}/authorize?ui=1`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  code_challenge_methods_supported: ["S256"],
  scopes_supported: ["a"]
}

interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const make = (answer: (asked: Asked) => Response = () => Response.json({ access_token: "x" }), described = metadata) =>
  Effect.gen(function*() {
    const asked: Array<Asked> = []
    const client = TestHttp.clientOf((request) =>
      Effect.gen(function*() {
        const { headers, method, url } = request
        if (url.includes("/.well-known/")) return Response.json(described)
        const body = yield* Effect.promise(() => request.text())
        const seen = { method, url, headers: Object.fromEntries(headers), body }
        asked.push(seen)
        return answer(seen)
      })
    )
    const routes = Layer.provide(
      LegacyAuthorization.layer({ resource, issuer }),
      Layer.succeed(HttpClient.HttpClient, client)
    )
    return { asked, send: yield* serve(routes) }
  })

const form = { "content-type": "application/x-www-form-urlencoded" }

describe("LegacyAuthorization", () => {
  it.effect("[ARS-13] the origin describes itself as the authorization server of its default endpoints", () =>
    Effect.gen(function*() {
      const { send } = yield* make()
      const response = yield* send("GET", "/.well-known/oauth-authorization-server")
      assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
      assert.deepStrictEqual(yield* jsonOf(response), {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        scopes_supported: ["a"]
      })
    }))

  it.effect("[ARS-13] [SEC-01] the login is at the real one, with what the client asked and for whom, under its own id alone", () =>
    Effect.gen(function*() {
      const { send } = yield* make()
      const query = new URLSearchParams({ client_id: "c", state: "s t", redirect_uri: "http://127.0.0.1:1/cb?x=1&y=%" })
      const response = yield* send("GET", `/authorize?${query}`)
      assert.strictEqual(response.status, 302)
      const location = new URL(response.headers.get("location") ?? "")
      assert.strictEqual(location.origin + location.pathname, `${issuer}/authorize`)
      assert.deepStrictEqual(Object.fromEntries(location.searchParams), {
        ui: "1",
        ...Object.fromEntries(query),
        resource
      })
      const told = yield* send("GET", "/authorize?resource=https%3A%2F%2Fmcp.example.com")
      assert.deepStrictEqual(new URL(told.headers.get("location") ?? "").searchParams.getAll("resource"), [origin])
      assert.isFalse(new URL(told.headers.get("location") ?? "").searchParams.has("client_id"))
    }))

  it.effect("[ARS-13] no request says where it leads to", () =>
    Effect.gen(function*() {
      const { send } = yield* make()
      const hostile = [
        "/authorize?//evil.example",
        "/authorize?@evil.example/",
        "/authorize?%0d%0aLocation:https://evil.example",
        "/authorize?#https://evil.example",
        "/authorize?\\\\evil.example"
      ]
      for (const path of hostile) {
        const response = yield* send("GET", path, { host: "evil.example", "x-forwarded-host": "evil.example" })
        const location = new URL(response.headers.get("location") ?? "")
        assert.strictEqual(location.origin + location.pathname, `${issuer}/authorize`)
      }
      assert.strictEqual((yield* send("GET", `/authorize?x=${"x".repeat(9000)}`)).status, 414)
      assert.strictEqual((yield* send("POST", "/authorize")).status, 405)
      for (const endpoint of [undefined, "http://login.example.com/a", "javascript:alert(1)"]) {
        const { send } = yield* make(undefined, { ...metadata, authorization_endpoint: endpoint })
        assert.strictEqual((yield* send("GET", "/authorize?x=1")).status, 404)
      }
    }))

  it.effect("[ARS-13] [ARS-07] token requests are passed on, for this server, with nothing that is not the client's to send", () =>
    Effect.gen(function*() {
      const { asked, send } = yield* make(() =>
        new Response("{\"access_token\":\"x\"}", {
          status: 201,
          headers: { "content-type": "application/json", "set-cookie": "a=b", "x-internal": "y" }
        })
      )
      const headers = { ...form, authorization: "Basic Yzpz", cookie: "session=1", "x-forwarded-for": "10.0.0.1" }
      const response = yield* send("POST", "/token", headers, "grant_type=authorization_code&code=a%26b")
      assert.strictEqual(response.status, 201)
      assert.deepStrictEqual(yield* jsonOf(response), { access_token: "x" })
      assert.strictEqual(response.headers.get("cache-control"), "no-store")
      assert.isNull(response.headers.get("set-cookie"))
      assert.isNull(response.headers.get("x-internal"))
      const [{ body, headers: sent, url } = assert.fail("nothing was passed on")] = asked
      assert.strictEqual(url, `${issuer}/token`)
      assert.deepStrictEqual(Object.fromEntries(new URLSearchParams(body)), {
        grant_type: "authorization_code",
        code: "a&b",
        resource
      })
      assert.strictEqual(sent["authorization"], "Basic Yzpz")
      assert.isUndefined(sent["cookie"])
      assert.isUndefined(sent["x-forwarded-for"])
    }))

  it.effect("[ARS-13] registrations are passed on, and so are refusals", () =>
    Effect.gen(function*() {
      const { asked, send } = yield* make(() => Response.json({ error: "invalid_redirect_uri" }, { status: 400 }))
      const body = "{\"redirect_uris\":[\"http://127.0.0.1/cb\"]}"
      const response = yield* send("POST", "/register", { "content-type": "application/json; charset=utf-8" }, body)
      assert.strictEqual(response.status, 400)
      assert.strictEqual((yield* jsonOf(response)).error, "invalid_redirect_uri")
      assert.deepInclude(asked[0], { url: `${issuer}/register`, body })
      const none = yield* make(undefined, { ...metadata, registration_endpoint: undefined })
      assert.strictEqual(
        (yield* none.send("POST", "/register", { "content-type": "application/json" }, body)).status,
        404
      )
    }))

  it.effect("[ARS-13] what is too large, of another kind or another method goes nowhere", () =>
    Effect.gen(function*() {
      const { asked, send } = yield* make()
      assert.strictEqual((yield* send("POST", "/token", form, `x=${"x".repeat(70_000)}`)).status, 400)
      assert.strictEqual((yield* send("POST", "/token", { "content-type": "application/json" }, "{}")).status, 415)
      assert.strictEqual((yield* send("POST", "/register", form, "a=b")).status, 415)
      assert.strictEqual((yield* send("GET", "/token")).status, 405)
      assert.strictEqual((yield* send("OPTIONS", "/token")).status, 204)
      assert.deepStrictEqual(asked, [])
    }))

  it.effect("[ARS-13] a real one that is down is 503", () =>
    Effect.gen(function*() {
      const broken = yield* make(() =>
        new Response(null, { status: 307, headers: { location: "https://evil.example" } })
      )
      assert.strictEqual((yield* broken.send("POST", "/token", form, "a=b")).status, 503)
      const lost = yield* make(undefined, { ...metadata, issuer: "https://evil.example" })
      for (const path of ["/authorize", "/.well-known/oauth-authorization-server"]) {
        assert.strictEqual((yield* lost.send("GET", path)).status, 503)
      }
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("what cannot be meant is told when the server is put together", () =>
    Effect.gen(function*() {
      for (const options of [{ resource, issuer: "http://login.example.com" }, { resource: "mcp", issuer }]) {
        const http = Layer.succeed(HttpClient.HttpClient, TestHttp.clientOf(() => new Response()))
        const error = yield* Effect.flip(serve(Layer.provide(LegacyAuthorization.layer(options), http)))
        assert.instanceOf(error, AuthError.AuthError)
      }
    }))
})

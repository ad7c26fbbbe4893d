/** Who comes in, and what the others hear. */
import { assert, describe, it } from "@effect/vitest"
import { AuthError, ResourceServer, TokenVerifier } from "@mcpfx/auth"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import { Effect, Layer, Logger, Option, References } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { inspect } from "node:util"
import { bearer, challengeOf, jsonOf, modern, origin, post, type Send, serve } from "./support/protecting.ts"

const resource = `${origin}/mcp`
const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`

const tokens = {
  "t-ada": { subject: "ada", clientId: "editor", scopes: ["read"] },
  "t-bob": { subject: "bob", scopes: ["read", "write"] },
  "t-old": { subject: "old", scopes: ["read"], expiresAt: 0 },
  "t-elsewhere": { subject: "eve", scopes: ["read"], audience: ["https://other.example"] },
  "t-bound": { subject: "key", scopes: ["read"], boundTo: "thumbprint" },
  "t-none": { subject: "none" }
}
const issuers = ["https://login.example"]
const verifier = TokenVerifier.layerStatic({ tokens, issuers })

const Me = Tool.make("me", { input: {} })
/** Says who is calling, and what handlers can see of the request. */
const MeLive = McpServer.tool(Me, () =>
  Effect.gen(function*() {
    const principal = yield* CurrentPrincipal
    return Option.match(principal, {
      onNone: () => "nobody",
      onSome: ({ scopes, subject }) => [subject, ...scopes].join(" ")
    })
  }))

type Options = ResourceServer.LayerOptions

const protectedServer = (
  options: Options = {},
  trust: Layer.Layer<TokenVerifier.TokenVerifier, AuthError.AuthError> = verifier
) =>
  serve(
    ResourceServer.layer({ resource, scopes: ["read"], ...options }, (protect) =>
      McpServer.layerHttp(MeLive, { name: "t", version: "1", allowedHosts: "any", middleware: protect })).pipe(
        Layer.provide(trust)
      )
  )

const call = (send: Send, headers: Readonly<Record<string, string>> = {}, path = "/mcp") => {
  const request = modern("tools/call", { name: "me", arguments: {} }, "me")
  return send("POST", path, { ...request.headers, ...headers }, request.body)
}

const textOf = (response: Response) => Effect.map(jsonOf(response), ({ result }) => result?.content[0].text)

describe("ResourceServer", () => {
  it.effect("[ARS-02] [ARS-06] a caller with a good token comes in, and handlers know who it is", () =>
    Effect.gen(function*() {
      const send = yield* protectedServer()
      for (const authorization of ["Bearer t-ada", "bearer t-ada", "BEARER   t-ada", " Bearer t-ada "]) {
        assert.strictEqual(yield* textOf(yield* call(send, { authorization })), "ada read")
      }
    }))

  it.effect("[ARS-03] [ARS-05] [field AUT-20] no token is 401 on each method, with where to get one and what to ask for", () =>
    Effect.gen(function*() {
      const send = yield* protectedServer()
      for (const method of ["POST", "GET", "DELETE", "PUT"]) {
        const response = yield* send(method, "/mcp", post, method === "POST" ? "no JSON" : undefined)
        assert.strictEqual(response.status, 401)
        assert.strictEqual(
          response.headers.get("www-authenticate"),
          `Bearer resource_metadata="${metadata}", scope="read"`
        )
        const { error, id, jsonrpc } = yield* jsonOf(response)
        assert.deepStrictEqual([jsonrpc, id, error.code], ["2.0", undefined, -32600])
      }
      for (const authorization of ["Basic YTpi", "", "DPoP t-bound", "Bearers t-ada", "t-ada"]) {
        const response = yield* call(send, { authorization })
        assert.deepStrictEqual([response.status, challengeOf(response)["error"]], [401, undefined], authorization)
      }
    }))

  it.effect("[ARS-06] [field AUT-20] a token that is no good is 401 with invalid_token, whatever is wrong with it", () =>
    Effect.gen(function*() {
      const send = yield* protectedServer()
      const wrong = ["t-nobody", "t-old", "t-elsewhere", "t-bound", "", "a b", "t\"x", "tök", "a".repeat(20_000)]
      for (const token of wrong) {
        for (const method of ["POST", "GET", "DELETE"]) {
          const response = yield* send(method, "/mcp", {
            ...post,
            ...bearer(encodeURI(token).includes("%") ? `${token.replace("ö", "\u00f6")}` : token)
          })
          assert.strictEqual(response.status, 401, token)
          assert.deepStrictEqual(challengeOf(response), {
            error: "invalid_token",
            scope: "read",
            resource_metadata: metadata
          })
          assert.notInclude(yield* Effect.promise(() => response.text()), "audience")
        }
      }
    }))

  it.effect("[ARS-06] [ACL-23] more than one token is 400, and one in the query is none", () =>
    Effect.gen(function*() {
      const send = yield* protectedServer()
      const several = yield* call(send, { authorization: "Bearer t-ada, Bearer t-bob" })
      assert.deepStrictEqual([several.status, challengeOf(several)["error"]], [400, "invalid_request"])
      const both = yield* call(send, bearer("t-ada"), "/mcp?x=1&access_token=t-ada")
      assert.strictEqual(both.status, 400)
      const query = yield* call(send, {}, "/mcp?access_token=t-ada")
      assert.deepStrictEqual([query.status, challengeOf(query)["error"]], [401, undefined])
    }))

  it.effect("[ARS-09] [ARS-10] a token without a scope that all requests need is 403, and told of all of them", () =>
    Effect.gen(function*() {
      const send = yield* protectedServer({ scopes: ["read", "write", "offline_access"] })
      const response = yield* call(send, bearer("t-ada"))
      assert.strictEqual(response.status, 403)
      assert.deepStrictEqual(challengeOf(response), {
        error: "insufficient_scope",
        scope: "read write",
        resource_metadata: metadata
      })
      assert.strictEqual(yield* textOf(yield* call(send, bearer("t-bob"))), "bob read write")
    }))

  it.effect("[ARS-10] a scope stands for those that it implies, and they for theirs", () =>
    Effect.gen(function*() {
      const implied = new Map([["write", ["read", "list"]], ["list", ["look", "write"]]])
      const trust = TokenVerifier.layerStatic({ tokens: { t: { subject: "ada", scopes: ["write"] } }, issuers })
      const send = yield* protectedServer({ scopes: ["read"], implies: (scope) => implied.get(scope) ?? [] }, trust)
      assert.strictEqual(yield* textOf(yield* call(send, bearer("t"))), "ada write read list look")
    }))

  it.effect("[ARS-01] anonymous callers may come in where the server says so, those with a bad token not", () =>
    Effect.gen(function*() {
      const send = yield* protectedServer({ optional: true })
      assert.strictEqual(yield* textOf(yield* call(send)), "nobody")
      assert.strictEqual(yield* textOf(yield* call(send, { authorization: "Basic YTpi" })), "nobody")
      assert.strictEqual(yield* textOf(yield* call(send, bearer("t-ada"))), "ada read")
      for (const authorization of ["Bearer t-nobody", "Bearer", "Bearer t-old"]) {
        assert.strictEqual((yield* call(send, { authorization })).status, 401)
      }
    }))

  it.effect("[field AUT-20] where nobody can say whether a token is good it is 503, for now", () =>
    Effect.gen(function*() {
      const failing: ReadonlyArray<TokenVerifier.TokenVerifier["Service"]["verify"]> = [
        () => Effect.fail(new TokenVerifier.VerifierUnavailable({ detail: "no keys" })),
        () => Effect.die(new Error("broken")),
        () => Effect.interrupt,
        () => {
          throw new Error("thrown")
        }
      ]
      for (const verify of failing) {
        const send = yield* protectedServer(
          {},
          Layer.succeed(TokenVerifier.TokenVerifier, { issuers: ["https://i"], verify })
        )
        for (const [version, code] of [["2026-07-28", -32603], ["2025-11-25", -32000]] as const) {
          const response = yield* call(send, { ...bearer("t-ada"), "mcp-protocol-version": version })
          assert.deepStrictEqual([response.status, response.headers.get("retry-after")], [503, "5"])
          assert.strictEqual((yield* jsonOf(response)).error.code, code)
        }
      }
    }).pipe(Effect.provide(Logger.layer([]))))

  it.effect("[ARS-08] the token goes no further: handlers do not see it", () =>
    Effect.gen(function*() {
      const Seen = HttpRouter.add("GET", "/seen", (request: HttpServerRequest.HttpServerRequest) =>
        Effect.succeed(HttpServerResponse.jsonUnsafe(request.headers)))
      const routes = Layer.provide(Seen, ResourceServer.middleware({ resource: origin }).layer)
      const send = yield* serve(Layer.provide(routes, verifier))
      const seen = yield* jsonOf(yield* send("GET", "/seen", { ...bearer("t-ada"), dpop: "proof", "x-other": "kept" }))
      assert.deepStrictEqual([seen.authorization, seen.dpop, seen["x-other"]], [undefined, undefined, "kept"])
    }))

  it.effect("[ARS-08] no token is in the log, and why one was refused is for the log alone", () => {
    const lines: Array<string> = []
    const logger = Logger.make(({ cause, message }) => lines.push(inspect([message, cause], { depth: 9 })))
    const verify: TokenVerifier.TokenVerifier["Service"]["verify"] = (token) => Effect.die({ token })
    const broken = Layer.succeed(TokenVerifier.TokenVerifier, { issuers: ["https://i"], verify })
    return Effect.gen(function*() {
      const send = yield* protectedServer()
      for (const token of ["t-nobody", "t-old", "t-elsewhere"]) yield* call(send, bearer(token))
      for (const reason of ["signature", "expired", "audience"]) assert.include(lines.join("\n"), reason)
      yield* call(yield* protectedServer({}, broken), bearer("t-nobody"))
      assert.strictEqual(lines.length, 4)
      assert.notMatch(lines.join("\n"), /t-(?:nobody|old|elsewhere)/)
    }).pipe(
      Effect.provide(Logger.layer([logger])),
      Effect.provideService(References.MinimumLogLevel, "Trace")
    )
  })

  it.effect("[ARS-02] any route can be protected, and preflights pass", () =>
    Effect.gen(function*() {
      const Hello = HttpRouter.add("*", "/hello", HttpServerResponse.text("hello"))
      const Open = HttpRouter.add("GET", "/open", HttpServerResponse.text("open"))
      const Protected = Layer.provide(Hello, ResourceServer.middleware({ resource: origin }).layer)
      const send = yield* serve(Layer.provide(Layer.merge(Protected, Open), verifier))
      assert.strictEqual((yield* send("GET", "/hello")).status, 401)
      assert.strictEqual((yield* send("OPTIONS", "/hello")).status, 401)
      assert.strictEqual((yield* send("OPTIONS", "/hello", { "access-control-request-method": "GET" })).status, 200)
      assert.strictEqual((yield* send("GET", "/hello", bearer("t-ada"))).status, 200)
      assert.strictEqual((yield* send("GET", "/open")).status, 200)
    }))

  it.effect("[ARS-02] [field HTP-22] a web page may read the refusal", () =>
    Effect.gen(function*() {
      const send = yield* protectedServer()
      const page = { origin: "http://localhost:3000", host: "localhost" }
      const preflight = yield* send("OPTIONS", "/mcp", { ...page, "access-control-request-method": "POST" })
      assert.strictEqual(preflight.status, 204)
      assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /\bauthorization\b.*\bdpop\b/)
      const refused = yield* send("POST", "/mcp", { ...page, ...post }, "{}")
      assert.strictEqual(refused.status, 401)
      assert.match(refused.headers.get("access-control-expose-headers") ?? "", /www-authenticate.*dpop-nonce/)
    }))
})

describe("the resource", () => {
  const derived = (options: Options = {}, at = "http://localhost:3000") =>
    serve(
      ResourceServer.layer(options, (protect) =>
        McpServer.layerHttp(MeLive, { name: "t", version: "1", allowedHosts: "any", middleware: protect })).pipe(
          Layer.provide(TokenVerifier.layerStatic({
            tokens: { t: { subject: "ada", audience: [`${at}/mcp`] } },
            issuers
          }))
        ),
      at
    )

  it.effect("[ARS-07] [SEC-11] on the loopback interface it is what the client calls it, and a token is needed there too", () =>
    Effect.gen(function*() {
      for (const at of ["http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:3000"]) {
        const send = yield* derived({}, at)
        assert.strictEqual(
          challengeOf(yield* call(send))["resource_metadata"],
          `${at}/.well-known/oauth-protected-resource/mcp`
        )
        assert.strictEqual(yield* textOf(yield* call(send, bearer("t"))), "ada")
        assert.strictEqual((yield* call(send, { ...bearer("t"), host: "localhost:9" })).status, 401)
      }
    }))

  it.effect("[ARS-07] elsewhere the Host header says nothing", () =>
    Effect.gen(function*() {
      const send = yield* derived()
      for (
        const host of [
          "evil.example",
          "localhost.evil.example",
          "localhost:3000@evil.example",
          "localhost\" x=\"",
          "0.0.0.0"
        ]
      ) {
        for (const headers of [{ host }, { host, ...bearer("t") }]) {
          const response = yield* call(send, headers)
          assert.strictEqual(response.status, 403, host)
          assert.isNull(response.headers.get("www-authenticate"))
        }
        assert.strictEqual((yield* send("GET", "/.well-known/oauth-protected-resource", { host })).status, 404)
      }
      const named = yield* protectedServer()
      assert.strictEqual(challengeOf(yield* call(named, { host: "evil.example" }))["resource_metadata"], metadata)
    }))

  it.effect("[SEC-12] what cannot be meant is told when the server is put together", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<Options> = [
        { resource: "mcp.example.com" },
        { resource: "https://mcp.example.com/mcp#x" },
        { resource: "https://mcp.example.com/mcp?x=1" },
        { resource: "https://u:p@mcp.example.com" },
        { resource: "ftp://mcp.example.com" },
        { scopes: ["a b"] },
        { scopes: ["a\"b"] },
        { scopes: [""] },
        { metadata: { authorizationServers: [] } },
        { dpop: { mode: "accept", algorithms: ["HS256"] } }
      ]
      for (const options of wrong) {
        const error = yield* Effect.flip(protectedServer(options))
        assert.instanceOf(error, AuthError.AuthError)
        assert.strictEqual(error.reason._tag, "Misconfigured")
      }
    }))
})

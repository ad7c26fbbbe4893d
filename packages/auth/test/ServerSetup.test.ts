/** A server that is put together wrongly says so when it is built, in words that name what is wrong. */
import { assert, describe, it } from "@effect/vitest"
import {
  AuthError,
  LegacyAuthorization,
  ProtectedResource,
  ResourceServer,
  TokenVerifier,
  TokenVerifierIntrospection,
  TokenVerifierJwt
} from "@mcpfx/auth"
import { McpServer } from "@mcpfx/server"
import { TestHttp } from "@mcpfx/testing"
import { Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpRouter, HttpServerResponse } from "effect/http"
import { bearer, challengeOf, jsonOf, modern, origin, type Send, serve } from "./support/protecting.ts"
import { issuer, makeKey, resource } from "./support/signing.ts"

const key = await makeKey("es")
const info = { name: "t", version: "1" }
const issuers = [issuer]
const listed = TokenVerifier.layerStatic({ tokens: { t: { subject: "ada", scopes: ["read"] } }, issuers })
const wellKnown = "/.well-known/oauth-protected-resource"
const Http = Layer.succeed(HttpClient.HttpClient, TestHttp.clientOf(() => new Response(null, { status: 404 })))

const detailOf = (error: unknown): string => {
  assert.instanceOf(error, AuthError.AuthError)
  const { reason } = error
  return reason._tag === "Misconfigured" ? reason.detail : assert.fail(reason._tag)
}

const call = (send: Send, path = "/mcp", headers: Readonly<Record<string, string>> = {}) => {
  const { body, headers: needed } = modern("tools/list")
  return send("POST", path, { ...needed, ...headers }, body)
}

describe("protect", () => {
  const build = <E>(serving: (protect: ResourceServer.Protect) => Layer.Layer<never, E, HttpRouter.HttpRouter>) =>
    serve(Layer.provide(ResourceServer.layer({ resource }, serving), listed))

  it.effect("[ARS-01] that nothing is given to fails the build, for all would be open", () =>
    Effect.gen(function*() {
      const open = [
        () => McpServer.layerHttp(Layer.empty, { ...info, allowedHosts: "any" as const }),
        () => McpServer.layerHttp(Layer.empty, { ...info, sse: true }),
        () => HttpRouter.add("GET", "/mcp", HttpServerResponse.text("open")),
        () => Layer.empty
      ]
      for (const serving of open) assert.include(detailOf(yield* Effect.flip(build(serving))), "middleware: protect")
    }))

  it.effect("[ARS-01] is enough in each form there is", () =>
    Effect.gen(function*() {
      const Mcp = { ...info, allowedHosts: "any" as const }
      const web = yield* build((middleware) => McpServer.layerHttp(Layer.empty, { ...Mcp, middleware, sse: true }))
      assert.strictEqual((yield* call(web)).status, 401)
      for (const [method, path] of [["GET", "/sse"], ["POST", "/messages"]] as const) {
        assert.strictEqual((yield* web(method, path)).status, 401)
      }
      const Hello = HttpRouter.add("GET", "/mcp", HttpServerResponse.text("in"))
      const layered = yield* build((protect) =>
        Layer.provide(Hello, HttpRouter.middleware((app) => protect(app)).layer)
      )
      const direct = yield* build((protect) =>
        HttpRouter.add("GET", "/mcp", protect(Effect.succeed(HttpServerResponse.text("in"))))
      )
      for (const send of [layered, direct]) {
        assert.strictEqual((yield* send("GET", "/mcp")).status, 401)
        assert.strictEqual((yield* send("GET", "/mcp", bearer("t"))).status, 200)
      }
    }))
})

describe("a list of tokens", () => {
  const wrong: ReadonlyArray<readonly [string, TokenVerifier.StaticToken]> = [
    ["a long random secret", { subject: "ada" }],
    ["", { subject: "ada" }],
    ["tökén", { subject: "ada" }],
    ["t=t", { subject: "ada" }],
    ["t,t", { subject: "ada" }],
    ["line\nline", { subject: "ada" }],
    ["good-but-nowhere", { subject: "ada", audience: [] }],
    ["good-but-scope", { subject: "ada", scopes: ["a b"] }]
  ]

  it.effect("[SEC-11] of which one could never be used fails the build, and does not show it", () =>
    Effect.gen(function*() {
      for (const [token, entry] of wrong) {
        const Live = TokenVerifier.layerStatic({ tokens: { fine: { subject: "bob" }, [token]: entry } })
        const detail = detailOf(yield* Effect.flip(Layer.build(Live)))
        assert.match(detail, /^tokens: that of "ada"/)
        if (token !== "") assert.notInclude(detail, token)
      }
      yield* Layer.build(TokenVerifier.layerStatic({ tokens: { "aZ09-._~+/==": { subject: "ada" } } }))
    }))

  it.effect("[ARS-02] leads nobody to an authorization server, unless it names one", () =>
    Effect.gen(function*() {
      const make = (verifier: TokenVerifier.StaticOptions, options: ResourceServer.LayerOptions = {}) =>
        serve(
          ResourceServer.layer(
            { resource, scopes: ["read"], ...options },
            (protect) => HttpRouter.add("*", "/mcp", protect(Effect.succeed(HttpServerResponse.text("in"))))
          ).pipe(
            Layer.provide(TokenVerifier.layerStatic(verifier))
          )
        )
      const tokens = { t: { subject: "ada", scopes: ["read"] }, u: { subject: "bob" } }
      const alone = yield* make({ tokens })
      for (const path of [wellKnown, `${wellKnown}/mcp`]) assert.strictEqual((yield* alone("GET", path)).status, 404)
      const told = { realm: resource, scope: "read" }
      assert.deepStrictEqual(challengeOf(yield* alone("GET", "/mcp")), told)
      assert.deepStrictEqual(challengeOf(yield* alone("GET", "/mcp", bearer("x"))), { ...told, error: "invalid_token" })
      assert.deepStrictEqual(
        challengeOf(yield* alone("GET", "/mcp", bearer("u"))),
        { ...told, error: "insufficient_scope" }
      )
      assert.strictEqual((yield* alone("GET", "/mcp", bearer("t"))).status, 200)

      const metadata = { authorizationServers: ["https://three.example"] }
      for (
        const send of [
          yield* make({ tokens, issuers: ["https://three.example"] }),
          yield* make({ tokens }, { metadata })
        ]
      ) {
        assert.deepInclude(yield* jsonOf(yield* send("GET", wellKnown)), {
          authorization_servers: ["https://three.example"]
        })
        assert.strictEqual(
          challengeOf(yield* send("GET", "/mcp"))["resource_metadata"],
          `${origin}${wellKnown}/mcp`
        )
      }
      const document = Layer.provide(ProtectedResource.layer({ resource }), TokenVerifier.layerStatic({ tokens }))
      assert.include(detailOf(yield* Effect.flip(serve(document))), "authorizationServers")
    }))
})

describe("what cannot be meant", () => {
  const remote = (options: TokenVerifierJwt.Options) => Layer.provide(TokenVerifierJwt.layer(options), Http)
  const asking = (options: Partial<TokenVerifierIntrospection.Options>) =>
    Layer.provide(
      TokenVerifierIntrospection.layer({
        issuer,
        client: { method: "bearer", token: Redacted.make("own") },
        ...options
      }),
      Http
    )
  const server = (
    options: ResourceServer.LayerOptions,
    trust: Layer.Layer<TokenVerifier.TokenVerifier, unknown> = listed
  ) =>
    Layer.provide(
      ResourceServer.layer(options, (protect) =>
        HttpRouter.add("*", "/mcp", protect(Effect.succeed(HttpServerResponse.empty())))),
      [trust, HttpRouter.layer]
    )
  const legacy = (options: LegacyAuthorization.Options) =>
    Layer.provide(LegacyAuthorization.layer(options), [Http, HttpRouter.layer])
  const known = { issuer, keys: [key.jwk] }

  const cases: ReadonlyArray<
    readonly [said: string, Layer.Layer<never, unknown> | Layer.Layer<TokenVerifier.TokenVerifier, unknown>]
  > = [
    [`issuer: "" is no https address`, remote({ issuer: "" })],
    [`issuer: " https`, remote({ issuer: " https://login.example" })],
    [`issuer: "http://login.example"`, remote({ issuers: [{ issuer: "http://login.example" }] })],
    [`jwksUri: "keys"`, remote({ issuer, jwksUri: "keys" })],
    [`issuer: "https://…@login.example"`, remote({ issuer: "https://ada:hunter2@login.example" })],
    [`issuers: "${issuer}" is named twice`, remote({ issuers: [{ issuer }, { issuer }] })],
    [`issuers: there is none`, remote({ issuers: [] })],
    [`algorithms: "HS256"`, remote({ issuer, algorithms: ["HS256"] })],
    [`issuer: "" is nobody`, TokenVerifierJwt.layerKeys({ issuer: "", keys: [key.jwk] })],
    [`keys: "${issuer}" has none`, TokenVerifierJwt.layerKeys({ issuer, keys: [] })],
    [`secret: that of "${issuer}"`, TokenVerifierJwt.layerKeys({ issuer, secret: Redacted.make("hunter2") })],
    [`issuer: "" is no https address`, asking({ issuer: "" })],
    [`endpoint: "ftp://x"`, asking({ endpoint: "ftp://x" })],
    [`resource: "" cannot be`, server({ resource: "" })],
    [`resource: "http://mcp.example.com/mcp" cannot be`, server({ resource: "http://mcp.example.com/mcp" })],
    [`resource: "https://mcp.example.com/mcp?…" cannot be`, server({ resource: `${resource}?key=hunter2` })],
    [`resource: "https://…@mcp.example.com/" cannot be`, server({ resource: "https://ada:hunter2@mcp.example.com/" })],
    [`scopes: "a b" is no scope`, server({ resource, scopes: ["a b"] })],
    [`scopes: "" is no scope`, server({ resource, metadata: { scopes: [""] } })],
    [
      `dpop.algorithms: proofs cannot be signed with "none"`,
      server({ dpop: { mode: "accept", algorithms: ["none"] } })
    ],
    [`authorizationServers: there is none`, server({ metadata: { authorizationServers: [] } })],
    [`authorizationServers: "login"`, server({}, TokenVerifierJwt.layerKeys({ issuer: "login", keys: [key.jwk] }))],
    [`issuer: "" is no https address`, legacy({ issuer: "", resource })],
    [`resource: "http://mcp.example.com" cannot be`, legacy({ issuer, resource: "http://mcp.example.com" })]
  ]

  it.effect("[SEC-12] is told with the option and its value, in one line and without what may be secret", () =>
    Effect.gen(function*() {
      for (const [said, layer] of cases) {
        const detail = detailOf(yield* Effect.flip(Layer.build(layer)))
        assert.include(detail, said)
        assert.notInclude(detail, "hunter2")
      }
      const long = detailOf(yield* Effect.flip(Layer.build(remote({ issuer: `\u001b[2J\n${"x".repeat(10_000)}` }))))
      assert.isBelow(long.length, 400)
      assert.notMatch(long, /\p{C}/u)
    }))

  it.effect("[ARS-02] is not said of http on the machine itself", () =>
    Effect.gen(function*() {
      for (const at of ["http://localhost:3000", "http://127.0.0.1:8080", "http://[::1]:1"]) {
        yield* Layer.build(server({ resource: `${at}/mcp` }))
      }
      yield* Layer.build(Layer.mergeAll(TokenVerifierJwt.layerKeys(known), remote({ issuer: "http://localhost:1" })))
    }))
})

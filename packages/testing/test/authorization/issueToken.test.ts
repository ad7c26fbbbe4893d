import { assert, describe, it } from "@effect/vitest"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { claimsOf, isActive, rs } from "./support.ts"

const url = "https://mcp.test/mcp"

const claims = (options: TestAuthorizationServer.Options, spec?: TestAuthorizationServer.TokenSpec) =>
  Effect.gen(function*() {
    const server = yield* TestAuthorizationServer.make(options)
    const { aud, client_id, scope, sub } = claimsOf(yield* server.issueToken(spec))
    return { aud, client_id, scope, sub }
  })

describe("issueToken", () => {
  it.effect("is good for the resources and scopes of the server", () =>
    Effect.gen(function*() {
      const usual = { client_id: "test-client", sub: "user", scope: undefined }
      assert.deepStrictEqual(yield* claims({}), { ...usual, aud: "https://login.test" })
      assert.deepStrictEqual(yield* claims({ audience: "api", resources: [url] }), { ...usual, aud: "api" })
      assert.deepStrictEqual(yield* claims({ resources: [url], scopes: ["a", "b"] }), {
        ...usual,
        aud: url,
        scope: "a b"
      })
      const two = ["https://a.test/mcp", "https://b.test/mcp"]
      assert.deepStrictEqual((yield* claims({ resources: two })).aud, two)
    }))

  it.effect("is what a test says it is, and claims have the last word", () =>
    Effect.gen(function*() {
      const spec = { resource: url, scopes: ["sums"], user: "ada", clientId: "app" }
      const options = { resources: ["https://a.test/mcp"], scopes: ["a"] }
      const wanted = { aud: url, client_id: "app", scope: "sums", sub: "ada" }
      assert.deepStrictEqual(yield* claims(options, spec), wanted)
      assert.deepStrictEqual(yield* claims(options, { ...spec, claims: { sub: "eve" } }), { ...wanted, sub: "eve" })
      assert.isUndefined((yield* claims(options, { scopes: [] })).scope)
    }))

  it.effect("is known to those who ask by introspection, unless its signature is wrong, and ends as others do", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [rs] })
      const token = yield* server.issueToken()
      assert.isTrue(yield* isActive(server, token))
      assert.isFalse(yield* isActive(server, yield* server.issueToken({ sign: "stranger" })))
      assert.isFalse(yield* isActive(server, yield* server.issueToken({ claims: { exp: 0 } })))
      yield* server.revoke(token)
      assert.isFalse(yield* isActive(server, token))
      const other = yield* server.issueToken({ clientId: "app" })
      yield* server.revoke({ clientId: "app" })
      assert.isFalse(yield* isActive(server, other))
    }))

  it.effect("is opaque where tokens are, and then good for a server that introspects", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ accessTokens: "opaque", clients: [rs] })
      const token = yield* server.issueToken({ resource: url, scopes: ["sums"], user: "ada" })
      assert.notInclude(token, ".")
      assert.include(yield* server.issueToken({ header: { typ: "JWT" } }), ".")
      assert.isTrue(yield* isActive(server, token))
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { AuthorizationFault, TestAuthorizationServer } from "@mcpfx/testing"
import * as LoopbackServer from "@mcpfx/tooling/loopbackServer"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import * as Jose from "jose"

const Port = LoopbackServer.layer()

describe("TestAuthorizationServer on a port", () => {
  it.live("is a server that others log in to and read keys from", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.TestAuthorizationServer
      assert.match(server.issuer, /^http:\/\/127\.0\.0\.1:\d+$/)
      const client = yield* HttpClient.HttpClient
      const found: unknown = yield* Effect.flatMap(client.get(server.url("metadata")), (response) => response.json)
      assert.deepInclude(found, { issuer: server.issuer, token_endpoint: `${server.issuer}/token` })

      // The browser goes over the port as well, through the page, without following redirects on its own.
      const browser = client.pipe(HttpClient.transform((effect) =>
        Effect.provideService(effect, FetchHttpClient.RequestInit, { redirect: "manual" })
      ))
      const tokens = yield* server.login({ scopes: ["notes"], resource: "http://127.0.0.1:1/mcp" }, { client: browser })
      assert.strictEqual(yield* server.count("consent"), 1)

      const keys = Jose.createRemoteJWKSet(new URL(server.url("jwks")), { cooldownDuration: 0 })
      const verify = (token: string) =>
        Effect.promise(() =>
          Jose.jwtVerify(token, keys, { issuer: server.issuer, typ: "at+jwt" })
        )
      assert.strictEqual((yield* verify(tokens.access_token)).payload.aud, "http://127.0.0.1:1/mcp")
      yield* server.rotateKeys({ keep: false })
      assert.strictEqual((yield* verify(yield* server.issueToken())).payload.iss, server.issuer)
      assert.strictEqual(yield* server.count("jwks"), 2)
    }).pipe(
      Effect.provide(TestAuthorizationServer.layerHttp().pipe(Layer.provide(Port), Layer.merge(FetchHttpClient.layer)))
    ))

  it.live("cuts the connection of a client", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.TestAuthorizationServer
      const client = yield* HttpClient.HttpClient
      yield* server.fault("jwks", AuthorizationFault.reset())
      const error = yield* Effect.flip(client.get(server.url("jwks")))
      assert.strictEqual(error.reason._tag, "TransportError")
      assert.strictEqual((yield* client.get(server.url("jwks"))).status, 200)
    }).pipe(
      Effect.provide(TestAuthorizationServer.layerHttp().pipe(Layer.provide(Port), Layer.merge(FetchHttpClient.layer)))
    ))
})

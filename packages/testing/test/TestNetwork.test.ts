import { assert, describe, it } from "@effect/vitest"
import { TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { type HttpClient, HttpRouter, HttpServerResponse } from "effect/http"

describe("TestNetwork", () => {
  it.effect("serves more than one server on the routes of one app", () =>
    Effect.gen(function*() {
      const issuers = ["https://app.test/login", "https://app.test/idp"] as const
      const routes = Layer.mergeAll(
        TestAuthorizationServer.layerRoutes({ issuer: issuers[0] }),
        TestAuthorizationServer.layerRoutes({ issuer: issuers[1] }),
        HttpRouter.add("GET", "/hello", HttpServerResponse.text("hello"))
      )
      const client = TestNetwork.client({ "https://app.test": yield* TestNetwork.serve(routes) })
      const text = yield* Effect.flatMap(client.get("https://app.test/hello"), (response) => response.text)
      assert.strictEqual(text, "hello")
      for (const issuer of issuers) {
        const url = `${issuer}/.well-known/openid-configuration`
        const found: unknown = yield* Effect.flatMap(client.get(url), (response) => response.json)
        assert.deepInclude(found, { issuer, jwks_uri: `${issuer}/jwks` })
      }
      assert.strictEqual((yield* client.get("https://app.test/nothing")).status, 404)
    }))

  it.effect("the same routes served twice are two servers", () =>
    Effect.gen(function*() {
      let count = 0
      const routes = HttpRouter.use((router) =>
        Effect.suspend(() => router.add("GET", "/", HttpServerResponse.text(String(++count))))
      )
      const [one, two] = [yield* TestNetwork.serve(routes), yield* TestNetwork.serve(routes)]
      const read = (client: HttpClient.HttpClient) =>
        Effect.flatMap(client.get("https://app.test/"), (response) => response.text)
      assert.deepStrictEqual([yield* read(one), yield* read(two)], ["1", "2"])
    }))
})

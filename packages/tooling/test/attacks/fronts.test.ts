/** A server that stands for its authorization server: it leads there, and nowhere else. */
import { assert, describe, it } from "@effect/vitest"
import { LegacyAuthorization } from "@mcpfx/auth"
import { TestNetwork } from "@mcpfx/testing"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { redirect } from "../../src/attacks/network.ts"
import { evil, issuer, make, mcpOrigin, mcpUrl, tokenUrl } from "../../src/attacks/world.ts"

describe("an origin that stands for an authorization server", () => {
  const legacy = Effect.gen(function*() {
    const world = yield* make()
    const routes = LegacyAuthorization.layer({ resource: mcpUrl, issuer }).pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, world.inside.client))
    )
    const front = yield* TestNetwork.serve(routes)
    return { world, front }
  })

  it.effect("[ARS-13] leads to the real one, whatever a request says", () =>
    Effect.gen(function*() {
      const { front } = yield* legacy
      const queries = [
        "//evil.test",
        "@evil.test",
        "url=https://evil.test",
        "client_id=a&redirect_uri=https://evil.test/&state=%0d%0aLocation:%20https://evil.test",
        "authorization_endpoint=https://evil.test",
        "#@evil.test/",
        "\\\\evil.test"
      ]
      for (const query of queries) {
        for (const path of ["/authorize", "//authorize", "/authorize/"]) {
          const response = yield* front.get(`${mcpOrigin}${path}?${query}`)
          const { location } = response.headers
          if (location === undefined) assert.strictEqual(response.status, 404)
          else assert.strictEqual(new URL(location).origin + new URL(location).pathname, `${issuer}/authorize`)
          assert.notInclude(location ?? "", "\n")
        }
      }
    }))

  it.effect("[ARS-13] [SEC-05] follows no redirect of the real one with what it was given", () =>
    Effect.gen(function*() {
      const { front, world } = yield* legacy
      world.inside.on(`POST ${tokenUrl}`, () => redirect(`${evil}/token`)).on(evil, {})
      const response = yield* front.execute(
        HttpClientRequest.post(`${mcpOrigin}/token`).pipe(
          HttpClientRequest.bodyUrlParams({ grant_type: "authorization_code", code: "the-code-of-a-login" })
        )
      )
      assert.strictEqual(response.status, 503)
      assert.isUndefined(response.headers["location"])
      assert.deepStrictEqual([world.inside.at(evil), world.inside.strays], [[], []])
    }))
})

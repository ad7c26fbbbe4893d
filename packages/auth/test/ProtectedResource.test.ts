import { assert, describe, it } from "@effect/vitest"
import { ProtectedResource, TokenVerifier } from "@mcpfx/auth"
import { Effect, Layer } from "effect"
import { jsonOf, origin, serve } from "./support/protecting.ts"

const wellKnown = "/.well-known/oauth-protected-resource"
const verifier = TokenVerifier.layerStatic({ tokens: {}, issuers: ["https://one.example", "https://two.example"] })

const make = (options: ProtectedResource.Options, at?: string) =>
  serve(Layer.provide(ProtectedResource.layer(options), verifier), at)

describe("ProtectedResource", () => {
  it.effect("[ARS-02] [ARS-04] the document is at the address of the resource and at the root", () =>
    Effect.gen(function*() {
      const send = yield* make({ resource: `${origin}/team/mcp` })
      for (const path of [`${wellKnown}/team/mcp`, `${wellKnown}/team/mcp/`, wellKnown]) {
        const response = yield* send("GET", path)
        assert.strictEqual(response.status, 200)
        assert.strictEqual(response.headers.get("content-type"), "application/json")
        assert.strictEqual(response.headers.get("cache-control"), "public, max-age=3600")
        assert.deepStrictEqual(yield* jsonOf(response), {
          resource: `${origin}/team/mcp`,
          authorization_servers: ["https://one.example", "https://two.example"],
          bearer_methods_supported: ["header"]
        })
      }
      assert.strictEqual((yield* send("GET", `${wellKnown}/mcp`)).status, 404)
    }))

  it.effect("[ARS-02] the address of the resource is written as it was given", () =>
    Effect.gen(function*() {
      for (const resource of [origin, `${origin}/`, `${origin}/mcp/`]) {
        const send = yield* make({ resource })
        assert.strictEqual((yield* jsonOf(yield* send("GET", wellKnown))).resource, resource)
      }
    }))

  it.effect("[ARS-10] [SEC-12] it tells what there is to tell, and never offline_access", () =>
    Effect.gen(function*() {
      const send = yield* make({
        resource: `${origin}/mcp`,
        authorizationServers: ["https://three.example"],
        scopes: ["notes:read", "offline_access", "notes:read"],
        name: "Notes",
        documentation: "https://example.com/docs",
        policy: "https://example.com/policy",
        termsOfService: "https://example.com/tos",
        dpop: { algorithms: ["ES256"], required: true },
        maxAge: "1 minute"
      })
      const response = yield* send("GET", wellKnown)
      assert.strictEqual(response.headers.get("cache-control"), "public, max-age=60")
      assert.deepStrictEqual(yield* jsonOf(response), {
        resource: `${origin}/mcp`,
        authorization_servers: ["https://three.example"],
        bearer_methods_supported: ["header"],
        scopes_supported: ["notes:read"],
        resource_name: "Notes",
        resource_documentation: "https://example.com/docs",
        resource_policy_uri: "https://example.com/policy",
        resource_tos_uri: "https://example.com/tos",
        dpop_signing_alg_values_supported: ["ES256"],
        dpop_bound_access_tokens_required: true
      })
    }))

  it.effect("[ARS-02] pages of any origin may read it, and nobody may write it", () =>
    Effect.gen(function*() {
      const send = yield* make({ resource: `${origin}/mcp` })
      const preflight = yield* send("OPTIONS", wellKnown, {
        origin: "https://page.example",
        "access-control-request-method": "GET",
        "access-control-request-headers": "mcp-protocol-version"
      })
      assert.strictEqual(preflight.status, 204)
      assert.strictEqual(preflight.headers.get("access-control-allow-headers"), "*")
      for (const method of ["GET", "OPTIONS", "POST"]) {
        const response = yield* send(method, wellKnown, { origin: "https://page.example" })
        assert.strictEqual(response.headers.get("access-control-allow-origin"), "*")
        assert.isNull(response.headers.get("access-control-allow-credentials"))
        if (method === "POST") assert.strictEqual(response.status, 405)
      }
    }))

  it.effect("[ARS-04] several resources of one origin leave the root to one of them", () =>
    Effect.gen(function*() {
      const routes = Layer.merge(
        ProtectedResource.layer({ resource: `${origin}/a` }),
        ProtectedResource.layer({ resource: `${origin}/b`, root: false })
      )
      const send = yield* serve(Layer.provide(routes, verifier))
      const resourceAt = (path: string) =>
        Effect.map(Effect.flatMap(send("GET", path), jsonOf), ({ resource }) => resource)
      assert.strictEqual(yield* resourceAt(`${wellKnown}/a`), `${origin}/a`)
      assert.strictEqual(yield* resourceAt(`${wellKnown}/b`), `${origin}/b`)
      assert.strictEqual(yield* resourceAt(wellKnown), `${origin}/a`)
    }))

  it.effect("[ARS-02] without an address it speaks of the loopback name that was asked, and keeps it from caches", () =>
    Effect.gen(function*() {
      const send = yield* make({ path: "/notes" }, "http://localhost:4000")
      for (const path of [`${wellKnown}/notes`, wellKnown]) {
        const response = yield* send("GET", path)
        assert.strictEqual((yield* jsonOf(response)).resource, "http://localhost:4000/notes")
        assert.strictEqual(response.headers.get("cache-control"), "no-store")
      }
    }))
})

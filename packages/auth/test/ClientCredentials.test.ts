import { assert, describe, it } from "@effect/vitest"
import { type AuthorizationServer, ClientCredentials, type Registration } from "@mcpfx/auth"
import { Effect } from "effect"
import { exportPKCS8, generateKeyPair, jwtVerify } from "jose"
import { good, issuer, provider, requestTo, resource, secret, server } from "./support/provider.ts"

const setUp = (
  client: Registration.Preregistered,
  target: AuthorizationServer.AuthorizationServer = server(),
  more: Partial<ClientCredentials.Options> = {}
) => {
  const as = provider(() => good)
  const { request } = requestTo(as.endpoint(), { server: target, scopes: ["mcp:read"] })
  const grant = ClientCredentials.grant({ client, ...more })
  return { as, grant, request, obtain: grant.obtain(request) }
}

const batch = { issuer, clientId: "batch", clientSecret: secret("s3cret") }

describe("client credentials", () => {
  it.effect("[OCC-01] asks with a secret, and with the resource in the body", () =>
    Effect.gen(function*() {
      const { as, obtain } = setUp(batch)
      assert.strictEqual((yield* obtain).clientId, "batch")
      assert.strictEqual(as.asked[0]?.headers["authorization"], `Basic ${btoa("batch:s3cret")}`)
      assert.deepStrictEqual(as.asked[0]?.form, { grant_type: "client_credentials", resource, scope: "mcp:read" })
      const post = setUp(batch, server({ token_endpoint_auth_methods_supported: ["client_secret_post"] }))
      yield* post.obtain
      assert.deepStrictEqual(post.as.asked[0]?.form, {
        grant_type: "client_credentials",
        resource,
        scope: "mcp:read",
        client_id: "batch",
        client_secret: "s3cret"
      })
    }))

  it.effect("[OCC-01] asks with a private key by a client assertion, not by an assertion as the grant", () =>
    Effect.gen(function*() {
      const { privateKey, publicKey } = yield* Effect.promise(() => generateKeyPair("ES256", { extractable: true }))
      const key = { key: secret(yield* Effect.promise(() => exportPKCS8(privateKey))), algorithm: "ES256" }
      const methods = {
        token_endpoint_auth_methods_supported: ["client_secret_basic", "private_key_jwt"],
        token_endpoint_auth_signing_alg_values_supported: ["ES256"]
      }
      const { as, obtain } = setUp({ ...batch, key }, server(methods))
      yield* obtain
      const { client_assertion = "", ...form } = as.asked[0]?.form ?? {}
      assert.deepStrictEqual(form, {
        grant_type: "client_credentials",
        resource,
        scope: "mcp:read",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
      })
      assert.isUndefined(as.asked[0]?.headers["authorization"])
      const verified = yield* Effect.promise(() =>
        jwtVerify(client_assertion, publicKey, { audience: issuer, subject: "batch", currentDate: new Date(0) })
      )
      assert.strictEqual(verified.payload.iss, "batch")
    }))

  it.effect("[OCC-01] [ACL-13] neither registers anybody nor shows its secret to another issuer", () =>
    Effect.gen(function*() {
      const elsewhere = setUp({ ...batch, issuer: "https://other.example.com" })
      assert.strictEqual((yield* Effect.flip(elsewhere.obtain)).reason._tag, "RegistrationRequired")
      const open = setUp({ issuer, clientId: "batch" })
      const bare = yield* Effect.flip(open.obtain)
      assert.strictEqual(bare.reason._tag, "Misconfigured")
      assert.include(bare.message, "the client \"batch\" has neither")
      const { token_endpoint: _, ...without } = server().metadata
      const lacking = setUp(batch, { issuer, found: "resource", metadata: without })
      assert.strictEqual((yield* Effect.flip(lacking.obtain)).reason._tag, "NotSupported")
      assert.strictEqual(elsewhere.as.asked.length + open.as.asked.length + lacking.as.asked.length, 0)
    }))

  it.effect("takes more parameters, but not in place of the flow's own", () =>
    Effect.gen(function*() {
      const parameters = { audience: "api", grant_type: "password", resource: "https://evil.example" }
      const { as, grant, obtain, request } = setUp(batch, server(), { parameters })
      yield* obtain
      assert.strictEqual(as.asked[0]?.form["audience"], "api")
      assert.strictEqual(as.asked[0]?.form["grant_type"], "client_credentials")
      assert.strictEqual(as.asked[0]?.form["resource"], resource)
      assert.strictEqual((yield* grant.client(request)).registration.clientId, "batch")
    }))
})

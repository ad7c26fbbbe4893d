import { assert, describe, it } from "@effect/vitest"
import { AuthError, Dpop } from "@mcpfx/auth"
import { Effect, Redacted } from "effect"
import { Headers } from "effect/http"
import { TestClock } from "effect/testing"
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from "jose"
import { good, issuer, provider, type Reply, secret, server } from "./support/provider.ts"

const url = `${issuer}/token`

const verified = (proof: string) =>
  Effect.promise(() => jwtVerify(proof, EmbeddedJWK, { typ: "dpop+jwt", currentDate: new Date(0) }))

const nonceHeader = (nonce: string) => Headers.fromInput({ "DPoP-Nonce": nonce })

const request = { url, issuer, parameters: { grant_type: "x", code: secret("the-code-4711") } }

const bound = (headers: Reply["headers"] = {}): Reply => ({
  body: { access_token: "bound", token_type: "dpop" },
  headers
})

const wanted = (nonce: string, status = 400): Reply => ({
  status,
  headers: { "dpop-nonce": nonce },
  body: { error: "use_dpop_nonce", error_description: "Authorization server requires nonce in DPoP proof" }
})

describe("proofs", () => {
  it.effect("shows method and address without query and fragment, a new id each time, and the public key alone", () =>
    Effect.gen(function*() {
      const dpop = yield* Dpop.make()
      const to = { method: "POST", url: "https://Login.example.com:443/a%20b/token?x=1#y" }
      const proofs = [yield* dpop.proof(to), yield* dpop.proof(to)]
      const { payload, protectedHeader } = yield* verified(proofs[0] ?? "")
      assert.deepStrictEqual(Object.keys(protectedHeader).toSorted(), ["alg", "jwk", "typ"])
      assert.strictEqual(protectedHeader.alg, "ES256")
      assert.deepStrictEqual(Object.keys(protectedHeader.jwk ?? {}).toSorted(), ["crv", "kty", "x", "y"])
      assert.deepStrictEqual(
        { ...payload, jti: "" },
        { htm: "POST", htu: "https://login.example.com/a%20b/token", iat: 0, jti: "" }
      )
      assert.strictEqual(new Set(proofs.map((proof) => decodeJwt(proof).jti)).size, 2)
      const jwk = protectedHeader.jwk ?? {}
      assert.strictEqual(dpop.thumbprint, yield* Effect.promise(() => calculateJwkThumbprint(jwk)))
    }))

  it.effect("binds a proof to the token that goes along, as in the example of RFC 9449, 7.1", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(1_562_262_618_000)
      const dpop = yield* Dpop.make()
      const accessToken = secret("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU")
      const proof = yield* dpop.proof({
        method: "GET",
        url: "https://resource.example.org/protectedresource",
        accessToken
      })
      const { ath, iat } = decodeJwt(proof)
      assert.strictEqual(ath, "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
      assert.strictEqual(iat, 1_562_262_618)
    }))

  it.effect("has the thumbprint of the key of the example in RFC 9449, 6.1", () =>
    Effect.gen(function*() {
      const key = secret(JSON.stringify({
        kty: "EC",
        x: "l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs",
        y: "9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA",
        crv: "P-256",
        alg: "ES256"
      }))
      // The example has no private part, so that nobody can sign with it; its public part is the same for any.
      assert.strictEqual((yield* Effect.flip(Dpop.make({ key }))).reason._tag, "Misconfigured")
      const thumbprint = yield* Effect.promise(() => calculateJwkThumbprint(JSON.parse(Redacted.value(key))))
      assert.strictEqual(thumbprint, "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
    }))

  it.effect("a key that is kept is the same one afterwards; one that is not kept cannot be taken out", () =>
    Effect.gen(function*() {
      for (const algorithm of ["ES256", "EdDSA", "RS256"]) {
        const key = yield* Dpop.generateKey(algorithm)
        assert.notInclude(JSON.stringify(key), "kty")
        const first = yield* Dpop.make({ key })
        const second = yield* Dpop.make({ key })
        assert.strictEqual(first.thumbprint, second.thumbprint)
        assert.strictEqual(first.algorithm, algorithm)
        const proof = yield* second.proof({ method: "POST", url })
        yield* verified(proof)
        assert.notProperty(decodeProtectedHeader(proof).jwk, "d")
      }
      assert.notStrictEqual((yield* Dpop.make()).thumbprint, (yield* Dpop.make()).thumbprint)
      assert.strictEqual((yield* Effect.flip(Dpop.make({ algorithm: "HS256" }))).reason._tag, "Misconfigured")
      assert.strictEqual((yield* Effect.flip(Dpop.make({ key: secret("no key") }))).reason._tag, "Misconfigured")
    }))
})

describe("nonces", () => {
  it.effect("are those of the origin, and of its role, that gave them, and only so many", () =>
    Effect.gen(function*() {
      const dpop = yield* Dpop.make({ maxNonces: 2 })
      const nonceOf = (to: Dpop.ProofRequest) => Effect.map(dpop.proof(to), (proof) => decodeJwt(proof)["nonce"])
      const token = { method: "POST", url }
      const call = { method: "POST", url, accessToken: secret("t") }
      const other = { method: "POST", url: "https://other.example.com/token" }
      assert.isTrue(dpop.remember(token, nonceHeader("n1")))
      assert.isFalse(dpop.remember(token, nonceHeader("n1")))
      assert.isFalse(dpop.remember(token, Headers.empty))
      assert.isTrue(dpop.remember(call, nonceHeader("n2")))
      assert.strictEqual(yield* nonceOf(token), "n1")
      assert.strictEqual(yield* nonceOf({ method: "GET", url: `${issuer}/x` }), "n1")
      assert.strictEqual(yield* nonceOf(call), "n2")
      assert.isUndefined(yield* nonceOf(other))
      dpop.remember(other, nonceHeader("n3"))
      assert.isUndefined(yield* nonceOf(token))
      assert.strictEqual(yield* nonceOf(call), "n2")
      // The one that was used longest ago goes.
      dpop.remember(call, nonceHeader("n2"))
      dpop.remember(token, nonceHeader("n4"))
      assert.isUndefined(yield* nonceOf(other))
      assert.strictEqual(yield* nonceOf(call), "n2")
      for (const bad of ["", "a b", "a\"b", "x".repeat(513)]) assert.isFalse(dpop.remember(other, nonceHeader(bad)))
    }))

  it.effect("a server that wants its nonce is asked once more, with another proof", () =>
    Effect.gen(function*() {
      const { asked, endpoint } = provider((_, count) => count === 1 ? wanted("n1") : bound({ "dpop-nonce": "n2" }))
      const dpop = yield* Dpop.make()
      const way = endpoint(dpop)
      assert.strictEqual(way.thumbprint, dpop.thumbprint)
      assert.strictEqual((yield* way.tokens(request)).tokenType, "DPoP")
      yield* way.tokens(request)
      const proofs = asked.map(({ headers }) => decodeJwt(headers["dpop"] ?? ""))
      assert.deepStrictEqual(proofs.map(({ nonce }) => nonce), [undefined, "n1", "n2"])
      assert.strictEqual(new Set(proofs.map(({ jti }) => jti)).size, 3)
      assert.deepStrictEqual(asked.map(({ form }) => form["code"]), Array.from({ length: 3 }, () => "the-code-4711"))
    }))

  it.effect("a server that is never content with its nonce is asked twice", () =>
    Effect.gen(function*() {
      const { asked, endpoint } = provider((_, count) => wanted(`n${count}`, 401))
      const error = yield* Effect.flip(endpoint(yield* Dpop.make()).tokens(request))
      assert.strictEqual(error.reason._tag === "OAuthRefused" ? error.reason.error : "", "use_dpop_nonce")
      assert.strictEqual(asked.length, 2)
      const without = provider(() => ({ status: 400, body: { error: "use_dpop_nonce" } }))
      yield* Effect.flip(without.endpoint(yield* Dpop.make()).tokens(request))
      assert.strictEqual(without.asked.length, 1)
      const other = provider(() => ({ ...wanted("n1"), body: { error: "invalid_grant" } }))
      yield* Effect.flip(other.endpoint(yield* Dpop.make()).tokens(request))
      assert.strictEqual(other.asked.length, 1)
    }))
})

describe("tokens", () => {
  it.effect("has to be bound where a key was shown, unless that was optional, and is none where no key was", () =>
    Effect.gen(function*() {
      const tokens = (reply: Reply, dpop?: Dpop.Dpop) => provider(() => reply).endpoint(dpop).tokens(request)
      const required = yield* Effect.flip(tokens(good, yield* Dpop.make()))
      assert.strictEqual(required.reason._tag, "BadAnswer")
      assert.strictEqual((yield* tokens(good, yield* Dpop.make({ required: false }))).tokenType, "Bearer")
      assert.strictEqual((yield* tokens(bound(), yield* Dpop.make({ required: false }))).tokenType, "DPoP")
      assert.strictEqual((yield* Effect.flip(tokens(bound()))).reason._tag, "BadAnswer")
    }))

  it.effect("no proof goes where no token of the resource comes from", () =>
    Effect.gen(function*() {
      const { asked, endpoint } = provider(() => ({ body: {} }))
      const way = endpoint(yield* Dpop.make())
      yield* way.form({ ...request, endpoint: "revocation" })
      yield* way.json(`${issuer}/register`, {})
      assert.deepStrictEqual(asked.map(({ headers }) => headers["dpop"]), [undefined, undefined])
    }))

  it.effect("says whether a server takes proofs of the key", () =>
    Effect.gen(function*() {
      const dpop = yield* Dpop.make()
      assert.isTrue(Dpop.isSupported(server({ dpop_signing_alg_values_supported: ["RS256", "ES256"] }), dpop))
      assert.isFalse(Dpop.isSupported(server({ dpop_signing_alg_values_supported: ["RS256"] }), dpop))
      assert.isFalse(Dpop.isSupported(server(), dpop))
      assert.instanceOf(yield* Effect.flip(Dpop.make({ algorithm: "none" })), AuthError.AuthError)
    }))
})

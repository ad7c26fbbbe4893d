import { assert, describe, it } from "@effect/vitest"
import type { AuthError, ClientKey, Credentials } from "@mcpfx/auth"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import {
  calculateJwkThumbprint,
  exportJWK,
  exportPKCS8,
  generateKeyPair,
  importJWK,
  jwtVerify,
  type JWTVerifyResult
} from "jose"
import { basic, identity, methodFor } from "../src/internal/clientAuthentication.ts"
import { importKey } from "../src/internal/signingKey.ts"
import { issuer, secret } from "./support/provider.ts"

const registered = (
  authentication: Credentials.AuthenticationMethod,
  clientSecret?: string
): Credentials.Registration => ({
  kind: "preregistered",
  clientId: "client:1",
  ...(clientSecret === undefined ? {} : { clientSecret: secret(clientSecret) }),
  authentication,
  redirectUris: []
})

const proofOf = (
  registration: Credentials.Registration,
  key?: ClientKey.ClientKey,
  algorithms?: ReadonlyArray<string>
) => identity(registration, key, { algorithms }).authenticate(`${issuer}/token`, issuer)

const reasonOf = <A>(effect: Effect.Effect<A, AuthError.AuthError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

const pair = (algorithm: string) => Effect.promise(() => generateKeyPair(algorithm, { extractable: true }))

const plain = (value: string | Redacted.Redacted<string> | undefined): string =>
  value === undefined ? "" : Redacted.isRedacted(value) ? Redacted.value(value) : value

describe("secrets", () => {
  it("form-encodes both parts of basic (RFC 6749, 2.3.1)", () => {
    assert.strictEqual(
      basic("s6BhdRkqt3", "7Fjfp0ZBr1KtDRbnfVdmIw"),
      "Basic czZCaGRSa3F0Mzo3RmpmcDBaQnIxS3REUmJuZlZkbUl3"
    )
    const decoded = atob(basic("a:b c", "+%ü/").slice("Basic ".length))
    assert.strictEqual(decoded, "a%3Ab+c:%2B%25%C3%BC%2F")
  })

  it.effect("[field AUT-18] sends a secret in the way that was registered, and no way sends it twice", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* proofOf(registered("none", "s3cret")), {
        parameters: { client_id: "client:1" },
        headers: {}
      })
      assert.deepStrictEqual(yield* proofOf(registered("client_secret_basic", "s3cret")), {
        parameters: {},
        headers: { authorization: basic("client:1", "s3cret") }
      })
      const post = yield* proofOf(registered("client_secret_post", "s3cret"))
      assert.deepStrictEqual(post.headers, {})
      assert.strictEqual(plain(post.parameters["client_secret"]), "s3cret")
      assert.notInclude(JSON.stringify(post), "s3cret")
    }))

  it.effect("a way without what it needs is a mistake of the configuration", () =>
    Effect.gen(function*() {
      for (const method of ["client_secret_basic", "client_secret_post", "private_key_jwt"] as const) {
        assert.strictEqual((yield* reasonOf(proofOf(registered(method))))._tag, "Misconfigured")
      }
    }))

  it("chooses the way by what the client has and what the server takes", () => {
    const all = ["none", "client_secret_post", "client_secret_basic", "private_key_jwt"]
    const rows: ReadonlyArray<
      readonly [secret: boolean, key: boolean, methods: ReadonlyArray<string> | undefined, method: string]
    > = [
      [false, false, undefined, "none"],
      [false, false, ["client_secret_basic"], "none"],
      [true, false, undefined, "client_secret_basic"],
      [true, false, all, "client_secret_basic"],
      [true, false, ["client_secret_post"], "client_secret_post"],
      [true, false, ["none"], "none"],
      [true, false, ["tls_client_auth"], "client_secret_basic"],
      [false, true, undefined, "private_key_jwt"],
      [true, true, all, "private_key_jwt"],
      [true, true, ["client_secret_basic"], "client_secret_basic"]
    ]
    for (const [has, key, methods, method] of rows) {
      assert.strictEqual(methodFor({ secret: has, key }, { methods }), method)
    }
  })
})

describe("private keys", () => {
  it.effect("[OCC-01] signs an assertion for the issuer, good for a minute, another one each time (RFC 7523, 2.2)", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(1_700_000_000_000)
      const { privateKey, publicKey } = yield* pair("ES256")
      const pem = yield* Effect.promise(() => exportPKCS8(privateKey))
      const proofs = [
        yield* proofOf(registered("private_key_jwt"), { key: secret(pem), keyId: "k1" }),
        yield* proofOf(registered("private_key_jwt"), { key: secret(pem), keyId: "k1" })
      ]
      const verified = yield* Effect.forEach(proofs, ({ headers, parameters }) => {
        assert.deepStrictEqual(headers, {})
        assert.deepStrictEqual(Object.keys(parameters), ["client_assertion_type", "client_assertion"])
        assert.strictEqual(
          parameters["client_assertion_type"],
          "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        )
        return Effect.promise(() =>
          jwtVerify(plain(parameters["client_assertion"]), publicKey, { currentDate: new Date(1_700_000_030_000) })
        )
      })
      const ids = verified.map(({ payload, protectedHeader }: JWTVerifyResult) => {
        assert.deepStrictEqual(protectedHeader, { alg: "ES256", typ: "JWT", kid: "k1" })
        const { jti, ...claims } = payload
        assert.deepStrictEqual(claims, {
          iss: "client:1",
          sub: "client:1",
          aud: issuer,
          iat: 1_700_000_000,
          exp: 1_700_000_060
        })
        return jti
      })
      assert.strictEqual(new Set(ids).size, 2)
      const named = yield* proofOf(registered("private_key_jwt"), { key: secret(pem), sendClientId: true })
      assert.strictEqual(named.parameters["client_id"], "client:1")
    }))

  it.effect("reads PKCS #8, JWK as object and as text, and keys of WebCrypto, of each kind", () =>
    Effect.gen(function*() {
      for (const algorithm of ["ES256", "ES384", "ES512", "EdDSA", "RS256"]) {
        const { privateKey, publicKey } = yield* pair(algorithm)
        const pem = yield* Effect.promise(() => exportPKCS8(privateKey))
        const jwk = yield* Effect.promise(() => exportJWK(privateKey))
        for (const key of [pem, `\n${pem}`, jwk, JSON.stringify(jwk), privateKey]) {
          const proof = yield* proofOf(registered("private_key_jwt"), { key: Redacted.make(key) })
          const { protectedHeader } = yield* Effect.promise(() =>
            jwtVerify(plain(proof.parameters["client_assertion"]), publicKey, { currentDate: new Date(0) })
          )
          assert.strictEqual(protectedHeader.alg, algorithm)
        }
      }
    }))

  it.effect("pins the algorithm to the key, and takes of an RSA key's what the server takes", () =>
    Effect.gen(function*() {
      const { privateKey } = yield* pair("RS256")
      const key = secret(yield* Effect.promise(() => exportPKCS8(privateKey)))
      const algorithm = (client: ClientKey.ClientKey, supported?: ReadonlyArray<string>) =>
        Effect.map(importKey(client, supported), (imported) => imported.algorithm)
      assert.strictEqual(yield* algorithm({ key }, ["ES256", "PS256"]), "PS256")
      assert.strictEqual(yield* algorithm({ key, algorithm: "PS512" }), "PS512")
      for (const pinned of ["ES256", "HS256", "none"]) {
        assert.strictEqual((yield* reasonOf(algorithm({ key, algorithm: pinned })))._tag, "Misconfigured")
      }
      assert.strictEqual((yield* reasonOf(algorithm({ key }, ["ES256"])))._tag, "Misconfigured")
      const jwk = yield* Effect.promise(() => exportJWK(privateKey))
      assert.strictEqual(yield* algorithm({ key: Redacted.make({ ...jwk, alg: "PS384" }) }), "PS384")
    }))

  it.effect("takes no public key, no shared secret and nothing unreadable, and shows nothing of it", () =>
    Effect.gen(function*() {
      const { privateKey, publicKey } = yield* pair("ES256")
      const { d: _, ...open } = yield* Effect.promise(() => exportJWK(privateKey))
      const oct = { kty: "oct", k: "c2VjcmV0LXNlY3JldC1zZWNyZXQ", d: "x" }
      for (const key of [open, oct, publicKey, "-----BEGIN RSA PRIVATE KEY-----\nc2VjcmV0\n", "{", "", "{}"]) {
        const error = yield* Effect.flip(importKey({ key: Redacted.make(key) }, undefined))
        assert.strictEqual(error.reason._tag, "Misconfigured")
        assert.notInclude(error.message, "c2VjcmV0")
      }
    }))

  it.effect("has the thumbprint and signature of the examples in RFC 8037", () =>
    Effect.gen(function*() {
      const jwk = {
        kty: "OKP",
        crv: "Ed25519",
        d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
        x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
      }
      assert.strictEqual(
        yield* Effect.promise(() => calculateJwkThumbprint(jwk)),
        "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
      )
      const { algorithm, key } = yield* importKey({ key: Redacted.make(jwk) }, ["Ed25519"])
      assert.strictEqual(algorithm, "Ed25519")
      const open = yield* Effect.promise(() => importJWK({ kty: "OKP", crv: "Ed25519", x: jwk.x }, "EdDSA"))
      assert.notInstanceOf(open, Uint8Array)
      const message = new TextEncoder().encode(
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
      )
      const signature = yield* Effect.promise(() => crypto.subtle.sign("Ed25519", key, message))
      assert.strictEqual(
        Buffer.from(signature).toString("base64url"),
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
      )
    }))
})

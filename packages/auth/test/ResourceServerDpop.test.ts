/** Tokens that are bound to a key, and proofs of having it (RFC 9449). */
import { assert, describe, it } from "@effect/vitest"
import { Dpop, ProofReplay, ResourceServer, TokenVerifierJwt } from "@mcpfx/auth"
import { Clock, Effect, Layer, Redacted } from "effect"
import { Headers, HttpRouter, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { calculateJwkThumbprint, type JWTPayload, SignJWT } from "jose"
import { createHash } from "node:crypto"
import { bearer, challengeOf, jsonOf, origin, type Send, serve } from "./support/protecting.ts"
import { issuer, type Key, makeKey, resource, sign } from "./support/signing.ts"

const as = await makeKey("as")
const own = await makeKey("own")
const rsa = await makeKey("rsa", "RS256")
const ed = await makeKey("ed", "EdDSA")
const thief = await makeKey("thief")

const thumbprint = (key: Key) => {
  const { alg: _alg, kid: _kid, use: _use, ...jwk } = key.jwk
  return Effect.promise(() => calculateJwkThumbprint(jwk))
}

const boundTo = (key: Key) => Effect.flatMap(thumbprint(key), (jkt) => sign(as, { cnf: { jkt }, exp: 100_000 }))

let count = 0

interface Proof {
  readonly key?: Key
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
}

const prove = (token: string, { claims = {}, header = {}, key = own }: Proof = {}) =>
  Effect.promise(() => {
    const { alg: _alg, kid: _kid, use: _use, ...jwk } = key.jwk
    const all = {
      jti: `proof-${count++}`,
      htm: "POST",
      htu: resource,
      iat: 0,
      ath: createHash("sha256").update(token).digest("base64url"),
      ...claims
    }
    const payload: JWTPayload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    return new SignJWT(payload).setProtectedHeader({ alg: key.alg, typ: "dpop+jwt", jwk, ...header }).sign(key.secret)
  })

const make = (
  dpop: ResourceServer.Options["dpop"],
  replay: Layer.Layer<ProofReplay.ProofReplay> = ProofReplay.layerMemory()
) =>
  serve(
    ResourceServer.layer(
      { resource, dpop },
      (protect) => HttpRouter.add("*", "/mcp", protect(Effect.succeed(HttpServerResponse.text("in"))))
    ).pipe(
      Layer.provide(TokenVerifierJwt.layerKeys({ issuer, keys: [as.jwk] })),
      Layer.provide(replay)
    )
  )

const present = (send: Send, token: string, proof: string | undefined, path = "/mcp") =>
  send("POST", path, { authorization: `DPoP ${token}`, ...(proof === undefined ? undefined : { dpop: proof }) })

describe("dpop", () => {
  it.effect("[ARS-06] a token is good with a proof of its key, of each kind of key", () =>
    Effect.gen(function*() {
      const send = yield* make("accept")
      for (const key of [own, rsa, ed]) {
        const token = yield* boundTo(key)
        const response = yield* present(send, token, yield* prove(token, { key }))
        assert.strictEqual(yield* Effect.promise(() => response.text()), "in")
      }
    }))

  it.effect("[ARS-06] the proofs of this package's own client are taken", () =>
    Effect.gen(function*() {
      const send = yield* make({ mode: "require", nonce: {} })
      const dpop = yield* Dpop.make()
      const token = yield* sign(as, { cnf: { jkt: dpop.thumbprint } })
      const request = { method: "POST", url: `${resource}?x=1`, accessToken: Redacted.make(token) }
      const first = yield* present(send, token, yield* dpop.proof(request))
      assert.strictEqual(challengeOf(first, "dpop")["error"], "use_dpop_nonce")
      assert.isTrue(dpop.remember(request, Headers.fromInput(first.headers)))
      assert.strictEqual((yield* present(send, token, yield* dpop.proof(request))).status, 200)
    }))

  it.effect("[ARS-06] off: a bound token is refused, with a proof and without", () =>
    Effect.gen(function*() {
      const send = yield* make("off")
      const token = yield* boundTo(own)
      const plain = yield* send("POST", "/mcp", bearer(token))
      assert.deepStrictEqual([plain.status, challengeOf(plain)["error"]], [401, "invalid_token"])
      const proved = yield* present(send, token, yield* prove(token))
      assert.strictEqual(proved.status, 401)
      assert.isNotNull(proved.headers.get("www-authenticate"))
      assert.deepStrictEqual(challengeOf(proved, "dpop"), {})
      assert.strictEqual((yield* send("POST", "/mcp", bearer(yield* sign(as)))).status, 200)
      const document = yield* jsonOf(yield* send("GET", "/.well-known/oauth-protected-resource"))
      assert.notProperty(document, "dpop_signing_alg_values_supported")
    }))

  it.effect("[ARS-06] accept: others come in without a proof, a bound token does not", () =>
    Effect.gen(function*() {
      const send = yield* make({ mode: "accept", algorithms: ["ES256"] })
      assert.strictEqual((yield* send("POST", "/mcp", bearer(yield* sign(as)))).status, 200)
      const downgraded = yield* send("POST", "/mcp", bearer(yield* boundTo(own)))
      assert.deepStrictEqual([downgraded.status, challengeOf(downgraded)["error"]], [401, "invalid_token"])
      const welcome = yield* send("POST", "/mcp")
      const where = { resource_metadata: `${origin}/.well-known/oauth-protected-resource/mcp` }
      assert.deepStrictEqual(challengeOf(welcome), where)
      assert.deepStrictEqual(challengeOf(welcome, "dpop"), { algs: "ES256", ...where })
      const unbound = yield* sign(as)
      const claimed = yield* present(send, unbound, yield* prove(unbound))
      assert.deepStrictEqual([claimed.status, challengeOf(claimed, "dpop")["error"]], [401, "invalid_token"])
      const document = yield* jsonOf(yield* send("GET", "/.well-known/oauth-protected-resource"))
      assert.deepStrictEqual(document.dpop_signing_alg_values_supported, ["ES256"])
      assert.notProperty(document, "dpop_bound_access_tokens_required")
    }))

  it.effect("[ARS-06] require: nobody else comes in", () =>
    Effect.gen(function*() {
      const send = yield* make("require")
      const response = yield* send("POST", "/mcp", bearer(yield* sign(as)))
      assert.deepStrictEqual([response.status, challengeOf(response, "dpop")["error"]], [401, "invalid_token"])
      assert.notMatch((yield* send("POST", "/mcp")).headers.get("www-authenticate") ?? "", /Bearer/)
      const token = yield* boundTo(own)
      assert.strictEqual((yield* present(send, token, yield* prove(token))).status, 200)
      const document = yield* jsonOf(yield* send("GET", "/.well-known/oauth-protected-resource"))
      assert.isTrue(document.dpop_bound_access_tokens_required)
    }))

  it.effect("[ARS-06] a proof that is not of this key for this request is refused", () =>
    Effect.gen(function*() {
      const send = yield* make("accept")
      const token = yield* boundTo(own)
      const wrong: ReadonlyArray<Proof> = [
        { key: thief },
        { header: { jwk: thief.jwk } },
        { header: { jwk: { ...own.jwk, d: "x" } } },
        { header: { jwk: undefined } },
        { header: { jwk: { kty: "oct", k: "eA" } } },
        { header: { typ: "JWT" } },
        { header: { typ: undefined } },
        { claims: { jti: undefined } },
        { claims: { jti: "" } },
        { claims: { jti: 1 } },
        { claims: { htm: "GET" } },
        { claims: { htm: "post" } },
        { claims: { htu: "https://other.example/mcp" } },
        { claims: { htu: origin } },
        { claims: { htu: "http://mcp.example.com/mcp" } },
        { claims: { htu: undefined } },
        { claims: { ath: undefined } },
        { claims: { ath: "AAAA" } },
        { claims: { iat: undefined } },
        { claims: { iat: "0" } },
        { claims: { iat: 31 } }
      ]
      for (const proof of wrong) {
        const response = yield* present(send, token, yield* prove(token, proof))
        assert.strictEqual(response.status, 401, JSON.stringify(proof))
        assert.strictEqual(challengeOf(response, "dpop")["error"], "invalid_dpop_proof")
      }
      const good = yield* prove(token)
      for (const text of [undefined, "", "x", "a.b.c", `${good}x`, `${good}, ${good}`, "a".repeat(9000)]) {
        const response = yield* present(send, token, text)
        assert.strictEqual(challengeOf(response, "dpop")["error"], "invalid_dpop_proof")
      }
      assert.strictEqual((yield* present(send, token, good)).status, 200)
    }))

  it.effect("[ARS-06] the address of a proof is the one the client used, whatever its case or query", () =>
    Effect.gen(function*() {
      const send = yield* make("accept")
      const token = yield* boundTo(own)
      for (const htu of [resource, `${resource}/`, "HTTPS://MCP.EXAMPLE.COM:443/mcp", `${resource}?x=1#y`]) {
        assert.strictEqual(
          (yield* present(send, token, yield* prove(token, { claims: { htu } }), "/mcp?y=2")).status,
          200,
          htu
        )
      }
    }))

  it.effect("[ARS-06] a proof is good for a minute, and once", () =>
    Effect.gen(function*() {
      const send = yield* make("accept")
      const token = yield* boundTo(own)
      yield* TestClock.setTime(90_000)
      const proof = yield* prove(token)
      assert.strictEqual((yield* present(send, token, proof)).status, 200)
      assert.strictEqual((yield* present(send, token, proof)).status, 401)
      const other = yield* prove(token)
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* present(send, token, other)).status, 401)
    }))

  it.effect("[ARS-06] one of many uses of a proof at once is the first", () =>
    Effect.gen(function*() {
      const send = yield* make("accept")
      const token = yield* boundTo(own)
      const proof = yield* prove(token)
      const all = yield* Effect.all(Array.from({ length: 10 }, () => present(send, token, proof)), { concurrency: 10 })
      assert.deepStrictEqual(all.map(({ status }) => status).filter((status) => status === 200).length, 1)
    }))

  it.effect("[ARS-06] servers of one address share what they have seen, and refuse when the table is full", () =>
    Effect.gen(function*() {
      const shared = Layer.succeed(ProofReplay.ProofReplay, ProofReplay.makeMemory({ entries: 2 }))
      const [first, second] = [yield* make("accept", shared), yield* make("accept", shared)]
      const token = yield* boundTo(own)
      const proof = yield* prove(token)
      assert.strictEqual((yield* present(first, token, proof)).status, 200)
      assert.strictEqual((yield* present(second, token, proof)).status, 401)
      assert.strictEqual((yield* present(second, token, yield* prove(token))).status, 200)
      assert.strictEqual((yield* present(second, token, yield* prove(token))).status, 401)
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual((yield* present(second, token, yield* prove(token, { claims: { iat: 120 } }))).status, 200)
    }))

  it.effect("[ARS-06] a server that wants its own nonces says so, and takes the one before for a while", () =>
    Effect.gen(function*() {
      const send = yield* make({ mode: "accept", nonce: { life: "1 minute", secret: Redacted.make("secret") } })
      const token = yield* boundTo(own)
      const seconds = Effect.map(Clock.currentTimeMillis, (now) => now / 1000)
      const attempt = (nonce: unknown) =>
        Effect.flatMap(
          seconds,
          (iat) => Effect.flatMap(prove(token, { claims: { nonce, iat } }), (proof) => present(send, token, proof))
        )
      for (const nonce of [undefined, "", "made up", 1]) {
        const response = yield* attempt(nonce)
        assert.deepStrictEqual([response.status, challengeOf(response, "dpop")["error"]], [401, "use_dpop_nonce"])
      }
      const first = (yield* attempt(undefined)).headers.get("dpop-nonce")
      const welcome = yield* attempt(first)
      assert.deepStrictEqual([welcome.status, welcome.headers.get("dpop-nonce")], [200, first])
      yield* TestClock.adjust("1 minute")
      const later = yield* attempt(first)
      assert.strictEqual(later.status, 200)
      assert.notStrictEqual(later.headers.get("dpop-nonce"), first)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* attempt(first)).status, 401)
      // Another server with the same secret gives out the same.
      const twin = yield* make({ mode: "accept", nonce: { life: "1 minute", secret: Redacted.make("secret") } })
      const nonce = (yield* present(twin, token, "x")).headers.get("dpop-nonce")
      assert.strictEqual((yield* attempt(nonce)).status, 200)
    }))
})

/** Stolen tokens and stolen proofs: what is bound to a key is worth nothing without it (RFC 9449). */
import { assert, describe, it } from "@effect/vitest"
import { Dpop } from "@mcpfx/auth"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Jose from "jose"
import { createHash } from "node:crypto"
import { bearer, present, type Presented } from "../../src/attacks/presented.ts"
import { Add, authorize, connect, make, mcpUrl, reasonOf, type World } from "../../src/attacks/world.ts"

const now = 1_800_000_000

const keyPair = Effect.promise(async () => {
  const pair = await Jose.generateKeyPair("ES256", { extractable: true })
  const jwk = await Jose.exportJWK(pair.publicKey)
  return { pair, jwk, jkt: await Jose.calculateJwkThumbprint(jwk) }
})

type Key = Effect.Success<typeof keyPair>

let proofs = 0

const prove = (
  { jwk, pair }: Key,
  token: string,
  claims: Readonly<Record<string, unknown>> = {},
  header: Readonly<Record<string, unknown>> = {}
) =>
  Effect.promise(() => {
    const all = {
      jti: `proof-${++proofs}`,
      htm: "POST",
      htu: mcpUrl,
      iat: now,
      ath: createHash("sha256").update(token).digest("base64url"),
      ...claims
    }
    const payload: Jose.JWTPayload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    return new Jose.SignJWT(payload).setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk, ...header })
      .sign(pair.privateKey)
  })

const issue = ({ login }: World, claims: Readonly<Record<string, unknown>> = {}) =>
  login.issueToken({ claims: { aud: mcpUrl, sub: "ada", client_id: "app", scope: "sums", ...claims } })

const shown = (token: string, proof: string | undefined): Presented => ({
  headers: { authorization: `DPoP ${token}`, ...(proof === undefined ? undefined : { dpop: proof }) }
})

const server = (dpop: "accept" | "require" = "accept") =>
  Effect.gen(function*() {
    yield* TestClock.setTime(now * 1000)
    const world = yield* make({ resource: { dpop } })
    const key = yield* keyPair
    return { world, key, token: yield* issue(world, { cnf: { jkt: key.jkt } }) }
  })

describe("a bound token", () => {
  it.effect("[ARS-06] is nothing to who has no key: as a bearer token, without a proof, with a proof of another key", () =>
    Effect.gen(function*() {
      const { key, token, world } = yield* server()
      const thief = yield* keyPair
      assert.strictEqual((yield* present(world, shown(token, yield* prove(key, token)))).status, 200)
      assert.deepInclude(yield* present(world, { headers: bearer(token) }), { status: 401, error: "invalid_token" })
      const proof = yield* prove(key, token)
      const both = yield* present(world, { headers: { ...bearer(token), dpop: proof } })
      assert.deepInclude(both, { status: 401, error: "invalid_token" })
      for (const dpop of [undefined, "", "a.b.c", yield* prove(thief, token), proof.slice(0, -8)]) {
        const answer = yield* present(world, shown(token, dpop))
        assert.deepInclude(answer, { status: 401, error: "invalid_dpop_proof" })
      }
      // A proof with the key of its owner in it, signed by another.
      const forged = yield* prove({ ...thief, jwk: key.jwk }, token)
      assert.deepInclude(yield* present(world, shown(token, forged)), { status: 401, error: "invalid_dpop_proof" })
    }))

  it.effect("[ARS-06] comes with a proof for this request, this token and this minute", () =>
    Effect.gen(function*() {
      const { key, token, world } = yield* server()
      const other = yield* issue(world, { sub: "eve", cnf: { jkt: key.jkt } })
      const secret = yield* Effect.promise(() => Jose.exportJWK(key.pair.privateKey))
      const bad: Readonly<Record<string, string>> = {
        method: yield* prove(key, token, { htm: "GET" }),
        "method in small letters": yield* prove(key, token, { htm: "post" }),
        host: yield* prove(key, token, { htu: "https://evil.test/mcp" }),
        path: yield* prove(key, token, { htu: "https://mcp.test/other" }),
        scheme: yield* prove(key, token, { htu: "http://mcp.test/mcp" }),
        "no address": yield* prove(key, token, { htu: undefined }),
        "another token": yield* prove(key, other),
        "no token": yield* prove(key, token, { ath: undefined }),
        old: yield* prove(key, token, { iat: now - 91 }),
        future: yield* prove(key, token, { iat: now + 31 }),
        "no time": yield* prove(key, token, { iat: undefined }),
        "no id": yield* prove(key, token, { jti: undefined }),
        type: yield* prove(key, token, {}, { typ: "JWT" }),
        "private key": yield* prove(key, token, {}, { jwk: secret }),
        "no key": yield* prove(key, token, {}, { jwk: undefined, kid: "k" }),
        "address of a key": yield* prove(key, token, {}, { jwk: undefined, jku: "https://evil.test/keys" }),
        huge: yield* prove(key, token, { padding: "x".repeat(100_000) })
      }
      for (const [name, dpop] of Object.entries(bad)) {
        const answer = yield* present(world, shown(token, dpop))
        assert.deepStrictEqual([name, answer.status, answer.error], [name, 401, "invalid_dpop_proof"])
        assert.notInclude(`${answer.challenge}${answer.body}`, dpop)
      }
      assert.deepStrictEqual(world.inside.strangers, [])
    }))

  it.effect("[ARS-06] a proof is good once, however many come at once", () =>
    Effect.gen(function*() {
      const { key, token, world } = yield* server()
      const proof = yield* prove(key, token)
      const answers = yield* Effect.all(Array.from({ length: 20 }, () => present(world, shown(token, proof))), {
        concurrency: "unbounded"
      })
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
      assert.strictEqual(answers.filter(({ error }) => error === "invalid_dpop_proof").length, 19)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* present(world, shown(token, proof))).status, 401)
    }))

  it.effect("[ARS-06] a token without a key is not made better by a proof; where keys are wanted it is none", () =>
    Effect.gen(function*() {
      const { key, world } = yield* server()
      const plain = yield* issue(world)
      const answer = yield* present(world, shown(plain, yield* prove(key, plain)))
      assert.deepInclude(answer, { status: 401, error: "invalid_token" })
      const strict = yield* server("require")
      const own = yield* issue(strict.world)
      assert.deepInclude(yield* present(strict.world, { headers: bearer(own) }), {
        status: 401,
        error: "invalid_token"
      })
    }))
})

describe("a client with a key", () => {
  const login = Effect.gen(function*() {
    yield* TestClock.setTime(now * 1000)
    const world = yield* make({ resource: { dpop: "require" }, authority: { dpop: "required" } })
    const dpop = yield* Dpop.make({ key: yield* Dpop.generateKey() })
    return { world, dpop }
  })

  it.effect("[ARS-06] [ACL-23] whoever listens can use neither its token nor its proofs", () =>
    Effect.gen(function*() {
      const { dpop, world } = yield* login
      const { mcp } = yield* connect(world, { dpop })
      assert.deepStrictEqual(yield* mcp.call(Add, { a: 1, b: 1 }), { sum: 2 })
      const calls = world.network.at(mcpUrl).filter(({ headers }) => headers["dpop"] !== undefined)
      assert.isAtLeast(calls.length, 2)
      assert.strictEqual(new Set(calls.map(({ headers }) => headers["dpop"])).size, calls.length)
      for (const { headers } of calls) {
        const again = yield* present(world, {
          headers: { authorization: headers["authorization"] ?? "", dpop: headers["dpop"] ?? "" }
        })
        assert.strictEqual(again.status, 401)
      }
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[ACL-24] a server that downgrades to bearer tokens where a key is wanted gets no login", () =>
    Effect.gen(function*() {
      const { world } = yield* login
      const dpop = yield* Dpop.make({ key: yield* Dpop.generateKey(), required: true })
      yield* world.login.fault("token", { change: { token_type: "Bearer" } })
      const { http, oauth } = yield* authorize(world, { dpop })
      assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), {
        _tag: "BadAnswer",
        detail: "the token is bound to no key, although one was shown"
      })
      assert.notStrictEqual((yield* oauth.status)._tag, "LoggedIn")
      const sent = world.network.at(mcpUrl).filter(({ headers }) => headers["authorization"] !== undefined)
      assert.deepStrictEqual(sent, [])
    }))
})

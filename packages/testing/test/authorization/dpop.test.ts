import { assert, describe, it } from "@effect/vitest"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Jose from "jose"
import { app, claimsOf, codeOf, exchange, type KeyPair, keyPair, post, refresh } from "./support.ts"

const now = 1_800_000_000

const make = (dpop: TestAuthorizationServer.Options["dpop"]) =>
  Effect.andThen(
    TestClock.setTime(now * 1000),
    TestAuthorizationServer.make({ clients: [app], consent: "automatic", dpop })
  )

let count = 0

const prove = (
  { jwk, privateKey }: KeyPair,
  claims: Jose.JWTPayload = {},
  header: Readonly<Record<string, unknown>> = {}
) =>
  Effect.promise(() =>
    new Jose.SignJWT({ jti: `p${++count}`, htm: "POST", htu: "https://login.test/token", iat: now, ...claims })
      .setProtectedHeader({ alg: "ES256", typ: "dpop+jwt", jwk, ...header })
      .sign(privateKey)
  )

describe("proofs of possession", () => {
  it.effect("bind tokens to the key, and the refresh token of a client without credentials too", () =>
    Effect.gen(function*() {
      const server = yield* make("accepted")
      const [key, other] = [yield* keyPair, yield* keyPair]
      const tokens = yield* exchange(server, yield* codeOf(server), {}, { dpop: yield* prove(key) })
      assert.strictEqual(tokens.body["token_type"], "DPoP")
      const jkt = yield* Effect.promise(() => Jose.calculateJwkThumbprint(key.jwk))
      assert.deepInclude(claimsOf(tokens.body["access_token"]), { cnf: { jkt } })
      const request = {
        grant_type: "refresh_token",
        refresh_token: String(tokens.body["refresh_token"]),
        client_id: "app"
      }
      assert.strictEqual((yield* refresh(server, request.refresh_token)).body["error"], "invalid_grant")
      const wrong = yield* post(server, "token", request, { dpop: yield* prove(other) })
      assert.strictEqual(wrong.body["error"], "invalid_grant")
      const right = yield* post(server, "token", request, { dpop: yield* prove(key) })
      assert.strictEqual(right.body["token_type"], "DPoP")
    }))

  it.effect("a code that was asked for with a key is for that key alone", () =>
    Effect.gen(function*() {
      const server = yield* make("accepted")
      const [key, other] = [yield* keyPair, yield* keyPair]
      const code = yield* codeOf(server, {
        dpop_jkt: yield* Effect.promise(() => Jose.calculateJwkThumbprint(key.jwk))
      })
      for (const headers of [{}, { dpop: yield* prove(other) }]) {
        assert.strictEqual((yield* exchange(server, code, {}, headers)).body["error"], "invalid_grant")
      }
      assert.strictEqual((yield* exchange(server, code, {}, { dpop: yield* prove(key) })).status, 200)
    }))

  it.effect("are refused where they are for another request, too old, used before, or no proofs at all", () =>
    Effect.gen(function*() {
      const server = yield* make("accepted")
      const key = yield* keyPair
      const code = yield* codeOf(server)
      const secret = yield* Effect.promise(() => Jose.exportJWK(key.privateKey))
      const used = yield* prove(key)
      yield* post(server, "token", { grant_type: "refresh_token", client_id: "app" }, { dpop: used })
      const bad = {
        method: yield* prove(key, { htm: "GET" }),
        address: yield* prove(key, { htu: "https://login.test/authorize" }),
        old: yield* prove(key, { iat: now - 601 }),
        future: yield* prove(key, { iat: now + 601 }),
        type: yield* prove(key, {}, { typ: "JWT" }),
        "private key": yield* prove(key, {}, { jwk: { ...secret } }),
        "other key": yield* prove(key, {}, { jwk: (yield* keyPair).jwk }),
        used,
        nonsense: "nonsense"
      }
      for (const [name, dpop] of Object.entries(bad)) {
        assert.strictEqual((yield* exchange(server, code, {}, { dpop })).body["error"], "invalid_dpop_proof", name)
      }
      const query = yield* prove(key, { htu: "https://login.test/token?x=1#y" })
      assert.strictEqual((yield* exchange(server, code, {}, { dpop: query })).status, 200)
    }))

  it.effect("have to be given, with the nonce of the server, where it says so", () =>
    Effect.gen(function*() {
      const key = yield* keyPair
      const required = yield* make("required")
      assert.strictEqual((yield* exchange(required, yield* codeOf(required))).body["error"], "invalid_dpop_proof")
      const server = yield* make("nonce")
      const code = yield* codeOf(server)
      const asked = yield* exchange(server, code, {}, { dpop: yield* prove(key) })
      assert.deepStrictEqual([asked.status, asked.body["error"]], [400, "use_dpop_nonce"])
      const nonce = asked.headers["dpop-nonce"]
      yield* server.rotateNonce
      const stale = yield* exchange(server, code, {}, { dpop: yield* prove(key, { nonce }) })
      assert.strictEqual(stale.body["error"], "use_dpop_nonce")
      assert.notStrictEqual(stale.headers["dpop-nonce"], nonce)
      const right = yield* exchange(server, code, {}, {
        dpop: yield* prove(key, { nonce: stale.headers["dpop-nonce"] })
      })
      assert.strictEqual(right.body["token_type"], "DPoP")
    }))
})

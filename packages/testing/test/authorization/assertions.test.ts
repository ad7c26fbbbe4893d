import { assert, describe, it } from "@effect/vitest"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Jose from "jose"
import { callback, claimsOf, keyPair, post, type Server, signed } from "./support.ts"

const now = 1_800_000_000
const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer"
const typ = "oauth-id-jag+jwt"

const client = { clientId: "app", clientSecret: "s" }

const redeem = (server: Server, assertion: unknown, changes: Readonly<Record<string, string>> = {}) =>
  post(server, "token", { grant_type, assertion: String(assertion), client_id: "app", client_secret: "s", ...changes })

/** An authorization server that trusts an identity provider with this key. */
const trusting = Effect.gen(function*() {
  yield* TestClock.setTime(now * 1000)
  const key = yield* keyPair
  const server = yield* TestAuthorizationServer.make({
    clients: [client, { ...client, clientId: "other" }],
    trust: [{ issuer: "https://idp.test", keys: key.jwks, kind: "identity provider" }]
  })
  const claims = {
    iss: "https://idp.test",
    sub: "ann",
    aud: "https://login.test",
    client_id: "app",
    jti: "1",
    iat: now,
    exp: now + 300,
    scope: "notes files",
    resource: "https://mcp.test/mcp"
  }
  return { server, key, claims }
})

describe("assertions", () => {
  it.effect("[EMA-01] an identity provider gives a client an assertion for a server, which gives tokens for it", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now * 1000)
      const idp = yield* TestAuthorizationServer.make({
        issuer: "https://idp.test",
        users: [{ id: "ann" }],
        clients: [{
          clientId: "desk",
          clientSecret: "d",
          redirectUris: [callback],
          audiences: { "https://login.test": "app" }
        }]
      })
      const server = yield* TestAuthorizationServer.make({
        clients: [client],
        trust: [{ issuer: "https://idp.test", keys: idp.jwks, kind: "identity provider" }]
      })
      const exchange = {
        grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
        requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
        subject_token: yield* idp.issueIdToken({ clientId: "desk" }),
        subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
        audience: "https://login.test",
        resource: "https://mcp.test/mcp",
        scope: "notes",
        client_id: "desk",
        client_secret: "d"
      }
      const jag = yield* post(idp, "token", exchange)
      assert.deepInclude(jag.body, {
        issued_token_type: "urn:ietf:params:oauth:token-type:id-jag",
        token_type: "N_A",
        expires_in: 300,
        scope: "notes"
      })
      const tokens = yield* redeem(server, jag.body["access_token"])
      assert.strictEqual(tokens.status, 200)
      assert.deepInclude(claimsOf(tokens.body["access_token"]), {
        iss: "https://login.test",
        sub: "ann",
        aud: "https://mcp.test/mcp",
        client_id: "app",
        scope: "notes"
      })
      const { refresh_token } = yield* idp.login({ clientId: "desk", clientSecret: "d" })
      const byRefresh = yield* post(idp, "token", {
        ...exchange,
        subject_token: refresh_token ?? "",
        subject_token_type: "urn:ietf:params:oauth:token-type:refresh_token"
      })
      assert.deepInclude(claimsOf(byRefresh.body["access_token"]), { sub: "ann", aud: "https://login.test" })
      const foreign = yield* post(idp, "token", { ...exchange, audience: "https://elsewhere.test" })
      assert.strictEqual(foreign.body["error"], "invalid_target")
      const others = yield* idp.issueIdToken({ clientId: "somebody else" })
      assert.strictEqual(
        (yield* post(idp, "token", { ...exchange, subject_token: others })).body["error"],
        "invalid_request"
      )
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* post(idp, "token", exchange)).body["error"], "invalid_request")
    }))

  it.effect("[EMA-02] takes an assertion once", () =>
    Effect.gen(function*() {
      const { claims, key, server } = yield* trusting
      const assertion = yield* signed(key, claims, { typ })
      assert.strictEqual((yield* redeem(server, assertion)).status, 200)
      assert.deepInclude((yield* redeem(server, assertion)).body, {
        error: "invalid_grant",
        error_description: "the assertion was used before"
      })
    }))

  it.effect("[EMA-02] refuses assertions with a wrong key, type, issuer, audience, subject, client, or time", () =>
    Effect.gen(function*() {
      const { claims, key, server } = yield* trusting
      const stranger = yield* keyPair
      const { jti: _jti, ...withoutId } = claims
      const { sub: _sub, ...withoutSubject } = claims
      const bad = {
        key: yield* signed(stranger, claims, { typ }),
        type: yield* signed(key, claims, { typ: "JWT" }),
        "no type": yield* signed(key, claims),
        issuer: yield* signed(key, { ...claims, iss: "https://evil.test" }, { typ }),
        audience: yield* signed(key, { ...claims, aud: "https://login.test/" }, { typ }),
        "two audiences": yield* signed(key, { ...claims, aud: ["https://login.test", "https://evil.test"] }, { typ }),
        subject: yield* signed(key, withoutSubject, { typ }),
        client: yield* signed(key, { ...claims, client_id: "other" }, { typ }),
        expired: yield* signed(key, { ...claims, exp: now - 1 }, { typ }),
        "not yet": yield* signed(key, { ...claims, nbf: now + 60 }, { typ }),
        "no id": yield* signed(key, withoutId, { typ }),
        algorithm: yield* Effect.promise(() =>
          new Jose.SignJWT(claims).setProtectedHeader({ alg: "HS256", typ }).sign(
            new TextEncoder().encode("x".repeat(32))
          )
        )
      }
      for (const [name, assertion] of Object.entries(bad)) {
        const answer = yield* redeem(server, assertion)
        assert.deepStrictEqual([answer.status, answer.body["error"]], [400, "invalid_grant"], name)
      }
    }))

  it.effect("[EMA-02] gives no more than the assertion allows, to its resource alone", () =>
    Effect.gen(function*() {
      const { claims, key, server } = yield* trusting
      let jti = 0
      const ask = (changes: Readonly<Record<string, string>>) =>
        Effect.flatMap(signed(key, { ...claims, jti: `n${++jti}` }, { typ }), (assertion) =>
          redeem(server, assertion, changes))
      assert.strictEqual((yield* ask({ scope: "notes admin" })).body["error"], "invalid_scope")
      assert.strictEqual((yield* ask({ resource: "https://mcp.test/" })).body["error"], "invalid_target")
      assert.strictEqual((yield* ask({ client_secret: "wrong" })).body["error"], "invalid_client")
      const fewer = yield* ask({ scope: "notes" })
      assert.strictEqual(fewer.body["scope"], "notes")
      assert.strictEqual(claimsOf(fewer.body["access_token"])["aud"], "https://mcp.test/mcp")
    }))

  it.effect("takes the token of a workload for its own, from an issuer that vouches for workloads", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now * 1000)
      const key = yield* keyPair
      const server = yield* TestAuthorizationServer.make({
        clients: [{ clientId: "app" }],
        trust: [{ issuer: "https://ci.test", keys: key.jwks, kind: "workload" }]
      })
      const claims = { iss: "https://ci.test", sub: "job:1", aud: "https://login.test", exp: now + 60 }
      const ask = (assertion: string, changes: Readonly<Record<string, string>> = {}) =>
        post(server, "token", { grant_type, assertion, resource: "https://mcp.test/mcp", ...changes })
      const alone = yield* ask(yield* signed(key, claims))
      assert.deepInclude(claimsOf(alone.body["access_token"]), {
        sub: "job:1",
        client_id: "job:1",
        aud: "https://mcp.test/mcp"
      })
      const named = yield* ask(yield* signed(key, claims), { client_id: "app" })
      assert.deepInclude(claimsOf(named.body["access_token"]), { sub: "job:1", client_id: "app" })
      const bad = [
        yield* signed(key, { ...claims, aud: "https://other.test" }),
        yield* signed(key, { ...claims, exp: now - 1 }),
        yield* signed(key, claims, { typ })
      ]
      for (const assertion of bad) assert.strictEqual((yield* ask(assertion)).body["error"], "invalid_grant")
      const unknown = yield* signed(key, { ...claims, iss: "https://evil.test" })
      assert.strictEqual((yield* ask(unknown)).body["error"], "invalid_client")
    }))
})

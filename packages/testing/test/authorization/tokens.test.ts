import { assert, describe, it } from "@effect/vitest"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import {
  app,
  callback,
  claimsOf,
  codeOf,
  exchange,
  isActive,
  keyPair,
  post,
  refresh,
  register,
  rs,
  send,
  signed
} from "./support.ts"

const make = (options: TestAuthorizationServer.Options = {}) =>
  TestAuthorizationServer.make({ clients: [app, rs], consent: "automatic", ...options })

describe("tokens", () => {
  it.effect("[AAS-01] a code is good once, and one that comes twice ends what came of it", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const code = yield* codeOf(server)
      const first = yield* exchange(server, code)
      assert.strictEqual(first.status, 200)
      assert.isTrue(yield* isActive(server, first.body["access_token"]))
      assert.strictEqual((yield* exchange(server, code)).body["error"], "invalid_grant")
      assert.isFalse(yield* isActive(server, first.body["access_token"]))
      assert.strictEqual((yield* refresh(server, first.body["refresh_token"])).body["error"], "invalid_grant")
    }))

  it.effect("[AAS-01] of two uses of a code at once, at most one is answered", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const code = yield* codeOf(server)
      const answers = yield* Effect.all([exchange(server, code), exchange(server, code)], { concurrency: 2 })
      assert.deepStrictEqual(answers.map(({ status }) => status).sort(), [200, 400])
    }))

  it.effect("[AAS-01] a code belongs to its client, its address and its minute", () =>
    Effect.gen(function*() {
      const server = yield* make({ clients: [app, { ...app, clientId: "second" }] })
      const code = yield* codeOf(server)
      const errors = []
      for (
        const changes of [
          { client_id: "second" },
          { redirect_uri: `${callback}/` },
          { redirect_uri: "" },
          { code_verifier: "" },
          { resource: "https://other.test/" },
          { code: "unknown" }
        ]
      ) errors.push((yield* exchange(server, code, changes)).body["error"])
      assert.deepStrictEqual(errors, [
        "invalid_grant",
        "invalid_grant",
        "invalid_grant",
        "invalid_request",
        "invalid_target",
        "invalid_grant"
      ])
      yield* TestClock.adjust("59 seconds")
      const late = yield* codeOf(server)
      assert.strictEqual((yield* exchange(server, code)).status, 200)
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* exchange(server, late)).body["error"], "invalid_grant")
    }))

  it.effect("[AAS-01] a refresh token is good once, and one that comes twice ends the login", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const first = yield* exchange(server, yield* codeOf(server))
      const second = yield* refresh(server, first.body["refresh_token"])
      assert.strictEqual(second.status, 200)
      assert.notStrictEqual(second.body["refresh_token"], first.body["refresh_token"])
      assert.isTrue(yield* isActive(server, second.body["access_token"]))
      assert.strictEqual((yield* refresh(server, first.body["refresh_token"])).body["error"], "invalid_grant")
      assert.strictEqual((yield* refresh(server, second.body["refresh_token"])).body["error"], "invalid_grant")
      assert.isFalse(yield* isActive(server, second.body["access_token"]))
    }))

  it.effect("keeps refresh tokens where it is told not to rotate", () =>
    Effect.gen(function*() {
      const server = yield* make({ rotation: false })
      const first = yield* exchange(server, yield* codeOf(server))
      const second = yield* refresh(server, first.body["refresh_token"])
      assert.deepStrictEqual([second.status, second.body["refresh_token"]], [200, undefined])
      assert.strictEqual((yield* refresh(server, first.body["refresh_token"])).status, 200)
    }))

  it.effect("a refresh gives fewer scopes at most, and the next one all again", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const first = yield* exchange(server, yield* codeOf(server, { scope: "read write" }))
      const more = yield* refresh(server, first.body["refresh_token"], { scope: "read admin" })
      assert.strictEqual(more.body["error"], "invalid_scope")
      const fewer = yield* refresh(server, first.body["refresh_token"], { scope: "read" })
      assert.strictEqual(fewer.body["scope"], "read")
      const all = yield* refresh(server, fewer.body["refresh_token"])
      assert.strictEqual(all.body["scope"], "read write")
    }))

  it.effect("gives refresh tokens to whom it is told to", () =>
    Effect.gen(function*() {
      const given = []
      for (const refresh of ["listed", "offline_access", "always", "never"] as const) {
        const server = yield* make({ clients: [{ ...app, grantTypes: ["authorization_code"] }], refresh })
        for (const scope of ["notes", "notes offline_access"]) {
          const { body } = yield* exchange(server, yield* codeOf(server, { scope }))
          given.push(body["refresh_token"] !== undefined)
        }
      }
      assert.deepStrictEqual(given, [false, false, false, true, true, true, false, false])
    }))

  it.effect("tokens are for the resources that were named, or for the audience that is usual", () =>
    Effect.gen(function*() {
      const server = yield* make({ audience: "https://usual.test/" })
      const audiences = []
      for (const resource of ["https://mcp.test/mcp", undefined]) {
        const { body } = yield* exchange(server, yield* codeOf(server, { resource }))
        const { aud, client_id, sub } = claimsOf(body["access_token"])
        audiences.push(aud)
        assert.deepStrictEqual([client_id, sub], ["app", "user"])
      }
      assert.deepStrictEqual(audiences, ["https://mcp.test/mcp", "https://usual.test/"])
    }))

  it.effect("opaque tokens say nothing but to those who may ask", () =>
    Effect.gen(function*() {
      const server = yield* make({ accessTokens: "opaque" })
      const { body } = yield* exchange(server, yield* codeOf(server))
      const token = String(body["access_token"])
      assert.notInclude(token, ".")
      const asker = { client_id: "rs", client_secret: "s" }
      const told = yield* post(server, "introspect", { token, ...asker })
      assert.deepInclude(told.body, { active: true, sub: "user", aud: "https://mcp.test/mcp", scope: "notes" })
      assert.strictEqual((yield* post(server, "introspect", { token, client_id: "app" })).status, 401)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual((yield* post(server, "introspect", { token, ...asker })).body, { active: false })
    }))

  it.effect("revokes a token of the client that asks, and all of its login with a refresh token", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const { body } = yield* exchange(server, yield* codeOf(server))
      const foreign = yield* post(server, "revoke", {
        token: String(body["access_token"]),
        client_id: "rs",
        client_secret: "s"
      })
      assert.strictEqual(foreign.status, 400)
      const unknown = yield* post(server, "revoke", { token: "unknown", client_id: "app" })
      assert.strictEqual(unknown.status, 200)
      assert.isTrue(yield* isActive(server, body["access_token"]))
      yield* post(server, "revoke", { token: String(body["refresh_token"]), client_id: "app" })
      assert.isFalse(yield* isActive(server, body["access_token"]))
    }))

  it.effect("[OCC-01] gives a client that proves itself tokens of its own, by either way of sending a secret", () =>
    Effect.gen(function*() {
      const server = yield* make({ clients: [{ clientId: "a b", clientSecret: "p:w%+" }, app] })
      const ask = { grant_type: "client_credentials", scope: "x", resource: "https://mcp.test/mcp" }
      const basic = (id: string, secret: string) => ({
        authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}`
      })
      const metadata = yield* send(server, HttpClientRequest.get(server.url("metadata")))
      assert.include(metadata.body["grant_types_supported"], "client_credentials")
      const methods = ["client_secret_basic", "client_secret_post", "private_key_jwt"]
      assert.includeMembers([metadata.body["token_endpoint_auth_methods_supported"]].flat(), methods)
      const good = yield* post(server, "token", ask, basic("a b", "p:w%+"))
      assert.strictEqual(good.status, 200)
      assert.notProperty(good.body, "refresh_token")
      assert.deepInclude(claimsOf(good.body["access_token"]), { sub: "a b", aud: "https://mcp.test/mcp" })
      assert.strictEqual(
        (yield* post(server, "token", { ...ask, client_id: "a b", client_secret: "p:w%+" })).status,
        200
      )
      const wrong = yield* post(server, "token", ask, basic("a b", "wrong"))
      assert.deepStrictEqual([wrong.status, wrong.body["error"]], [401, "invalid_client"])
      assert.match(wrong.headers["www-authenticate"] ?? "", /^Basic /)
      const both = yield* post(server, "token", { ...ask, client_secret: "p:w%+" }, basic("a b", "p:w%+"))
      assert.strictEqual(both.body["error"], "invalid_request")
      assert.strictEqual(
        (yield* post(server, "token", { ...ask, client_id: "app" })).body["error"],
        "unauthorized_client"
      )
      assert.strictEqual((yield* post(server, "token", { ...ask, client_id: "a b" })).body["error"], "invalid_client")
    }))

  it.effect("[OCC-01] takes a signed assertion of a client for what it says, once", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(1_800_000_000_000)
      const [key, stranger] = [yield* keyPair, yield* keyPair]
      const server = yield* make({ clients: [{ clientId: "m", jwks: key.jwks }] })
      const claims = { iss: "m", sub: "m", aud: "https://login.test", exp: 1_800_000_060, jti: "1" }
      const ask = (assertion: string) =>
        post(server, "token", {
          grant_type: "client_credentials",
          client_assertion: assertion,
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        })
      const assertion = yield* signed(key, claims)
      assert.strictEqual((yield* ask(assertion)).status, 200)
      assert.strictEqual((yield* ask(assertion)).body["error_description"], "the assertion was used before")
      const bad = [
        yield* signed(stranger, { ...claims, jti: "2" }),
        yield* signed(key, { ...claims, jti: "3", aud: "https://other.test" }),
        yield* signed(key, { ...claims, jti: "4", exp: 1_799_999_999 }),
        yield* signed(key, { ...claims, jti: "5", iss: "other" }),
        yield* signed(key, { iss: "m", sub: "m", aud: "https://login.test", exp: 1_800_000_060 }),
        "nonsense"
      ]
      for (const assertion of bad) {
        assert.deepStrictEqual((yield* ask(assertion)).body["error"], "invalid_client", assertion)
      }
    }))

  it.effect("[AAS-04] a client that is described by a document proves itself with keys that this names", () =>
    Effect.gen(function*() {
      const [key, stranger] = [yield* keyPair, yield* keyPair]
      const [id, jwks_uri] = ["https://client.test/app.json", "https://client.test/keys.json"]
      const document = {
        client_id: id,
        client_name: "App",
        redirect_uris: [callback],
        token_endpoint_auth_method: "private_key_jwt",
        jwks_uri
      }
      const server = yield* make({ documents: { [id]: document, [jwks_uri]: key.jwks } })
      const code = yield* codeOf(server, { client_id: id })
      const prove = (pair: typeof key) =>
        Effect.map(signed(pair, { iss: id, sub: id, aud: server.issuer, exp: 60, jti: "1" }), (assertion) => ({
          client_id: id,
          client_assertion: assertion,
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
        }))
      assert.strictEqual((yield* exchange(server, code, { client_id: id })).body["error"], "invalid_client")
      assert.strictEqual((yield* exchange(server, code, yield* prove(stranger))).body["error"], "invalid_client")
      assert.strictEqual((yield* exchange(server, code, yield* prove(key))).status, 200)
    }))

  it.effect("a registered client has to prove itself in the way it registered", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const client = yield* register(server, {
        redirect_uris: [callback],
        application_type: "native",
        token_endpoint_auth_method: "client_secret_post"
      })
      const [id, secret] = [String(client.body["client_id"]), String(client.body["client_secret"])]
      const code = yield* codeOf(server, { client_id: id })
      const basic = { authorization: `Basic ${btoa(`${id}:${secret}`)}` }
      assert.strictEqual((yield* exchange(server, code, { client_id: id })).status, 401)
      assert.strictEqual((yield* exchange(server, code, { client_id: id }, basic)).status, 401)
      const good = yield* exchange(server, code, { client_id: id, client_secret: secret })
      assert.deepStrictEqual([good.status, good.body["refresh_token"]], [200, undefined])
      yield* server.forget(id)
      const gone = yield* post(server, "token", { grant_type: "refresh_token", refresh_token: "r", client_id: id })
      assert.strictEqual(gone.body["error"], "invalid_client")
    }))

  it.effect("a device asks until somebody has answered, and not too often", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const begin = () => post(server, "device", { client_id: "app", scope: "notes" })
      const ask = (code: unknown) =>
        Effect.map(
          post(server, "token", {
            grant_type: "urn:ietf:params:oauth:grant-type:device_code",
            device_code: String(code),
            client_id: "app"
          }),
          ({ body }) => body["error"] ?? body["token_type"]
        )
      const { body } = yield* begin()
      assert.deepInclude(body, { interval: 5, expires_in: 600, verification_uri: "https://login.test/device" })
      assert.match(String(body["user_code"]), /^[A-Z]{4}-[A-Z]{4}$/)
      const code = body["device_code"]
      const heard = [yield* ask(code), yield* ask(code)]
      yield* TestClock.adjust("9 seconds")
      heard.push(yield* ask(code))
      yield* TestClock.adjust("15 seconds")
      heard.push(yield* ask(code))
      yield* server.approveDevice(String(body["user_code"]).toLowerCase())
      heard.push(yield* ask(code), yield* ask(code))
      assert.deepStrictEqual(heard, [
        "authorization_pending",
        "slow_down",
        "slow_down",
        "authorization_pending",
        "Bearer",
        "invalid_grant"
      ])
      const second = yield* begin()
      yield* server.denyDevice(String(second.body["user_code"]))
      assert.strictEqual(yield* ask(second.body["device_code"]), "access_denied")
      const third = yield* begin()
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual(yield* ask(third.body["device_code"]), "expired_token")
      yield* Effect.flip(server.approveDevice(String(third.body["user_code"])))
    }))

  it.effect("a person enters the code of a device on its page", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const { body } = yield* post(server, "device", { client_id: "app" })
      const user_code = String(body["user_code"])
      const answer = { user_code, decision: "allow" }
      const foreign = yield* post(server, "verification", answer, { origin: "https://evil.test" })
      assert.strictEqual(foreign.status, 403)
      assert.strictEqual((yield* post(server, "verification", { ...answer, user_code: "XXXX-XXXX" })).status, 400)
      assert.include((yield* post(server, "verification", answer)).text, "Device connected")
      assert.strictEqual((yield* post(server, "verification", answer)).status, 400)
    }))

  it.effect("[ACL-30] takes no password, and no grant that it does not know or the client may not use", () =>
    Effect.gen(function*() {
      const server = yield* make({ clients: [{ ...app, grantTypes: ["authorization_code"] }] })
      const errors = []
      for (const grant of ["password", "refresh_token", ""]) {
        errors.push((yield* post(server, "token", { grant_type: grant, client_id: "app" })).body["error"])
      }
      assert.deepStrictEqual(errors, ["unsupported_grant_type", "unauthorized_client", "invalid_request"])
    }))
})

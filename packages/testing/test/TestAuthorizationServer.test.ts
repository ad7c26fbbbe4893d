import { assert, describe, it } from "@effect/vitest"
import { AuthorizationFault, TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Duration, Effect, Fiber } from "effect"
import { HttpClientError, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import * as Jose from "jose"
import {
  app,
  asked,
  callback,
  claimsOf,
  codeOf,
  exchange,
  isActive,
  post,
  refresh,
  rs,
  send
} from "./authorization/support.ts"

const now = 1_800_000_000_000

const make = (options: TestAuthorizationServer.Options = {}) =>
  TestAuthorizationServer.make({ clients: [app, rs], consent: "automatic", ...options })

const metadataOf = (server: TestAuthorizationServer.TestAuthorizationServer["Service"]) =>
  send(server, HttpClientRequest.get(server.url("metadata")))

describe("TestAuthorizationServer", () => {
  it.effect("logs a client in that registers itself, and its tokens are good for those who know its keys", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const server = yield* TestAuthorizationServer.make()
      const tokens = yield* server.login({ scopes: ["a", "openid"], resource: "https://mcp.test/mcp" })
      const keys = Jose.createLocalJWKSet(yield* server.jwks)
      const verify = (token: string, audience: string, typ: string) =>
        Effect.promise(() =>
          Jose.jwtVerify(token, keys, { issuer: server.issuer, audience, typ, currentDate: new Date(now) })
        )
      const access = yield* verify(tokens.access_token, "https://mcp.test/mcp", "at+jwt")
      assert.deepInclude({ ...access.payload }, { sub: "user", scope: "a openid", exp: now / 1000 + 3600 })
      const clientId = String(access.payload["client_id"])
      const id = yield* verify(tokens.id_token ?? "", clientId, "JWT")
      assert.deepInclude({ ...id.payload }, { sub: "user", name: "Test User" })
    }))

  it.effect("its browser refuses, logs in as another user, and says why a page leads nowhere", () =>
    Effect.gen(function*() {
      const server = yield* make({ consent: "page", users: [{ id: "ann" }, { id: "bob" }] })
      const ann = yield* server.login({ clientId: "app" })
      const bob = yield* server.login({ clientId: "app" }, { user: "bob" })
      assert.deepStrictEqual([claimsOf(ann.access_token)["sub"], claimsOf(bob.access_token)["sub"]], ["ann", "bob"])
      yield* server.setConsent("automatic", "bob")
      assert.strictEqual(claimsOf((yield* server.login({ clientId: "app" })).access_token)["sub"], "bob")
      yield* server.setConsent("page")
      const denied = yield* Effect.flip(server.login({ clientId: "app" }, { decision: "deny" }))
      assert.include(denied.message, "access_denied")
      const unknown = yield* Effect.flip(server.login({ clientId: "unknown" }))
      assert.include(unknown.message, "the client is not known")
      const elsewhere = yield* Effect.flip(server.login({ clientId: "app" }, { redirectUri: "https://evil.test/" }))
      assert.include(
        elsewhere.message,
        "the redirect_uri https://evil.test/ is not one of the client's: http://127.0.0.1:"
      )
    }))

  it.effect("is found by its origin, and its metadata at every well-known address there is", () =>
    Effect.gen(function*() {
      const paths = [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration"
      ]
      const statuses = (options: TestAuthorizationServer.Options) =>
        Effect.gen(function*() {
          const login = yield* make({ issuer: "https://login.test/tenant", ...options })
          const client = TestNetwork.client({ "https://login.test": login.client })
          return yield* Effect.forEach(paths, (path) =>
            Effect.map(client.get(`https://login.test${path}`), ({ status }) => status))
        })
      assert.deepStrictEqual(yield* statuses({}), [200, 200, 200, 404, 404])
      assert.deepStrictEqual(yield* statuses({ wellKnown: ["openid appended"] }), [404, 404, 200, 404, 404])
      assert.deepStrictEqual(yield* statuses({ wellKnown: [] }), [404, 404, 404, 404, 404])
      const nowhere = yield* Effect.flip(TestNetwork.client({}).get("https://login.test/"))
      assert.instanceOf(nowhere, HttpClientError.HttpClientError)
    }))

  it.effect("a path of the issuer is that of its endpoints too", () =>
    Effect.gen(function*() {
      const server = yield* make({ issuer: "https://login.test/tenant/" })
      assert.strictEqual(server.url("token"), "https://login.test/tenant/token")
      assert.strictEqual((yield* exchange(server, yield* codeOf(server))).status, 200)
    }))

  it.effect("says of itself what it is told to", () =>
    Effect.gen(function*() {
      const server = yield* make({
        registration: false,
        metadataDocuments: false,
        scopes: ["a"],
        metadata: { tos_uri: "", code_challenge_methods_supported: undefined }
      })
      const { body } = yield* metadataOf(server)
      assert.deepInclude(body, { scopes_supported: ["a"], tos_uri: "" })
      for (
        const name of [
          "registration_endpoint",
          "client_id_metadata_document_supported",
          "code_challenge_methods_supported"
        ]
      ) assert.notProperty(body, name)
      yield* server.changeMetadata({ issuer: "https://evil.test" })
      assert.deepInclude((yield* metadataOf(server)).body, {
        issuer: "https://evil.test",
        code_challenge_methods_supported: ["S256"]
      })
    }))

  it.effect("remembers and counts what came", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const server = yield* make()
      yield* exchange(server, "wrong", { resource: "https://mcp.test/mcp" })
      const [seen] = yield* server.requests
      assert.deepInclude(seen, { endpoint: "token", method: "POST", clientId: "app", status: 400, at: now })
      assert.deepInclude(seen?.parameters, { code: "wrong", resource: "https://mcp.test/mcp", redirect_uri: callback })
      assert.deepStrictEqual([yield* server.count("token"), yield* server.count("authorize")], [1, 0])
      yield* server.clearRequests
      assert.deepStrictEqual([yield* server.requests, yield* server.count("token")], [[], 0])
    }))

  it.effect("rotates its keys, and keeps the old ones published if it is told to", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const server = yield* make()
      const before = yield* server.issueToken()
      const isGood = (token: string) =>
        Effect.map(
          Effect.flatMap(server.jwks, (jwks) =>
            Effect.exit(
              Effect.tryPromise(() =>
                Jose.jwtVerify(token, Jose.createLocalJWKSet(jwks), { currentDate: new Date(now) })
              )
            )),
          ({ _tag }) => _tag === "Success"
        )
      yield* server.rotateKeys()
      const after = yield* server.issueToken()
      assert.deepStrictEqual([yield* isGood(before), yield* isGood(after)], [true, true])
      yield* server.rotateKeys({ keep: false })
      assert.deepStrictEqual([yield* isGood(before), yield* isGood(after)], [false, false])
      assert.isFalse(yield* isGood(yield* server.issueToken({ sign: "previous" })))
    }))

  it.effect("makes tokens as wrong as a test wants them", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(now)
      const server = yield* make()
      const keys = Jose.createLocalJWKSet(yield* server.jwks)
      const fault = (spec: TestAuthorizationServer.TokenSpec) =>
        Effect.gen(function*() {
          const token = yield* server.issueToken(spec)
          const exit = yield* Effect.result(Effect.tryPromise({
            try: () =>
              Jose.jwtVerify(token, keys, { issuer: server.issuer, typ: "at+jwt", currentDate: new Date(now) }),
            catch: (error) => error instanceof Jose.errors.JOSEError ? error.code : "?"
          }))
          return exit._tag === "Failure" ? exit.failure : "good"
        })
      const faults = yield* Effect.forEach(
        [
          {},
          { claims: { exp: now / 1000 - 1 } },
          { claims: { nbf: now / 1000 + 60 } },
          { claims: { iss: undefined } },
          { header: { typ: undefined } },
          { sign: "stranger" },
          { sign: "public key as secret" },
          { sign: "none" }
        ] satisfies ReadonlyArray<TestAuthorizationServer.TokenSpec>,
        fault
      )
      assert.deepStrictEqual(faults, [
        "good",
        "ERR_JWT_EXPIRED",
        "ERR_JWT_CLAIM_VALIDATION_FAILED",
        "ERR_JWT_CLAIM_VALIDATION_FAILED",
        "ERR_JWT_CLAIM_VALIDATION_FAILED",
        "ERR_JWS_SIGNATURE_VERIFICATION_FAILED",
        "ERR_JOSE_NOT_SUPPORTED",
        "ERR_JOSE_NOT_SUPPORTED"
      ])
      const confused = yield* server.issueToken({ sign: "public key as secret" })
      const [jwk] = (yield* server.jwks).keys
      const pem = yield* pemOf(jwk)
      yield* Effect.promise(() =>
        Jose.jwtVerify(confused, new TextEncoder().encode(pem), { currentDate: new Date(now) })
      )
    }))

  it.effect("ends tokens of a client, and all of them", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const login = Effect.flatMap(codeOf(server), (code) => exchange(server, code))
      const [first, second] = [yield* login, yield* login]
      yield* server.revoke(String(first.body["access_token"]))
      assert.isFalse(yield* isActive(server, first.body["access_token"]))
      assert.isTrue(yield* isActive(server, second.body["access_token"]))
      yield* server.expireTokens
      assert.isFalse(yield* isActive(server, second.body["access_token"]))
      assert.strictEqual((yield* refresh(server, first.body["refresh_token"])).status, 200)
      yield* server.revoke({ clientId: "app" })
      assert.strictEqual((yield* refresh(server, second.body["refresh_token"])).body["error"], "invalid_grant")
    }))
})

const pemOf = (jwk: Jose.JWK | undefined) =>
  Effect.promise(async () => {
    const key = await Jose.importJWK({ ...jwk }, "ES256")
    return key instanceof Uint8Array ? "" : Jose.exportSPKI(key)
  })

describe("AuthorizationFault", () => {
  it.effect("[field AUT-18] answers in the place of an endpoint, once, in turn", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const code = yield* codeOf(server)
      yield* server.fault(
        "token",
        AuthorizationFault.status(503, { "retry-after": "1" }),
        AuthorizationFault.oauth("bad_verification_code", 200),
        AuthorizationFault.html(502),
        AuthorizationFault.redirect("https://evil.test/"),
        { ...AuthorizationFault.oversized(1_000_000), times: 2 }
      )
      const answers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => exchange(server, code))
      assert.deepStrictEqual(answers.map(({ status }) => status), [503, 200, 502, 307, 200, 200])
      assert.strictEqual(answers[0]?.headers["retry-after"], "1")
      assert.deepStrictEqual(answers[1]?.body, { error: "bad_verification_code" })
      assert.include(answers[2]?.headers["content-type"] ?? "", "text/html")
      assert.strictEqual(answers[3]?.headers["location"], "https://evil.test/")
      assert.isAbove(answers[5]?.text.length ?? 0, 1_000_000)
      assert.strictEqual((yield* exchange(server, code)).status, 200)
    }))

  it.effect("[field AUT-18] changes what an endpoint says", () =>
    Effect.gen(function*() {
      const server = yield* make()
      yield* server.fault(
        "token",
        { status: 201, change: { expires_in: "3600", scope: null, refresh_token: undefined } },
        { urlencoded: true }
      )
      const first = yield* exchange(server, yield* codeOf(server))
      assert.deepInclude(first.body, { expires_in: "3600", scope: null })
      assert.deepStrictEqual([first.status, "refresh_token" in first.body], [201, false])
      const second = yield* exchange(server, yield* codeOf(server))
      assert.strictEqual(second.headers["content-type"], "application/x-www-form-urlencoded")
      assert.strictEqual(new URLSearchParams(second.text).get("expires_in"), "3600")
    }))

  it.effect("[field AUT-23] changes the answer of a login, with and without a page in between", () =>
    Effect.gen(function*() {
      for (const consent of ["automatic", "page"] as const) {
        const server = yield* make({ consent })
        yield* server.fault("authorize", { change: { iss: "https://evil.test" } }, {
          change: { iss: undefined, state: "x" }
        })
        const { open } = yield* Effect.scoped(server.userAgent().visit(undefined))
        const url = new URL(server.url("authorize"))
        url.search = new URLSearchParams(asked()).toString()
        const backs = yield* Effect.forEach([1, 2, 3], () => open(url, { issuer: server.issuer, resource: "" }))
        assert.deepStrictEqual(backs.map(({ searchParams }) => [searchParams.get("iss"), searchParams.get("state")]), [
          ["https://evil.test", "st"],
          [null, "x"],
          ["https://login.test", "st"]
        ], consent)
      }
    }))

  it.effect("waits, by the clock of the test, before the answer and before its body", () =>
    Effect.gen(function*() {
      const server = yield* make()
      yield* server.fault("metadata", { delay: "1 minute" }, { slowBody: "1 minute" })
      for (let round = 0; round < 2; round++) {
        const fiber = yield* Effect.forkChild(Effect.timed(metadataOf(server)))
        yield* TestClock.adjust("59 seconds")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("1 second")
        const [duration, { body }] = yield* Fiber.join(fiber)
        assert.deepStrictEqual([Duration.toSeconds(duration), body["issuer"]], [60, "https://login.test"])
      }
    }))

  it.effect("[field AUT-21] cuts the connection before the work is done, or after it", () =>
    Effect.gen(function*() {
      const server = yield* make()
      const { body } = yield* exchange(server, yield* codeOf(server))
      const token = body["refresh_token"]
      yield* server.fault("token", AuthorizationFault.reset(), AuthorizationFault.reset({ served: true }))
      const cut = Effect.exit(refresh(server, token))
      assert.strictEqual((yield* cut)._tag, "Failure")
      assert.strictEqual((yield* cut)._tag, "Failure")
      assert.strictEqual((yield* refresh(server, token)).body["error_description"], "the token was used before")
      assert.deepStrictEqual((yield* server.requests).map(({ status }) => status), [302, 200, 0, 0, 400])
    }))

  it.effect("what is scripted and did not happen can be taken back", () =>
    Effect.gen(function*() {
      const server = yield* make()
      yield* server.fault("jwks", { ...AuthorizationFault.status(500), times: Infinity })
      yield* post(server, "token", {})
      const jwks = Effect.map(send(server, HttpClientRequest.get(server.url("jwks"))), ({ status }) => status)
      assert.deepStrictEqual([yield* jwks, yield* jwks], [500, 500])
      yield* server.clearFaults
      assert.strictEqual(yield* jwks, 200)
    }))
})

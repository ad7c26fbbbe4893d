import { assert, describe, it } from "@effect/vitest"
import {
  AuthorizationCode,
  ClientCredentials,
  DeviceAuthorization,
  Dpop,
  EnterpriseManaged,
  type Grant,
  OAuthClient,
  ResourceServer,
  TokenStore,
  TokenVerifierJwt,
  type UserAgent,
  WorkloadIdentity
} from "@mcpfx/auth"
import { AuthorizationFault, TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpClient, HttpRouter, HttpServerResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { exportPKCS8 } from "jose"
import { callback, keyPair, type Server, signed } from "./support.ts"

const url = "https://mcp.test/mcp"
const issuer = "https://login.test"
const idp = "https://idp.test"

/** A page that only tokens of `login` open, the login, and an identity provider. */
const networkOf = Effect.fnUntraced(function*(login: Server, others: Readonly<Record<string, HttpClient.HttpClient>>) {
  const Routes = ResourceServer.layer(
    { resource: url, scopes: ["sums"], dpop: "accept" },
    (protect) =>
      HttpRouter.use((router) => router.add("GET", "/mcp", protect(Effect.succeed(HttpServerResponse.text("open")))))
  )
  const Verifier = TokenVerifierJwt.layer({ issuer }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient, login.client))
  )
  const mcp = yield* TestNetwork.serve(Layer.provide(Routes, Verifier))
  return TestNetwork.layer({ "https://mcp.test": mcp, [issuer]: login.client, ...others })
})

interface Setup {
  readonly dpop?: Dpop.Dpop
  readonly others?: Readonly<Record<string, HttpClient.HttpClient>>
}

/** What a request through a client that logs in comes back with. */
const opened = Effect.fnUntraced(function*(
  login: Server,
  grant: Grant.Grant<UserAgent.UserAgent>,
  { dpop, others = {} }: Setup = {}
) {
  const Agent = Layer.provide(
    TestAuthorizationServer.layerUserAgent(),
    Layer.succeed(TestAuthorizationServer.TestAuthorizationServer, login)
  )
  const Client = OAuthClient.layer({ url, grant, dpop }).pipe(
    Layer.provide([yield* networkOf(login, others), Agent])
  )
  return yield* HttpClient.get(url).pipe(
    Effect.flatMap((response) => response.text),
    Effect.provide(Client)
  )
})

const parametersOf = (login: Server, grantType: string) =>
  Effect.map(
    login.requests,
    (requests) =>
      requests.filter(({ parameters }) => parameters["grant_type"] === grantType).map(({ parameters }) => parameters)
  )

describe("each grant, against a server that checks", () => {
  it.effect("[OCC-01] client credentials: a secret either way, and a private key", () =>
    Effect.gen(function*() {
      const pair = yield* keyPair
      const pem = yield* Effect.promise(() => exportPKCS8(pair.privateKey))
      for (const method of ["client_secret_basic", "client_secret_post", "private_key_jwt"] as const) {
        const login = yield* TestAuthorizationServer.make({
          scopes: ["sums"],
          resources: [url],
          metadata: { token_endpoint_auth_methods_supported: [method] }
        })
        const isKey = method === "private_key_jwt"
        yield* login.register({
          clientId: "a:b c",
          authentication: method,
          ...(isKey ? { jwks: pair.jwks } : { clientSecret: "s3 cret+%" })
        })
        const client = isKey
          ? { issuer, clientId: "a:b c", key: { key: Redacted.make(pem), keyId: "k" } }
          : { issuer, clientId: "a:b c", clientSecret: Redacted.make("s3 cret+%") }
        assert.strictEqual(yield* opened(login, ClientCredentials.grant({ client })), "open")
        const [asked] = yield* parametersOf(login, "client_credentials")
        assert.strictEqual(asked?.["resource"], url)
        assert.strictEqual(asked?.["client_assertion"] !== undefined, isKey)
      }
    }))

  it.effect("[ACL-09] authorization code: a document in place of a registration, with a private key", () =>
    Effect.gen(function*() {
      const pair = yield* keyPair
      const key = { key: Redacted.make(yield* Effect.promise(() => exportPKCS8(pair.privateKey))), keyId: "k" }
      const address = "https://app.test/client.json"
      const login = yield* TestAuthorizationServer.make({
        scopes: ["sums"],
        documents: {
          [address]: {
            client_id: address,
            client_name: "App",
            redirect_uris: [callback],
            token_endpoint_auth_method: "private_key_jwt",
            jwks: pair.jwks
          }
        }
      })
      const grant = AuthorizationCode.grant({ metadataDocument: { url: address, redirectUris: [callback], key } })
      assert.strictEqual(yield* opened(login, grant), "open")
      assert.strictEqual(yield* login.count("register"), 0)
    }))

  it.effect("authorization code: tokens bound to a key, where the server wants its nonce in the proof", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make({ scopes: ["sums"], dpop: "nonce" })
      const dpop = yield* Dpop.make()
      assert.strictEqual(yield* opened(login, AuthorizationCode.grant(), { dpop }), "open")
      // The first request gets the nonce, the second the token.
      assert.strictEqual(yield* login.count("token"), 2)
      const [asked] = (yield* login.requests).filter(({ endpoint }) => endpoint === "authorize")
      assert.strictEqual(asked?.parameters["dpop_jkt"], dpop.thumbprint)
    }))

  it.effect("device authorization: a code that somebody types elsewhere", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make({ scopes: ["sums"], deviceInterval: "5 seconds" })
      const shown = yield* Deferred.make<DeviceAuthorization.Prompt>()
      const grant = DeviceAuthorization.grant({
        dynamic: { clientName: "TV" },
        show: (prompt) => Effect.asVoid(Deferred.succeed(shown, prompt))
      })
      const fiber = yield* Effect.forkChild(opened(login, grant))
      const { userCode, verificationUri } = yield* Deferred.await(shown)
      assert.strictEqual(verificationUri, login.url("verification"))
      yield* Effect.yieldNow
      yield* login.approveDevice(userCode)
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual(yield* Fiber.join(fiber), "open")
    }))

  it.effect("[EMA-01] enterprise-managed: the company's identity, and no page", () =>
    Effect.gen(function*() {
      const company = yield* TestAuthorizationServer.make({
        issuer: idp,
        clients: [{ clientId: "desktop", clientSecret: "d", audiences: { [issuer]: "at-login" } }]
      })
      const login = yield* TestAuthorizationServer.make({
        scopes: ["sums"],
        registration: false,
        clients: [{ clientId: "at-login", clientSecret: "s" }],
        trust: [{ issuer: idp, keys: company.jwks, kind: "identity provider" }]
      })
      const grant = EnterpriseManaged.grant({
        identityProvider: {
          issuer: idp,
          tokenEndpoint: company.url("token"),
          clientId: "desktop",
          clientSecret: Redacted.make("d")
        },
        identity: () => Effect.map(company.issueIdToken({ clientId: "desktop" }), Redacted.make<string>),
        client: { issuer, clientId: "at-login", clientSecret: Redacted.make("s") }
      })
      assert.strictEqual(yield* opened(login, grant, { others: { [idp]: company.client } }), "open")
      assert.strictEqual(yield* login.count("authorize"), 0)
    }))

  it.effect("workload identity: the platform's token, once", () =>
    Effect.gen(function*() {
      const pair = yield* keyPair
      const login = yield* TestAuthorizationServer.make({
        scopes: ["sums"],
        clients: [{ clientId: "job" }],
        trust: [{ issuer: "https://cluster.test", keys: pair.jwks, kind: "workload" }]
      })
      const claims = { iss: "https://cluster.test", sub: "job", exp: 300, iat: 0, jti: "1" }
      const grantFor = (aud: string) =>
        WorkloadIdentity.grant({
          client: { issuer, clientId: "job" },
          assertion: () => Effect.map(signed(pair, { ...claims, aud }), Redacted.make<string>)
        })
      assert.strictEqual(yield* opened(login, grantFor(issuer)), "open")
      yield* login.clearRequests
      yield* Effect.flip(opened(login, grantFor("https://other.test")))
      assert.strictEqual(yield* login.count("token"), 1)
    }))
})

describe("a client that the server forgot", () => {
  it.effect("registers anew when it is told so at the token endpoint, and is let in", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make({ scopes: ["sums"], refresh: "never" })
      const Store = Layer.succeed(TokenStore.TokenStore, yield* TokenStore.makeMemory)
      const open = Effect.provide(opened(login, AuthorizationCode.grant()), Store)
      assert.strictEqual(yield* open, "open")
      yield* TestClock.adjust("2 hours")
      // Known at the page, and forgotten when the code is to be spent.
      yield* login.fault("token", AuthorizationFault.oauth("invalid_client", 401))
      assert.strictEqual(yield* open, "open")
      const counts = yield* Effect.forEach(["register", "authorize", "token"] as const, login.count)
      assert.deepStrictEqual(counts, [2, 3, 3])
    }))
})

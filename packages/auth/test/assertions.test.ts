import { assert, describe, it } from "@effect/vitest"
import { AuthError, EnterpriseManaged, type Registration, Revocation, WorkloadIdentity } from "@mcpfx/auth"
import { Context, Effect } from "effect"
import {
  type Answer,
  good,
  issuer,
  provider,
  type Reply,
  requestTo,
  resource,
  secret,
  server
} from "./support/provider.ts"

const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
const idJag = "urn:ietf:params:oauth:token-type:id-jag"
const idp = "https://acme.idp.example"

const identityProvider = { issuer: idp, tokenEndpoint: `${idp}/oauth2/token`, clientId: "desktop" }
const client = { issuer, clientId: "at-the-server", clientSecret: secret("s3cret") }

const exchanged = (members: object = {}): Reply => ({
  body: { issued_token_type: idJag, access_token: "the-id-jag-4711", token_type: "N_A", expires_in: 300, ...members }
})

const enterprise = (
  options: Partial<EnterpriseManaged.Options> = {},
  answers: { readonly idp?: Answer; readonly token?: Answer } = {},
  metadata: Parameters<typeof server>[0] = {}
) => {
  let registrations = 0
  const as = provider((asked, count) => {
    if (asked.url.startsWith(idp)) return (answers.idp ?? (() => exchanged()))(asked, count)
    if (asked.url.endsWith("/register")) return { status: 201, body: { client_id: `dynamic-${++registrations}` } }
    return (answers.token ?? (() => good))(asked, count)
  })
  const { kept, request } = requestTo(as.endpoint(), { scopes: ["chat.read"], server: server(metadata) })
  const grant = EnterpriseManaged.grant({
    identityProvider,
    identity: () => Effect.succeed(secret("the-id-token-4711")),
    client,
    ...options
  })
  return { as, kept, obtain: grant.obtain(request) }
}

const reasonOf = <A>(effect: Effect.Effect<A, AuthError.AuthError>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.notInclude(JSON.stringify(error) + error.message, "4711")
    return error.reason
  })

describe("enterprise-managed authorization", () => {
  it.effect("[EMA-01] exchanges the identity for a grant, and the grant for a token with the client's own proof", () =>
    Effect.gen(function*() {
      const { as, obtain } = enterprise()
      const tokens = yield* obtain
      assert.strictEqual(tokens.clientId, "at-the-server")
      assert.deepStrictEqual(as.asked.map(({ form, url }) => ({ url, form })), [
        {
          url: `${idp}/oauth2/token`,
          form: {
            grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
            requested_token_type: idJag,
            audience: issuer,
            resource,
            scope: "chat.read",
            subject_token: "the-id-token-4711",
            subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
            client_id: "desktop"
          }
        },
        {
          url: `${issuer}/token`,
          form: { grant_type: jwtBearer, assertion: "the-id-jag-4711", resource, scope: "chat.read" }
        }
      ])
      assert.isUndefined(as.asked[0]?.headers["authorization"])
      assert.strictEqual(as.asked[1]?.headers["authorization"], `Basic ${btoa("at-the-server:s3cret")}`)
    }))

  it.effect("[EMA-01] proves itself to the identity provider, names SAML, and gets a new identity each time", () =>
    Effect.gen(function*() {
      const issued: Array<object> = []
      const { as, obtain } = enterprise({
        identityProvider: { ...identityProvider, clientSecret: secret("idp-s3cret") },
        identity: (about) => Effect.sync(() => secret(`saml-${issued.push(about)}`)),
        identityType: "saml2"
      })
      yield* obtain
      yield* obtain
      assert.deepStrictEqual(issued, [{ issuer, resource }, { issuer, resource }])
      const [first, , second] = as.asked
      assert.strictEqual(first?.headers["authorization"], `Basic ${btoa("desktop:idp-s3cret")}`)
      assert.strictEqual(first?.form["subject_token_type"], "urn:ietf:params:oauth:token-type:saml2")
      assert.deepStrictEqual([first?.form["subject_token"], second?.form["subject_token"]], ["saml-1", "saml-2"])
    }))

  it.effect("an identity provider whose addresses are none is a fault of the program, which is named; nobody is asked", () =>
    Effect.gen(function*() {
      const rows = [["issuer", ""], ["issuer", "idp.example"], ["tokenEndpoint", ""], [
        "tokenEndpoint",
        "/token"
      ]] as const
      for (const [name, value] of rows) {
        const { as, obtain } = enterprise({ identityProvider: { ...identityProvider, [name]: value } })
        const reason = yield* reasonOf(obtain)
        assert.strictEqual(reason._tag, "Misconfigured")
        assert.include(
          "detail" in reason ? reason.detail : "",
          `"${value}", the ${name === "issuer" ? name : "token endpoint"}`
        )
        assert.deepStrictEqual(as.asked, [])
      }
    }))

  it.effect("[EMA-03] asks nobody where the server lists other profiles only; one that lists none is asked", () =>
    Effect.gen(function*() {
      const other = { authorization_grant_profiles_supported: ["urn:other"] }
      const listed = { authorization_grant_profiles_supported: ["urn:other", EnterpriseManaged.profile] }
      const { as, obtain } = enterprise({}, {}, other)
      assert.strictEqual((yield* reasonOf(obtain))._tag, "NotSupported")
      assert.strictEqual(as.asked.length, 0)
      yield* enterprise({}, {}, listed).obtain
      assert.deepStrictEqual(
        [other, listed, {}].map((metadata) => EnterpriseManaged.isSupported(server(metadata))),
        [false, true, undefined]
      )
    }))

  it.effect("[EMA-01] sends nothing on that is no grant, and says who refused", () =>
    Effect.gen(function*() {
      const wrong = "urn:ietf:params:oauth:token-type:access_token"
      for (const members of [{ issued_token_type: wrong }, { issued_token_type: null }, { access_token: "" }]) {
        const { as, obtain } = enterprise({}, { idp: () => exchanged(members) })
        assert.strictEqual((yield* reasonOf(obtain))._tag, "BadAnswer")
        assert.strictEqual(as.asked.length, 1)
      }
      const body = { error: "invalid_grant", error_description: "bad the-id-token-4711" }
      const refused = yield* reasonOf(enterprise({}, { idp: () => ({ status: 400, body }) }).obtain)
      assert.strictEqual(refused._tag === "OAuthRefused" ? refused.issuer : "", idp)
      const { as, obtain } = enterprise({}, { token: () => ({ status: 400, body: { error: "invalid_grant" } }) })
      const second = yield* reasonOf(obtain)
      assert.strictEqual(second._tag === "OAuthRefused" ? second.issuer : "", issuer)
      assert.strictEqual(as.asked.length, 2)
    }))

  it.effect("registers the client for this flow where it is offered, anew where it was forgotten", () =>
    Effect.gen(function*() {
      const unknown = { status: 401, body: { error: "invalid_client" } }
      let tokens = 0
      const { as, kept, obtain } = enterprise({ client: undefined }, { token: () => ++tokens === 2 ? unknown : good })
      assert.strictEqual((yield* obtain).clientId, "dynamic-1")
      assert.deepStrictEqual(JSON.parse(as.at("/register")[0]?.body ?? "").grant_types, [jwtBearer])
      assert.strictEqual((yield* obtain).clientId, "dynamic-2")
      assert.strictEqual(kept.registration?.clientId, "dynamic-2")
    }))
})

class Platform extends Context.Service<Platform, string>()("Platform") {}

const workload = (
  options: {
    readonly assertion?: Effect.Effect<string, unknown>
    readonly client?: Registration.Preregistered
  } = {},
  reply: Reply = good
) => {
  const as = provider(() => reply)
  const { request } = requestTo(as.endpoint(), { scopes: ["a"] })
  let count = 0
  const grant = WorkloadIdentity.grant({
    client: options.client,
    assertion: () => Effect.map(options.assertion ?? Effect.sync(() => `jwt-4711-${++count}`), secret)
  })
  return { as, grant, obtain: grant.obtain(request), request }
}

describe("workload identity", () => {
  it.effect("is one request with the assertion as the grant, and another assertion the next time (RFC 7523, 2.1)", () =>
    Effect.gen(function*() {
      const { as, obtain } = workload()
      yield* obtain
      yield* obtain
      assert.deepStrictEqual(as.asked.map(({ form }) => form), [
        { grant_type: jwtBearer, assertion: "jwt-4711-1", resource, scope: "a" },
        { grant_type: jwtBearer, assertion: "jwt-4711-2", resource, scope: "a" }
      ])
      const named = workload({ client: { issuer, clientId: "job" } })
      yield* named.obtain
      assert.strictEqual(named.as.asked[0]?.form["client_id"], "job")
      assert.strictEqual((yield* named.grant.client(named.request)).registration.clientId, "job")
    }))

  it.effect("a refusal is final: nothing is sent again, and no other way is tried", () =>
    Effect.gen(function*() {
      for (const error of ["invalid_grant", "unauthorized_client", "invalid_scope", "invalid_client"]) {
        const body = { error, error_description: "assertion jwt-4711-1 is expired" }
        const { as, obtain } = workload({ client: { issuer, clientId: "job" } }, { status: 400, body })
        const reason = yield* reasonOf(obtain)
        assert.strictEqual(reason._tag === "OAuthRefused" ? reason.error : "", error)
        assert.strictEqual(as.asked.length, 1)
      }
    }))

  it.effect("what fails on the platform is told without its words, and what is an AuthError as it is", () =>
    Effect.gen(function*() {
      const { as, obtain } = workload({ assertion: Effect.fail(new Error("token 4711 is unreadable")) })
      assert.strictEqual((yield* reasonOf(obtain))._tag, "Misconfigured")
      assert.strictEqual((yield* reasonOf(workload({ assertion: Effect.succeed("") }).obtain))._tag, "Misconfigured")
      const own = AuthError.fail(new AuthError.Unavailable({ url: "http://169.254.169.254/", detail: "no answer" }))
      assert.strictEqual((yield* reasonOf(workload({ assertion: own }).obtain))._tag, "Unavailable")
      assert.strictEqual(as.asked.length, 0)
    }))

  it.effect("takes what the assertion needs from the context", () =>
    Effect.gen(function*() {
      const as = provider(() => good)
      const grant = WorkloadIdentity.grant({ assertion: () => Effect.map(Platform, secret) })
      const obtain = grant.obtain(requestTo(as.endpoint()).request)
      yield* Effect.provideService(obtain, Platform, "from-the-platform")
      assert.strictEqual(as.asked[0]?.form["assertion"], "from-the-platform")
    }))
})

describe("revocation", () => {
  const tokens = {
    accessToken: secret("access-4711"),
    refreshToken: secret("refresh-4711"),
    tokenType: "Bearer" as const,
    scopes: []
  }

  const revoke = (reply: Reply, target = server()) => {
    const as = provider(() => reply)
    return { as, done: Revocation.revoke({ server: target, endpoint: as.endpoint(), tokens }) }
  }

  it.effect("tells the server of the refresh token, then of the access token (RFC 7009, 2.1)", () =>
    Effect.gen(function*() {
      const { as, done } = revoke({ status: 200 })
      assert.isTrue(yield* done)
      assert.deepStrictEqual(as.asked.map(({ form, url }) => ({ url, form })), [
        { url: `${issuer}/revoke`, form: { token: "refresh-4711", token_type_hint: "refresh_token" } },
        { url: `${issuer}/revoke`, form: { token: "access-4711", token_type_hint: "access_token" } }
      ])
    }))

  it.effect("goes on where one kind of token is not kept a list of, and says where nobody was told", () =>
    Effect.gen(function*() {
      const kind = revoke({ status: 400, body: { error: "unsupported_token_type" } })
      assert.isTrue(yield* kind.done)
      assert.strictEqual(kind.as.asked.length, 2)
      const { revocation_endpoint: _, ...without } = server().metadata
      assert.isFalse(yield* revoke(good, { issuer, found: "resource", metadata: without }).done)
      const body = { error: "invalid_request", error_description: "no refresh-4711" }
      assert.strictEqual((yield* reasonOf(revoke({ status: 400, body }).done))._tag, "OAuthRefused")
      assert.strictEqual((yield* reasonOf(revoke({ status: 503 }).done))._tag, "Unavailable")
    }))
})

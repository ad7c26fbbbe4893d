import { assert, describe, it } from "@effect/vitest"
import { AuthError, TokenVerifier, TokenVerifierJwt } from "@mcpfx/auth"
import { Effect, Exit, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { UnsecuredJWT } from "jose"
import { issuer, makeKey, redacted, resource, sign } from "./support/signing.ts"

const es = await makeKey("es")
const rs = await makeKey("rs", "RS256")
const ed = await makeKey("ed", "EdDSA")
const stranger = await makeKey("es")
const secret = "a secret that is long enough for it"

type Rules = TokenVerifierJwt.Rules

const live = (rules: Rules = {}) => TokenVerifierJwt.layerKeys({ issuer, keys: [es.jwk, rs.jwk, ed.jwk], ...rules })

const verify = (token: string, names: ReadonlyArray<string> = [resource]) =>
  Effect.flatMap(TokenVerifier.TokenVerifier, (verifier) => verifier.verify(redacted(token), names))

const reasonOf = (token: string, names?: ReadonlyArray<string>) =>
  verify(token, names).pipe(
    Effect.as("good"),
    Effect.catch((error) => Effect.succeed(error._tag === "InvalidToken" ? error.reason : error._tag))
  )

describe("signatures", () => {
  it.effect("[ARS-06] a token of each kind of key is good", () =>
    Effect.gen(function*() {
      for (const key of [es, rs, ed]) assert.strictEqual(yield* reasonOf(yield* sign(key)), "good")
      assert.strictEqual(yield* reasonOf(yield* sign(es, {}, { header: { kid: undefined } })), "good")
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] a token of another key, or changed by one letter, is not", () =>
    Effect.gen(function*() {
      const token = yield* sign(es)
      const [header = "", , signature = ""] = token.split(".")
      const other = (yield* sign(es, { sub: "root" })).split(".")[1] ?? ""
      assert.strictEqual(yield* reasonOf(`${header}.${other}.${signature}`), "signature")
      assert.strictEqual(yield* reasonOf(yield* sign(stranger)), "signature")
      assert.strictEqual(yield* reasonOf(`${header}.${other}.`), "signature")
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] a public key is no secret: tokens signed with it as one are refused", () =>
    Effect.gen(function*() {
      for (const key of [rs, es]) {
        for (const material of [key.pem, JSON.stringify(key.jwk)]) {
          const secret = new TextEncoder().encode(material)
          const forged = yield* sign(key, {}, { header: { alg: "HS256" }, secret })
          assert.strictEqual(yield* reasonOf(forged), "algorithm")
        }
      }
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] a token without a signature is refused, however `none` is written", () =>
    Effect.gen(function*() {
      const unsigned = new UnsecuredJWT({ iss: issuer, sub: "ada", aud: resource, exp: 3600 }).encode()
      assert.strictEqual(yield* reasonOf(unsigned), "algorithm")
      const body = unsigned.split(".")[1] ?? ""
      for (const alg of ["None", "NONE", "nOnE", ""]) {
        const header = Buffer.from(JSON.stringify({ alg, kid: "es" })).toString("base64url")
        assert.strictEqual(yield* reasonOf(`${header}.${body}.`), "algorithm")
      }
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] an algorithm that is not on the list is refused before any key is looked at", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reasonOf(yield* sign(rs)), "algorithm")
      assert.strictEqual(yield* reasonOf(yield* sign(es)), "good")
    }).pipe(Effect.provide(live({ algorithms: ["ES256"] }))))

  it.effect("[ARS-06] keys that a token brings along count for nothing", () =>
    Effect.gen(function*() {
      const header = {
        jwk: stranger.jwk,
        jku: "https://evil.example/keys",
        x5u: "https://evil.example/x5u",
        kid: undefined
      }
      assert.strictEqual(yield* reasonOf(yield* sign(stranger, {}, { header })), "signature")
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] what is critical to a token and not known here makes it unreadable", () =>
    Effect.gen(function*() {
      const [, claims = "", signature = ""] = (yield* sign(es)).split(".")
      for (const extra of [{ crit: ["b64"], b64: false }, { crit: ["exp"], exp: 1 }, { crit: [] }]) {
        const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: "es", ...extra })).toString("base64url")
        assert.strictEqual(yield* reasonOf(`${header}.${claims}.${signature}`), "malformed")
      }
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] what is no signed token is refused", () =>
    Effect.gen(function*() {
      for (
        const text of [
          "",
          "opaque",
          "a.b",
          "a.b.c.d.e",
          "e30.e30.",
          "e30.W10.x",
          "%.%.%",
          ".".repeat(10_000),
          "a".repeat(20_000)
        ]
      ) {
        const reason = yield* reasonOf(text)
        assert.include(["malformed", "issuer", "algorithm"], reason, text)
      }
    }).pipe(Effect.provide(live())))
})

describe("secrets", () => {
  const shared = TokenVerifierJwt.layerKeys({ issuer, secret: Redacted.make(secret) })
  const withSecret = (alg: string) =>
    sign(es, {}, { header: { alg, kid: undefined }, secret: new TextEncoder().encode(secret) })

  it.effect("[ARS-06] a secret that both know is for its one algorithm, and for no key", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reasonOf(yield* withSecret("HS256")), "good")
      assert.strictEqual(yield* reasonOf(yield* withSecret("HS512")), "algorithm")
      assert.strictEqual(yield* reasonOf(yield* sign(es)), "algorithm")
    }).pipe(Effect.provide(shared)))

  const options: ReadonlyArray<[title: string, options: TokenVerifierJwt.KeysOptions]> = [
    ["a short secret", { issuer, secret: Redacted.make("short") }],
    ["no algorithm", { issuer, keys: [es.jwk], algorithms: [] }],
    ["the algorithm none", { issuer, keys: [es.jwk], algorithms: ["ES256", "none"] }],
    ["a secret's algorithm with a key", { issuer, keys: [es.jwk], algorithms: ["HS256"] }],
    ["a key's algorithm with a secret", { issuer, secret: Redacted.make(secret), algorithms: ["RS256"] }],
    ["a private key", { issuer, keys: [{ ...es.jwk, d: "x" }] }],
    ["a key to encrypt with", { issuer, keys: [{ ...es.jwk, use: "enc" }] }],
    ["no key", { issuer, keys: [] }],
    ["no issuer", { issuers: [] }],
    ["an issuer twice", { issuers: [{ issuer, keys: [es.jwk] }, { issuer, keys: [rs.jwk] }] }]
  ]
  for (const [title, wrong] of options) {
    it.effect(`${title} is told when the server is put together`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(TokenVerifierJwt.layerKeys(wrong))))
        assert.instanceOf(error, AuthError.AuthError)
        assert.strictEqual(error.reason._tag, "Misconfigured")
        assert.notInclude(error.message, "short")
      }))
  }
})

describe("claims", () => {
  it.effect("[ARS-06] a token is good from its beginning to its end, give or take what clocks may be apart", () =>
    Effect.gen(function*() {
      const dated = (claims: Record<string, unknown>) =>
        Effect.flatMap(sign(es, { iat: undefined, ...claims }), reasonOf)
      yield* TestClock.setTime(1_000_000)
      assert.strictEqual(yield* dated({ exp: 1001 }), "good")
      assert.strictEqual(yield* dated({ exp: 971 }), "good")
      assert.strictEqual(yield* dated({ exp: 970 }), "expired")
      assert.strictEqual(yield* dated({ nbf: 1030, exp: 2000 }), "good")
      assert.strictEqual(yield* dated({ nbf: 1031, exp: 2000 }), "not yet valid")
      assert.strictEqual(yield* dated({ iat: 1031, exp: 2000 }), "not yet valid")
      for (
        const wrong of [{ exp: undefined }, { exp: "2000" }, { exp: null }, { exp: 2000, nbf: "0" }, {
          exp: 2000,
          iat: {}
        }]
      ) {
        assert.strictEqual(yield* dated(wrong), "claims")
      }
    }).pipe(Effect.provide(live({ cacheLife: 0 }))))

  it.effect("[ARS-07] [SEC-04] a token is for this server or for nobody here", () =>
    Effect.gen(function*() {
      const audience = (aud: unknown) => Effect.flatMap(sign(es, { aud }), reasonOf)
      for (
        const aud of [
          resource,
          [resource],
          ["https://other.example", resource],
          `${resource}/`,
          "HTTPS://MCP.example.com/mcp",
          "https://mcp.example.com:443/mcp"
        ]
      ) {
        assert.strictEqual(yield* audience(aud), "good")
      }
      const wrong = [
        undefined,
        "",
        [],
        {},
        null,
        "https://mcp.example.com",
        "https://mcp.example.com/mc",
        "https://mcp.example.com/mcp/other",
        "https://mcp.example.com/mcp//",
        "https://mcp.example.com/MCP",
        "https://mcp.example.com/%6dcp",
        "https://mcp.example.com/x/../mcp",
        "https://mcp.example.com/mcp?x=1",
        "https://mcp.example.com/mcp#x",
        "http://mcp.example.com/mcp",
        "https://mcp.example.com:8443/mcp",
        "https://user@mcp.example.com/mcp",
        "https://mcp.example.com.evil.example/mcp",
        [[resource]]
      ]
      for (const aud of wrong) assert.strictEqual(yield* audience(aud), "audience", JSON.stringify(aud))
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-07] other names of the server are those that it was told of", () =>
    Effect.gen(function*() {
      const token = yield* sign(es, { aud: "api://notes" })
      assert.strictEqual(yield* reasonOf(token), "good")
      assert.strictEqual(yield* Effect.provide(reasonOf(token), live()), "audience")
      assert.strictEqual(yield* Effect.provide(reasonOf(token, [resource, "api://notes"]), live()), "good")
      assert.strictEqual(yield* Effect.flatMap(sign(es, { aud: "api://notes/" }), reasonOf), "audience")
    }).pipe(Effect.provide(live({ audience: ["api://notes"] }))))

  it.effect("[ARS-06] an issuer is one that is trusted, to the letter, and its tokens are of its own keys", () =>
    Effect.gen(function*() {
      const from = (iss: unknown, key = es) => Effect.flatMap(sign(key, { iss }), reasonOf)
      assert.strictEqual(yield* from("https://two.example", rs), "good")
      assert.strictEqual(yield* from("https://two.example", es), "signature")
      assert.strictEqual(yield* from(issuer, rs), "signature")
      for (const iss of [`${issuer}/`, "https://evil.example", undefined, [issuer], "__proto__", "constructor"]) {
        assert.strictEqual(yield* from(iss), "issuer")
      }
    }).pipe(Effect.provide(TokenVerifierJwt.layerKeys({
      issuers: [{ issuer, keys: [es.jwk] }, { issuer: "https://two.example", keys: [rs.jwk] }]
    }))))

  it.effect("[ARS-06] what is signed for another purpose is no access token", () =>
    Effect.gen(function*() {
      const typed = (typ: unknown) => Effect.flatMap(sign(es, {}, { header: { typ } }), reasonOf)
      for (const typ of ["at+jwt", "AT+JWT", "application/at+jwt", "JWT", undefined]) {
        assert.strictEqual(yield* typed(typ), "good")
      }
      for (const typ of ["dpop+jwt", "oauth-id-jag+jwt", "logout+jwt", "secevent+jwt"]) {
        assert.strictEqual(yield* typed(typ), "type")
      }
      const token = yield* sign(es, {}, { header: { typ: "JWT" } })
      assert.strictEqual(yield* Effect.provide(reasonOf(token), live({ typeRequired: true })), "type")
      assert.strictEqual(yield* Effect.provide(reasonOf(yield* sign(es)), live({ typeRequired: true })), "good")
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] the caller is made of what issuers write, in each way they write it", () =>
    Effect.gen(function*() {
      const caller = (claims: Record<string, unknown>) =>
        Effect.map(
          Effect.flatMap(sign(es, claims), verify),
          ({ principal: { clientId, scopes, subject } }) => [subject, clientId, scopes]
        )
      assert.deepStrictEqual(yield* caller({}), ["ada", "editor", ["a", "b"]])
      assert.deepStrictEqual(yield* caller({ client_id: undefined, azp: "web" }), ["ada", "web", ["a", "b"]])
      assert.deepStrictEqual(yield* caller({ sub: undefined }), ["editor", "editor", ["a", "b"]])
      assert.deepStrictEqual(yield* caller({ client_id: undefined, scope: undefined }), ["ada", undefined, []])
      assert.deepStrictEqual(yield* caller({ scope: ["a", "b", "a", 1] }), ["ada", "editor", ["a", "b"]])
      assert.deepStrictEqual(yield* caller({ scope: undefined, scp: "x y" }), ["ada", "editor", ["x", "y"]])
      assert.deepStrictEqual(yield* caller({ scope: undefined, scp: ["x", "y z"] }), ["ada", "editor", ["x", "y", "z"]])
      assert.strictEqual(yield* reasonOf(yield* sign(es, { sub: "", client_id: undefined })), "claims")
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] a program has its own demands, and makes its own callers", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* reasonOf(yield* sign(es)), "claims")
      assert.strictEqual(yield* reasonOf(yield* sign(es, { tenant: null })), "claims")
      assert.strictEqual(yield* reasonOf(yield* sign(es, { tenant: "other" })), "claims")
      const { principal } = yield* verify(yield* sign(es, { tenant: "acme" }))
      assert.deepStrictEqual([principal.subject, principal.issuer], ["acme/ada", issuer])
    }).pipe(Effect.provide(live({
      requiredClaims: ["tenant"],
      principal: ({ tenant }, usual) => tenant === "acme" ? { ...usual, subject: `acme/${usual.subject}` } : undefined
    }))))

  it.effect("[ARS-06] a token is bound to a key, to nothing, or in a way that cannot be checked", () =>
    Effect.gen(function*() {
      const bound = (cnf: unknown) => Effect.flatMap(sign(es, { cnf }), verify)
      assert.strictEqual((yield* bound({ jkt: "t" })).boundTo, "t")
      assert.isUndefined((yield* bound(undefined)).boundTo)
      for (const cnf of [{ "x5t#S256": "t" }, {}, "t", { jkt: 1 }, { jkt: "t", "x5t#S256": "t" }]) {
        assert.deepStrictEqual(yield* Effect.flip(bound(cnf)), new TokenVerifier.InvalidToken({ reason: "binding" }))
      }
    }).pipe(Effect.provide(live())))
})

describe("memory", () => {
  it.effect("[ARS-06] a token that is remembered ends when it ends, and is for whom it is for", () =>
    Effect.gen(function*() {
      const token = yield* sign(es, { exp: 40 })
      const first = yield* verify(token)
      assert.strictEqual(yield* verify(token), first)
      assert.strictEqual(first.expiresAt, 40_000)
      assert.strictEqual(yield* reasonOf(token, ["https://other.example"]), "audience")
      yield* TestClock.setTime(40_000)
      assert.notStrictEqual(yield* verify(token), first)
      yield* TestClock.setTime(70_000)
      assert.strictEqual(yield* reasonOf(token), "expired")
    }).pipe(Effect.provide(live())))

  it.effect("[ARS-06] one that is not good is not remembered as good", () =>
    Effect.gen(function*() {
      const exit = yield* Effect.exit(verify(yield* sign(stranger)))
      assert.isTrue(Exit.isFailure(exit))
      const token = yield* sign(es)
      const first = yield* verify(token)
      yield* TestClock.adjust("1 minute")
      assert.notStrictEqual(yield* verify(token), first)
      assert.strictEqual(yield* reasonOf(yield* sign(stranger)), "signature")
    }).pipe(Effect.provide(live({ cacheSize: 1 }))))
})

describe("layerStatic", () => {
  it.effect("[SEC-11] tokens of a list are good where and for as long as it says", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* verify("t")).principal.subject, "ada")
      assert.strictEqual(yield* reasonOf("u"), "audience")
      assert.strictEqual(yield* reasonOf("u", ["https://other.example/"]), "good")
      for (const wrong of ["", "T", "tt", "constructor"]) assert.strictEqual(yield* reasonOf(wrong), "signature")
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* reasonOf("t"), "expired")
    }).pipe(Effect.provide(TokenVerifier.layerStatic({
      tokens: { t: { subject: "ada", expiresAt: 1000 }, u: { subject: "bob", audience: ["https://other.example"] } }
    }))))
})

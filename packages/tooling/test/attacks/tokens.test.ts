/** Tokens that should open nothing: forged, foreign, old, misplaced. The server hears of none of them more than it needs. */
import { assert, describe, it } from "@effect/vitest"
import type { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Jose from "jose"
import { json } from "../../src/attacks/network.ts"
import { bearer, present, type Presented } from "../../src/attacks/presented.ts"
import { Recorder } from "../../src/attacks/recorder.ts"
import { evil, issuer, make, mcpUrl, resourceMetadata, type World } from "../../src/attacks/world.ts"

const now = 1_800_000_000
const good = { aud: mcpUrl, sub: "ada", client_id: "app", scope: "sums" }

type Claims = Readonly<Record<string, unknown>>

const issue = ({ login }: World, claims: Claims = {}, spec: Omit<TestAuthorizationServer.TokenSpec, "claims"> = {}) =>
  login.issueToken({ claims: { ...good, ...claims }, ...spec })

/** A server at a time, which tells its log why it refuses. */
const server = Effect.gen(function*() {
  yield* TestClock.setTime(now * 1000)
  return yield* make()
})

const invalid = `Bearer error="invalid_token", scope="sums", resource_metadata="${resourceMetadata}"`

/** The token is refused as every other is, the reason is told to the log alone, and no text holds the token. */
const refused = (world: World, recorder: Recorder, token: string, reason: string | undefined, what: string) =>
  Effect.gen(function*() {
    recorder.clear()
    const answer = yield* present(world, { headers: bearer(token) })
    assert.deepStrictEqual([answer.status, answer.challenge], [401, invalid], what)
    assert.notInclude(answer.body, "sums", what)
    const expected = reason === undefined ? [] : [`A token was refused: ${reason}`]
    const lines = recorder.messages.filter((line) => line.includes("refused"))
    // What came and what was expected follow the reason; a token can be made to say anything.
    assert.deepStrictEqual(lines.map((line) => line.split(": ").slice(0, 2).join(": ")), expected, what)
    for (const line of lines) assert.isFalse(line.length > 600 || /\p{C}/u.test(line), what)
    if (token.length > 30) assert.isFalse(recorder.texts.some((text) => text.includes(token)), what)
  })

const recorded = <E>(title: string, test: (world: World, recorder: Recorder) => Effect.Effect<void, E>) =>
  it.effect(title, () => {
    const recorder = new Recorder()
    return Effect.flatMap(server, (world) => test(world, recorder)).pipe(Effect.provide(recorder.layer))
  })

describe("claims", () => {
  recorded(
    "[ARS-06] [ARS-07] [SEC-04] a token is of a trusted issuer, for this server and for now",
    (world, recorder) =>
      Effect.gen(function*() {
        assert.strictEqual((yield* present(world, { headers: bearer(yield* issue(world)) })).status, 200)
        const rows: ReadonlyArray<readonly [reason: string, claims: Claims]> = [
          ["issuer", { iss: evil }],
          ["issuer", { iss: `${issuer}/` }],
          ["issuer", { iss: "HTTPS://login.test" }],
          ["issuer", { iss: [issuer] }],
          ["issuer", { iss: undefined }],
          ["audience", { aud: "https://other.test/mcp" }],
          ["audience", { aud: "https://mcp.test" }],
          ["audience", { aud: `${mcpUrl}/x` }],
          ["audience", { aud: "http://mcp.test/mcp" }],
          ["audience", { aud: "https://mcp.test:8443/mcp" }],
          ["audience", { aud: "https://mcp.test.evil.test/mcp" }],
          ["audience", { aud: "https://mcp.test@evil.test/mcp" }],
          ["audience", { aud: `${mcpUrl}2` }],
          ["audience", { aud: ["https://other.test/mcp", issuer] }],
          ["audience", { aud: issuer }],
          ["audience", { aud: "" }],
          ["audience", { aud: "*" }],
          ["audience", { aud: [] }],
          ["expired", { exp: now - 31 }],
          ["expired", { exp: 0 }],
          ["expired", { exp: -1 }],
          ["not yet valid", { nbf: now + 31 }],
          ["not yet valid", { iat: now + 31 }],
          ["claims", { exp: undefined }],
          ["claims", { exp: String(now + 3600) }],
          ["claims", { nbf: "now" }],
          ["claims", { sub: undefined, client_id: undefined }]
        ]
        for (const [reason, claims] of rows) {
          yield* refused(world, recorder, yield* issue(world, claims), reason, JSON.stringify(claims))
        }
      })
  )

  recorded(
    "[ARS-08] a token of another resource of the same server opens nothing here",
    (world, recorder) =>
      Effect.gen(function*() {
        const { access_token } = yield* world.login.login({ scopes: ["sums"], resource: "https://other.test/mcp" })
        yield* refused(world, recorder, access_token, "audience", "another resource")
        const own = yield* world.login.login({ scopes: ["sums"], resource: mcpUrl })
        assert.strictEqual((yield* present(world, { headers: bearer(own.access_token) })).status, 200)
      })
  )

  recorded(
    "[ARS-06] what is signed for another purpose is no access token",
    (world, recorder) =>
      Effect.gen(function*() {
        for (const typ of ["id+jwt", "logout+jwt", "dpop+jwt", "oauth-id-jag+jwt", "secevent+jwt"]) {
          yield* refused(world, recorder, yield* issue(world, {}, { header: { typ } }), "type", typ)
        }
        const { refresh_token = "" } = yield* world.login.login({ scopes: ["sums"], resource: mcpUrl })
        assert.isNotEmpty(refresh_token)
        yield* refused(world, recorder, refresh_token, "malformed", "a refresh token")
        const idToken = yield* world.login.issueIdToken({ clientId: "app" })
        yield* refused(world, recorder, idToken, "audience", "an id token")
      })
  )
})

describe("signatures", () => {
  const parts = (token: string): readonly [string, string, string] => {
    const [header = "", claims = "", signature = ""] = token.split(".")
    return [header, claims, signature]
  }
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

  recorded(
    "[ARS-06] an algorithm is one of the list, and its key of its kind",
    (world, recorder) =>
      Effect.gen(function*() {
        yield* refused(world, recorder, yield* issue(world, {}, { sign: "public key as secret" }), "algorithm", "HS256")
        for (const alg of ["none", "None", "NONE", "nOnE", ""]) {
          const token = yield* issue(world, {}, { sign: "none", header: { alg } })
          yield* refused(world, recorder, token, "algorithm", `alg ${alg}`)
          yield* refused(world, recorder, `${token}AAAA`, "algorithm", `alg ${alg} with a signature`)
        }
        const [header, claims, signature] = parts(yield* issue(world))
        const alg = (value: unknown) =>
          encode({ ...JSON.parse(Buffer.from(header, "base64url").toString()), alg: value })
        for (const value of ["RS256", "ES384", "PS512", "EdDSA"]) {
          yield* refused(world, recorder, `${alg(value)}.${claims}.${signature}`, "signature", value)
        }
        for (const value of ["HS512", "ES256K", "RSA1_5", "es256", 1, null, ["ES256"], { name: "ES256" }]) {
          const answer = yield* present(world, { headers: bearer(`${alg(value)}.${claims}.${signature}`) })
          assert.deepStrictEqual([answer.status, answer.challenge], [401, invalid], JSON.stringify(value))
        }
        // The secret of HS256 may be any form of the public key.
        const jwks = yield* world.login.jwks
        for (const secret of [JSON.stringify(jwks), JSON.stringify(jwks.keys[0]), String(jwks.keys[0]?.x)]) {
          const forged = yield* Effect.promise(() =>
            new Jose.SignJWT({ ...good, iss: issuer, exp: now + 60, iat: now })
              .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid: jwks.keys[0]?.kid ?? "" })
              .sign(new TextEncoder().encode(secret.padEnd(32)))
          )
          yield* refused(world, recorder, forged, "algorithm", "a public key as the secret")
        }
      })
  )

  recorded(
    "[ARS-06] a signature is of the issuer's key, over these claims",
    (world, recorder) =>
      Effect.gen(function*() {
        yield* refused(world, recorder, yield* issue(world, {}, { sign: "stranger" }), "signature", "another key")
        const [header, claims, signature] = parts(yield* issue(world))
        const [, other, otherSignature] = parts(yield* issue(world, { sub: "root" }))
        const flipped = (signature.startsWith("A") ? "B" : "A") + signature.slice(1)
        const rows: ReadonlyArray<readonly [reason: string, token: string]> = [
          ["signature", `${header}.${other}.${signature}`],
          ["signature", `${header}.${claims}.${otherSignature}`],
          ["signature", `${header}.${claims}.${flipped}`],
          ["signature", `${header}.${claims}.${signature.slice(0, -4)}`],
          ["signature", `${header}.${claims}.`],
          ["signature", `${header}.${claims}.${"A".repeat(86)}`]
        ]
        for (const [reason, token] of rows) yield* refused(world, recorder, token, reason, token.slice(-40))
      })
  )

  recorded("[ARS-06] a key that was taken back signs nothing more", (world, recorder) =>
    Effect.gen(function*() {
      const token = yield* issue(world, { exp: now + 36_000 })
      assert.strictEqual((yield* present(world, { headers: bearer(token) })).status, 200)
      yield* world.login.rotateKeys({ keep: false })
      yield* TestClock.adjust("11 minutes")
      yield* refused(world, recorder, token, "signature", "an old key")
    }))

  recorded(
    "[ARS-06] [SEC-05] keys that a token brings along, or names an address for, are not looked at",
    (world, recorder) =>
      Effect.gen(function*() {
        const pair = yield* Effect.promise(() => Jose.generateKeyPair("ES256", { extractable: true }))
        const jwk = yield* Effect.promise(() => Jose.exportJWK(pair.publicKey))
        const { inside, login } = world
        inside.on(evil, () => json({ keys: [{ ...jwk, kid: "mine", alg: "ES256" }] }))
        const [known] = (yield* login.jwks).keys
        const headers: ReadonlyArray<Jose.JWTHeaderParameters> = [
          { alg: "ES256", jwk },
          { alg: "ES256", jku: `${evil}/keys`, kid: "mine" },
          { alg: "ES256", x5u: `${evil}/cert.pem`, kid: "mine" },
          { alg: "ES256", x5c: ["MIIB"], kid: "mine" },
          { alg: "ES256", kid: `${evil}/keys` },
          { alg: "ES256", kid: "../../../../dev/null" },
          { alg: "ES256", kid: "file:///dev/null" },
          { alg: "ES256", kid: "x' UNION SELECT 'key' --" },
          { alg: "ES256", kid: "$(curl evil.test)" },
          { alg: "ES256", kid: "__proto__" },
          { alg: "ES256", kid: "constructor" },
          { alg: "ES256", kid: "" },
          { alg: "ES256", kid: known?.kid ?? "", jwk, jku: `${evil}/keys` },
          { alg: "ES256", kid: "\u0000" },
          { alg: "ES256", kid: "k".repeat(4000) }
        ]
        for (const header of headers) {
          const token = yield* Effect.promise(() =>
            new Jose.SignJWT({ ...good, iss: issuer, exp: now + 60, iat: now })
              .setProtectedHeader({ typ: "at+jwt", ...header })
              .sign(pair.privateKey)
          )
          yield* refused(world, recorder, token, "signature", JSON.stringify(header).slice(0, 80))
        }
        assert.deepStrictEqual(inside.strangers, [])
        // The ids that nobody knows have cost one look at the keys, all together.
        assert.isAtMost(yield* login.count("jwks"), 2)
      })
  )
})

describe("texts", () => {
  recorded(
    "[ARS-06] what is no token is refused as one that is no good, whatever it is",
    (world, recorder) =>
      Effect.gen(function*() {
        const token = yield* issue(world)
        for (let at = 0; at < token.length; at += 37) {
          const answer = yield* present(world, { headers: bearer(token.slice(0, at)) })
          assert.deepStrictEqual([answer.status, answer.challenge], [401, invalid], `cut at ${at}`)
        }
        const rows: ReadonlyArray<string> = [
          "null",
          "undefined",
          "a.b",
          "a.b.c.d.e",
          "...",
          "..",
          `${token}.${token}`,
          `${token}=`,
          Buffer.from(token).toString("base64"),
          "eyJhbGciOiJFUzI1NiJ9.W10.AAAA",
          `${Buffer.from("[".repeat(9000)).toString("base64url")}.e30.AAAA`
        ]
        for (const text of rows) yield* refused(world, recorder, text, "malformed", text.slice(0, 40))
        for (const text of ["\u00e9".repeat(10), "a b", "a;b", "'--", "{}", "%00"]) {
          const answer = yield* present(world, { headers: bearer(text) })
          assert.deepStrictEqual([answer.status, answer.challenge], [401, invalid], text)
        }
      })
  )

  recorded(
    "[ARS-06] [field AUT-20] a token of any size costs little and is no error of the server",
    (world, recorder) =>
      Effect.gen(function*() {
        for (const length of [16_385, 65_536, 1_048_576]) {
          const text = "a".repeat(length)
          const answer = yield* present(world, { headers: bearer(text) })
          assert.deepStrictEqual([answer.status, answer.challenge], [401, invalid], String(length))
        }
        const large = yield* issue(world, { padding: "x".repeat(1_000_000) })
        yield* refused(world, recorder, large, undefined, "a signed one")
        const scopes = Array.from({ length: 1000 }, (_, at) => `s${at}`).join(" ")
        assert.strictEqual(
          (yield* present(world, { headers: bearer(yield* issue(world, { scope: `sums ${scopes}` })) })).status,
          200
        )
        assert.strictEqual(yield* world.login.count("jwks"), 1)
      })
  )
})

describe("places", () => {
  recorded("[ACL-23] [ARS-06] a token is in the one header, and there once", (world) =>
    Effect.gen(function*() {
      const token = yield* issue(world)
      const other = yield* issue(world, { sub: "eve" })
      const query = `${mcpUrl}?access_token=${token}`
      const rows: ReadonlyArray<readonly [status: number, error: string | undefined, request: Presented]> = [
        [401, undefined, { url: query }],
        [401, undefined, { url: `${mcpUrl}?Authorization=Bearer%20${token}` }],
        [401, undefined, { headers: { cookie: `access_token=${token}` } }],
        [401, undefined, { headers: { "x-authorization": `Bearer ${token}` } }],
        [401, undefined, { headers: { "proxy-authorization": `Bearer ${token}` } }],
        [401, undefined, { headers: { authorization: `Basic ${Buffer.from(`a:${token}`).toString("base64")}` } }],
        [401, undefined, { headers: { authorization: token } }],
        [401, undefined, { headers: { authorization: `Token ${token}` } }],
        [400, "invalid_request", { url: query, headers: bearer(token) }],
        [400, "invalid_request", { headers: { authorization: `Bearer ${token}, Bearer ${other}` } }],
        [400, "invalid_request", { headers: { authorization: `Bearer ${token},${token}` } }],
        [401, "invalid_token", { headers: { authorization: `Bearer ${token} ${other}` } }],
        [401, "invalid_token", { headers: { authorization: `Bearer "${token}"` } }],
        [401, "invalid_token", { headers: { authorization: "Bearer" } }],
        [401, "invalid_token", { headers: { authorization: "Bearer  " } }]
      ]
      for (const method of ["POST", "GET", "DELETE"] as const) {
        for (const [status, error, request] of rows) {
          const answer = yield* present(world, { method, ...request })
          const what = `${method} ${JSON.stringify(request).slice(0, 60)}`
          assert.deepStrictEqual([answer.status, answer.error], [status, error], what)
          assert.include(answer.challenge, `resource_metadata="${resourceMetadata}"`, what)
          assert.notInclude(`${answer.body}${answer.challenge}`, token, what)
        }
      }
      assert.strictEqual((yield* present(world, { headers: bearer(token) })).status, 200)
    }))

  recorded(
    "[ARS-09] [SEC-12] a good token without the scope is told what it lacks, and opens nothing",
    (world) =>
      Effect.gen(function*() {
        for (const scope of ["", "sum", "SUMS", "sums2", "sums:read", "*", undefined]) {
          const answer = yield* present(world, { headers: bearer(yield* issue(world, { scope })) })
          assert.deepStrictEqual([answer.status, answer.error], [403, "insufficient_scope"], String(scope))
        }
      })
  )
})

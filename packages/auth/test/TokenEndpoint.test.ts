import { assert, describe, it } from "@effect/vitest"
import { AuthError, type Credentials, type TokenEndpoint } from "@mcpfx/auth"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { numberOf, textOf } from "../src/internal/members.ts"
import { good, issuer, provider, type Reply, secret } from "./support/provider.ts"

const url = `${issuer}/token?tenant=1`

const request = (scopes?: ReadonlyArray<string>): TokenEndpoint.TokenRequest => ({
  url,
  issuer,
  parameters: { grant_type: "authorization_code", code: secret("the-code-4711"), resource: undefined },
  scopes
})

const tokensOf = (reply: Reply | undefined, scopes?: ReadonlyArray<string>) =>
  provider(() => reply).endpoint().tokens(request(scopes))

const reasonOf = (reply: Reply | undefined) =>
  Effect.map(Effect.flip(tokensOf(reply)), (error) => {
    for (const text of [JSON.stringify(error), error.message, String(error)]) assert.notInclude(text, "4711")
    return error.reason
  })

const plain = ({ accessToken, refreshToken, ...rest }: Credentials.Tokens) => ({
  ...rest,
  accessToken: Redacted.value(accessToken),
  ...(refreshToken === undefined ? {} : { refreshToken: Redacted.value(refreshToken) })
})

const withMembers = (members: object): Reply => ({ body: { access_token: "a", token_type: "Bearer", ...members } })

describe("what is sent", () => {
  it.effect("posts a form with what is there, to the letter, and asks for JSON", () =>
    Effect.gen(function*() {
      const { asked, endpoint } = provider(() => good)
      yield* endpoint().tokens({
        url,
        issuer,
        parameters: { grant_type: "x", resource: "https://api.example.com", odd: "a b&c=ü+%", none: undefined }
      })
      assert.strictEqual(asked.length, 1)
      assert.strictEqual(asked[0]?.url, url)
      assert.strictEqual(asked[0]?.method, "POST")
      assert.strictEqual(asked[0]?.headers["content-type"], "application/x-www-form-urlencoded")
      assert.strictEqual(asked[0]?.headers["accept"], "application/json")
      assert.deepStrictEqual(asked[0]?.form, {
        grant_type: "x",
        resource: "https://api.example.com",
        odd: "a b&c=ü+%"
      })
    }))
})

describe("tokens", () => {
  it.effect("reads a plain answer, with the end counted from when it was asked", () =>
    Effect.gen(function*() {
      yield* TestClock.adjust(5_000)
      assert.deepStrictEqual(plain(yield* tokensOf(good, ["read"])), {
        accessToken: "access-token-1",
        refreshToken: "refresh-token-1",
        tokenType: "Bearer",
        expiresAt: 3_605_000,
        scopes: ["read"]
      })
    }))

  it.effect("[field AUT-18] reads status 201, an expires_in that is a text, a scope of null, a type in any case", () =>
    Effect.gen(function*() {
      const odd = { ...withMembers({ token_type: "bEARER", expires_in: "3600", scope: null }), status: 201 }
      assert.deepStrictEqual(plain(yield* tokensOf(odd, ["a", "b"])), {
        accessToken: "a",
        tokenType: "Bearer",
        expiresAt: 3_600_000,
        scopes: ["a", "b"]
      })
    }))

  it.effect("[field AUT-18] reads a form in place of JSON, also under a wrong or no media type", () =>
    Effect.gen(function*() {
      const body = "access_token=a-b&token_type=bearer&scope=repo%2Cgist&refresh_token=r%2B1"
      for (const type of ["application/x-www-form-urlencoded; charset=utf-8", "text/plain"]) {
        const tokens = plain(yield* tokensOf({ body, headers: { "content-type": type } }, ["repo"]))
        assert.deepStrictEqual(tokens, {
          accessToken: "a-b",
          refreshToken: "r+1",
          tokenType: "Bearer",
          scopes: ["repo", "gist"]
        })
      }
      const json = {
        body: `\uFEFF{"access_token":"a","token_type":"Bearer"}`,
        headers: { "content-type": "text/html" }
      }
      assert.strictEqual(plain(yield* tokensOf(json)).accessToken, "a")
    }))

  it.effect("parts scopes at blanks, takes lists and leaves out doubles; a comma of a scope that was asked for stays", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [scope: unknown, asked: ReadonlyArray<string>, got: ReadonlyArray<string>]> =
        [
          ["a  b a", [], ["a", "b"]],
          ["a,b c", ["a,b"], ["a,b", "c"]],
          ["a,b, c", ["x"], ["a", "b", "c"]],
          [["a", "", 1, "b"], ["x"], ["a", "b"]],
          ["", ["x"], ["x"]],
          [7, ["x"], ["x"]]
        ]
      for (const [scope, asked, got] of cases) {
        assert.deepStrictEqual((yield* tokensOf(withMembers({ scope }), asked)).scopes, got)
      }
    }))

  it.effect("knows no end where there is none worth believing", () =>
    Effect.gen(function*() {
      for (const expires_in of [0, -1, "0", "-3600", "soon", "0x10", "", null, true, [3600], 1e99, "1e3"]) {
        assert.isUndefined((yield* tokensOf(withMembers({ expires_in }))).expiresAt, `${expires_in}`)
      }
      const huge = { body: `{"access_token":"a","token_type":"Bearer","expires_in":1e999}` }
      assert.isUndefined((yield* tokensOf(huge)).expiresAt)
      assert.strictEqual((yield* tokensOf(withMembers({ expires_in: 1.5 }))).expiresAt, 1500)
    }))

  it.effect("takes a token without a type as a bearer token, and none of a type it does not know", () =>
    Effect.gen(function*() {
      for (const token_type of [null, "", undefined]) {
        assert.strictEqual((yield* tokensOf(withMembers({ token_type }))).tokenType, "Bearer")
      }
      for (const token_type of ["mac", "N_A", "DPoP"]) {
        assert.strictEqual((yield* reasonOf(withMembers({ token_type })))._tag, "BadAnswer")
      }
    }))

  it.effect("takes no token that would end a header", () =>
    Effect.gen(function*() {
      for (const access_token of ["a\r\nx: y", "a b", "", 1, null, { a: 1 }, "ä"]) {
        assert.strictEqual((yield* reasonOf(withMembers({ access_token })))._tag, "BadAnswer")
      }
    }))

  it.effect("reads nothing that an answer inherits", () =>
    Effect.gen(function*() {
      const body = `{"__proto__":{"access_token":"evil","scope":"admin"},"token_type":"Bearer"}`
      assert.strictEqual((yield* reasonOf({ body }))._tag, "BadAnswer")
      const polluted: Record<string, unknown> = Object.create({ access_token: "evil", expires_in: 1 })
      assert.isUndefined(textOf(polluted, "access_token"))
      assert.isUndefined(numberOf(polluted, "expires_in"))
    }))
})

describe("refusals", () => {
  it.effect("[field AUT-18] takes 200 with an error for an OAuth error", () =>
    Effect.gen(function*() {
      for (const status of [200, 400, 401]) {
        const body = { error: "bad_verification_code", error_description: "The code is incorrect or expired." }
        assert.deepStrictEqual(
          yield* reasonOf({ status, body }),
          new AuthError.OAuthRefused({
            issuer,
            endpoint: "token",
            status,
            error: "bad_verification_code",
            description: "The code is incorrect or expired."
          })
        )
      }
      const form = { body: "error=access_denied&error_description=no+way", headers: { "content-type": "text/plain" } }
      const reason = yield* reasonOf(form)
      assert.strictEqual(reason._tag, "OAuthRefused")
      // An error that says nothing is none.
      for (const error of [null, "", false]) assert.isDefined(yield* tokensOf(withMembers({ error })))
    }))

  it.effect("[field AUT-21] what says later leaves everything as it is, with the time to wait", () =>
    Effect.gen(function*() {
      for (const status of [408, 425, 429, 500, 502, 503, 504]) {
        const body = { error: "invalid_grant" }
        const reason = yield* reasonOf({ status, body, headers: { "retry-after": "120" } })
        assert.deepStrictEqual(
          reason,
          new AuthError.Unavailable({
            url: `${issuer}/token`,
            status,
            retryAfter: "120",
            detail: `it answers with status ${status}`
          })
        )
      }
      for (const error of ["temporarily_unavailable", "server_error"]) {
        assert.strictEqual((yield* reasonOf({ status: 400, body: { error } }))._tag, "Unavailable")
      }
      assert.strictEqual((yield* reasonOf(undefined))._tag, "Unavailable")
    }))

  it.effect("[field AUT-18] says of a page that it is one, and nothing that is written there", () =>
    Effect.gen(function*() {
      const html = { body: "<html>the-code-4711 is wrong</html>", headers: { "content-type": "text/html" } }
      assert.deepStrictEqual(
        yield* reasonOf(html),
        new AuthError.BadAnswer({ url: `${issuer}/token`, status: 200, detail: "it is a page" })
      )
      assert.strictEqual((yield* reasonOf({ ...html, status: 502 }))._tag, "Unavailable")
      for (const body of ["", "[]", "null", "\"the-code-4711\"", "{\"access_token\"", "hello, world"]) {
        assert.strictEqual((yield* reasonOf({ body }))._tag, "BadAnswer")
      }
      assert.strictEqual((yield* reasonOf({ status: 400, body: "the-code-4711" }))._tag, "BadAnswer")
      assert.strictEqual(
        (yield* reasonOf({ status: 400, body: { error: { code: "the-code-4711" } } }))._tag,
        "BadAnswer"
      )
    }))

  it.effect("[field AUT-21] cuts what was sent out of what a server says, and bounds it", () =>
    Effect.gen(function*() {
      const describe = (error_description: string) =>
        Effect.map(reasonOf({ status: 400, body: { error: "invalid_grant", error_description } }), (reason) => {
          assert.strictEqual(reason._tag, "OAuthRefused")
          return reason._tag === "OAuthRefused" ? reason.description : undefined
        })
      assert.strictEqual(yield* describe("code the-code-4711 is wrong"), "code … is wrong")
      assert.strictEqual(yield* describe("e-code-4711"), "…")
      assert.strictEqual(yield* describe("a\u0000b\r\nc\u202Ed\u2028e"), "a b c d e")
      assert.strictEqual((yield* describe("x".repeat(9_999)))?.length, 200)
      assert.strictEqual(yield* describe("   "), undefined)
      const reason = yield* reasonOf({ status: 400, body: { error: `the-code-4711${"y".repeat(99)}` } })
      assert.strictEqual(reason._tag === "OAuthRefused" ? reason.error.length : 0, 64)
    }))
})

describe("other endpoints", () => {
  it.effect("gives the object of a form's answer, and an empty one where there is no body", () =>
    Effect.gen(function*() {
      const form = (reply: Reply, endpoint: TokenEndpoint.FormRequest["endpoint"]) =>
        provider(() => reply).endpoint().form({ ...request(), endpoint })
      assert.deepStrictEqual(yield* form({ body: { a: 1 } }, "device authorization"), { a: 1 })
      assert.deepStrictEqual(yield* form({ status: 204 }, "revocation"), {})
      assert.deepStrictEqual(yield* form({ body: "OK" }, "revocation"), {})
      assert.strictEqual((yield* Effect.flip(form({ body: "OK" }, "token"))).reason._tag, "BadAnswer")
      const refused = yield* Effect.flip(form({ status: 400, body: { error: "invalid_client" } }, "revocation"))
      assert.strictEqual(refused.reason._tag === "OAuthRefused" ? refused.reason.endpoint : "", "revocation")
    }))

  it.effect("gives status and JSON of a document's answer, whatever they are", () =>
    Effect.gen(function*() {
      const json = (reply: Reply) => provider(() => reply).endpoint().json(`${issuer}/register`, { a: 1 })
      assert.deepStrictEqual(yield* json({ status: 201, body: { b: 2 } }), { status: 201, body: { b: 2 } })
      assert.deepStrictEqual(yield* json({ status: 403, body: "<html>" }), { status: 403, body: undefined })
      assert.deepStrictEqual(yield* json({ status: 503, headers: { "retry-after": "9" } }), {
        status: 503,
        body: undefined,
        retryAfter: "9"
      })
    }))
})

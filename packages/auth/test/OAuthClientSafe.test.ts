/** What of a login is seen by whom, and what stays with the authorization server that gave it. */
import { assert, describe, it } from "@effect/vitest"
import { AuthError } from "@mcpfx/auth"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, Logger, Option, References, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { type Login, makeWhole, url } from "./support/whole.ts"

const options: TestAuthorizationServer.Options = { scopes: ["read", "offline_access"] }

/** Everything that the effect logs and traces, as text. */
const observed = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const seen: Array<unknown> = []
  const logger = Logger.make(({ cause, message }) => seen.push([message, cause]))
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      seen.push(span)
      return span
    }
  })
  return effect.pipe(
    Effect.withTracer(tracer),
    Effect.provide(Logger.layer([logger])),
    Effect.provideService(References.MinimumLogLevel, "Trace"),
    Effect.map((value) => ({ value, lines: seen.map((one) => inspect(one, { depth: 9 })) }))
  )
}

const asked = (login: Login, endpoint: TestAuthorizationServer.Endpoint) =>
  Effect.map(
    login.requests,
    (requests) => requests.filter((request) => request.endpoint === endpoint).map(({ parameters }) => parameters)
  )

describe("what of a login is seen by whom", () => {
  it.effect("[ACL-29] [ACL-30] [field AUT-21] [field AUT-22] secrets go to whom they are for, in no address and no log", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make(options)
      const { lines, value: sent } = yield* observed(Effect.gen(function*() {
        const { oauth, open, sent } = yield* makeWhole(login)
        assert.strictEqual(yield* open, "open")
        yield* TestClock.adjust("2 hours")
        assert.strictEqual(yield* open, "open")
        yield* oauth.logout
        return sent
      }))
      const [page = {}] = yield* asked(login, "authorize")
      const [exchange = {}, renewal = {}] = yield* asked(login, "token")
      const [ended = {}] = yield* asked(login, "revoke")
      assert.deepInclude(page, { response_type: "code", code_challenge_method: "S256" })
      assert.deepStrictEqual([exchange["grant_type"], renewal["grant_type"]], ["authorization_code", "refresh_token"])
      const toPage = sent.filter(({ url }) => url.origin === "https://mcp.test")
      const tokens = new Set(toPage.flatMap(({ headers }) => headers["authorization"]?.replace("Bearer ", "") ?? []))
      const forLogin = [exchange["code"], exchange["code_verifier"], renewal["refresh_token"], ended["token"]]
        .map((secret = "") => secret)
      const secrets = [...tokens, ...forLogin]
      assert.strictEqual(new Set(secrets).size, 6)
      for (const secret of secrets) {
        assert.isAbove(secret.length, 20)
        assert.notInclude(JSON.stringify(page), secret)
        for (const line of lines) assert.notInclude(line, secret)
        for (const { url } of sent) assert.notInclude(url.href, secret)
      }
      assert.isAbove(lines.length, 0)
      for (const { body, headers, url } of sent) {
        assert.strictEqual(url.protocol, "https:")
        const isPage = url.origin === "https://mcp.test"
        for (const secret of forLogin) if (isPage) assert.notInclude(JSON.stringify(headers) + body, secret)
        if (isPage) continue
        assert.notProperty(headers, "authorization")
        if (url.pathname !== "/revoke") { for (const token of tokens) assert.notInclude(body, token) }
      }
      // All but the pages of the browser went through the client that the program gave.
      const paths = sent.filter(({ url }) => url.origin === login.issuer).map(({ url }) => url.pathname)
      assert.deepStrictEqual([...new Set(paths)], [
        "/.well-known/oauth-authorization-server",
        "/register",
        "/token",
        "/revoke"
      ])
    }))

  it.effect("[ACL-29] a login that gives no refresh token is one, and another follows when its token ends", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make({ ...options, refresh: "never" })
      const { oauth, open } = yield* makeWhole(login)
      assert.strictEqual(yield* open, "open")
      assert.strictEqual((yield* oauth.status)._tag, "LoggedIn")
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* open, "open")
      const grants = (yield* asked(login, "token")).map((parameters) => parameters["grant_type"])
      assert.deepStrictEqual(grants, ["authorization_code", "authorization_code"])
      assert.strictEqual(yield* login.count("authorize"), 2)
    }))

  it.effect("[ACL-30] no code and no token follows a redirect to somebody else", () =>
    Effect.gen(function*() {
      const evil = yield* TestAuthorizationServer.make({ issuer: "https://evil.test" })
      for (const status of [302, 303, 307, 308]) {
        const login = yield* TestAuthorizationServer.make(options)
        const { open } = yield* makeWhole(login, evil)
        const away = { answer: { status, headers: { location: "https://evil.test/token" } } }
        yield* login.fault("token", away)
        const error = Option.getOrUndefined(AuthError.find(yield* Effect.flip(open)))
        assert.deepInclude(error?.reason, { _tag: "InsecureServer", why: "redirect" })
      }
      assert.deepStrictEqual(yield* evil.requests, [])
    }))
})

describe("a server that names another authorization server", () => {
  it.effect("[ACL-07] [ACL-13] [field AUT-19] gets a registration and a login of its own, and the first one's are kept", () =>
    Effect.gen(function*() {
      const first = yield* TestAuthorizationServer.make(options)
      const second = yield* TestAuthorizationServer.make({ ...options, issuer: "https://second.test" })
      const { open, sent, trust } = yield* makeWhole(first, second)
      assert.strictEqual(yield* open, "open")
      yield* trust(second)
      const before = sent.length
      assert.strictEqual(yield* open, "open")
      assert.deepStrictEqual(sent.slice(before).filter(({ url }) => url.origin === first.issuer), [])
      assert.deepStrictEqual(
        yield* Effect.forEach(["register", "authorize", "token"] as const, second.count),
        [1, 1, 1]
      )
      const [login = {}] = yield* asked(first, "token")
      for (const { body, url: at } of sent.slice(before)) {
        if (at.origin !== new URL(url).origin) assert.notInclude(at.href + body, login["client_id"] ?? "")
      }
      yield* trust(first)
      assert.strictEqual(yield* open, "open")
      assert.deepStrictEqual(
        yield* Effect.forEach(["register", "authorize", "token"] as const, first.count),
        [1, 1, 1]
      )
    }))
})

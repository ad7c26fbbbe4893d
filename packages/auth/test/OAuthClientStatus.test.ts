/** What a host is told of a login: each change once, and the reason that says the most for as long as it stands. */
import { assert, describe, it } from "@effect/vitest"
import { AuthError, type LoginStatus, type OAuthClient } from "@mcpfx/auth"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import { challenge, connect, grant, issuer, json, Provider, reasonOf, server, tokenOf } from "./support/world.ts"

/** All that `changes` tells from now on. */
const watching = Effect.fnUntraced(function*(oauth: OAuthClient.OAuthClient["Service"]) {
  const seen: Array<LoginStatus.LoginStatus> = []
  yield* Effect.forkChild(Stream.runForEach(oauth.changes, (status) => Effect.sync(() => void seen.push(status))))
  yield* settle
  return { take: Effect.andThen(settle, Effect.sync(() => seen.splice(0))) }
})

const settle = Effect.forEach(Array.from({ length: 10 }), () => Effect.yieldNow, { discard: true })

const tags = (statuses: ReadonlyArray<LoginStatus.LoginStatus>): ReadonlyArray<string> =>
  statuses.map((status) => status._tag === "NeedsLogin" ? `NeedsLogin ${status.error.reason._tag}` : status._tag)

/** A person who does what the test says, before a host that asks nobody by itself. */
const host = Effect.fnUntraced(function*(options: Partial<OAuthClient.Options> = {}) {
  const provider = new Provider()
  const outcome: { failure: AuthError.Reason | undefined } = { failure: undefined }
  const person = () =>
    Effect.suspend(() => outcome.failure === undefined ? Effect.void : AuthError.fail(outcome.failure))
  const made = yield* connect(provider.world, {
    grant: grant({ interactive: true, person }),
    onLoginNeeded: "fail",
    ...options
  })
  return { ...made, provider, outcome, seen: yield* watching(made.oauth) }
})

const inVain: ReadonlyArray<AuthError.Reason> = [
  new AuthError.LoginDenied({ issuer, error: "access_denied" }),
  new AuthError.LoginTimedOut({ issuer, millis: 60_000 }),
  new AuthError.CallbackUnavailable({ address: "http://127.0.0.1:3334/callback", detail: "the port is taken" }),
  new AuthError.CallbackRejected({ issuer, parameter: "state", fault: "wrong" }),
  new AuthError.RegistrationRequired({ issuer, detail: "none is configured" }),
  new AuthError.OAuthRefused({ issuer, endpoint: "token", status: 401, error: "invalid_client" })
]

describe("OAuthClient: status", () => {
  for (const failure of inVain) {
    it.effect(`keeps saying ${failure._tag} until somebody logs in, however many requests come`, () =>
      Effect.gen(function*() {
        const { client, oauth, outcome, seen } = yield* host()
        outcome.failure = failure
        assert.strictEqual((yield* reasonOf(oauth.login()))._tag, failure._tag)
        for (let n = 0; n < 3; n++) {
          assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "LoginRequired")
          const status = yield* oauth.status
          assert.deepStrictEqual(tags([status]), [`NeedsLogin ${failure._tag}`])
          yield* TestClock.adjust("2 minutes")
        }
        yield* seen.take
        yield* reasonOf(client.post(server))
        assert.deepStrictEqual(yield* seen.take, [])

        outcome.failure = undefined
        yield* oauth.login()
        assert.strictEqual((yield* client.post(server)).status, 200)
        assert.deepStrictEqual(tags(yield* seen.take), ["LoggingIn", "LoggedIn"])
        yield* oauth.logout
        yield* reasonOf(client.post(server))
        assert.deepStrictEqual(tags([yield* oauth.status]), ["NeedsLogin LoginRequired"])
      }))
  }

  it.effect("does not keep what may have passed", () =>
    Effect.gen(function*() {
      const { client, oauth, outcome } = yield* host()
      outcome.failure = new AuthError.Unavailable({ url: issuer, detail: "it does not answer" })
      yield* reasonOf(oauth.login())
      yield* reasonOf(client.post(server))
      assert.deepStrictEqual(tags([yield* oauth.status]), ["NeedsLogin LoginRequired"])
    }))

  it.effect("keeps the reason from requests in the background too", () =>
    Effect.gen(function*() {
      const { client, oauth, outcome } = yield* host({ onLoginNeeded: "login" })
      outcome.failure = new AuthError.LoginDenied({ issuer, error: "access_denied" })
      assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "LoginDenied")
      assert.strictEqual((yield* reasonOf(client.del(server)))._tag, "LoginRequired")
      assert.deepStrictEqual(tags([yield* oauth.status]), ["NeedsLogin LoginDenied"])
    }))

  it.effect("says what a person can be shown", () =>
    Effect.gen(function*() {
      const { client, oauth } = yield* host()
      yield* reasonOf(client.post(server))
      const status = yield* oauth.status
      assert.strictEqual(
        status._tag === "NeedsLogin" && status.error.message,
        `${server} needs a login: log in to go on`
      )
    }))

  it.effect("who was asked to log in and did not still is, and who is logged in stays so", () =>
    Effect.gen(function*() {
      const { client, oauth, outcome, provider } = yield* host({
        grant: grant({ interactive: true, refreshes: false })
      })
      yield* oauth.login()
      provider.valid.clear()
      assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "LoginExpired")
      assert.deepStrictEqual(tags([yield* oauth.status]), ["NeedsLogin LoginExpired"])
      provider.world.on(`POST ${issuer}/token`, () => json({ error: "access_denied" }, 400))
      yield* reasonOf(oauth.login())
      assert.notStrictEqual((yield* oauth.status)._tag, "LoggedIn")
      assert.isUndefined(outcome.failure)

      const other = yield* host()
      yield* other.oauth.login()
      other.outcome.failure = new AuthError.LoginDenied({ issuer, error: "access_denied" })
      yield* reasonOf(other.oauth.login(["more"]))
      assert.strictEqual((yield* other.oauth.status)._tag, "LoggedIn")
    }))

  it.effect("tells each change once: logins, refreshes, scopes that lack, logouts", () =>
    Effect.gen(function*() {
      const { client, oauth, provider, seen } = yield* host()
      assert.deepStrictEqual(tags(yield* seen.take), ["Anonymous"])
      yield* reasonOf(client.post(server))
      yield* TestClock.adjust("1 minute")
      yield* reasonOf(client.post(server))
      assert.deepStrictEqual(tags(yield* seen.take), ["NeedsLogin LoginRequired"])
      yield* oauth.login()
      assert.deepStrictEqual(tags(yield* seen.take), ["LoggingIn", "LoggedIn"])

      provider.world.on(server, (request) =>
        tokenOf(request) === undefined
          ? challenge("scope=\"read\"")
          : challenge("error=\"insufficient_scope\", scope=\"write\"", 403))
      for (let n = 0; n < 2; n++) {
        assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "LoginRequired")
        yield* TestClock.adjust("1 minute")
      }
      const lacking = yield* seen.take
      assert.deepStrictEqual(lacking.map((status) => status._tag === "LoggedIn" && status.missing), [["write"]])
      yield* oauth.login()
      assert.deepStrictEqual(tags(yield* seen.take), ["LoggingIn", "LoggedIn"])
      yield* oauth.logout
      yield* oauth.logout
      assert.deepStrictEqual(tags(yield* seen.take), ["Anonymous"])
    }))

  it.effect("a server that takes the token after all has nothing against the login any more", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client, oauth } = yield* connect(provider.world)
      const valid = provider.valid.add
      provider.valid.add = () => provider.valid // not yet: the keys of the authorization server are new to it
      assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "TokenRejected")
      assert.strictEqual((yield* oauth.status)._tag, "Failed")
      valid.call(provider.valid, `a${provider.given}`)
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual((yield* oauth.status)._tag, "LoggedIn")
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { Deferred, Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import {
  connect,
  grant,
  issuer,
  json,
  kept,
  loggedIn,
  Provider,
  reasonOf,
  registration,
  server,
  tokenAddress,
  tokenOf,
  tokensKey
} from "./support/world.ts"

describe("OAuthClient: refresh", () => {
  for (const count of [10, 100]) {
    it.effect(`[field AUT-06] ${count} requests whose token has ended make one refresh, and all go well`, () =>
      Effect.gen(function*() {
        const { client, provider } = yield* loggedIn()
        provider.valid.clear()
        const responses = yield* Effect.all(Array.from({ length: count }, () => client.post(server)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual([...new Set(responses.map(({ status }) => status))], [200])
        assert.strictEqual(provider.asked("refresh_token").length, 1)
        assert.strictEqual(provider.given, 2)
      }))
  }

  it.effect("[field AUT-06] who asked first and is interrupted breaks nobody else's request", () =>
    Effect.gen(function*() {
      const { client, provider } = yield* loggedIn()
      provider.valid.clear()
      const go = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      provider.world.on(
        `POST ${tokenAddress}`,
        (seen) =>
          Effect.andThen(Deferred.succeed(asked, undefined), Effect.as(Deferred.await(go), provider.answer(seen)))
      )
      const first = yield* Effect.forkChild(client.post(server))
      const second = yield* Effect.forkChild(client.post(server))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(first)
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* Fiber.join(second)).status, 200)
      assert.strictEqual(provider.asked("refresh_token").length, 1)
    }))

  it.effect("[field AUT-06] a refresh that nobody waits for any more is finished, and kept", () =>
    Effect.gen(function*() {
      const { client, provider, store } = yield* loggedIn()
      provider.valid.clear()
      const go = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      provider.world.on(
        `POST ${tokenAddress}`,
        (seen) =>
          Effect.andThen(Deferred.succeed(asked, undefined), Effect.as(Deferred.await(go), provider.answer(seen)))
      )
      const only = yield* Effect.forkChild(client.post(server))
      yield* Deferred.await(asked)
      yield* Fiber.interrupt(only)
      yield* Deferred.succeed(go, undefined)
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual(provider.asked("refresh_token").length, 1)
      assert.deepInclude(yield* kept(store), { accessToken: "a2", refreshToken: "r2" })
    }))

  it.effect("[field AUT-06] of two processes with one store one spends the refresh token, and both go on", () =>
    Effect.gen(function*() {
      const { client, provider, store } = yield* loggedIn()
      const other = yield* connect(provider.world, {}, store)
      yield* other.client.post(server)
      provider.valid.clear()
      const responses = yield* Effect.all([client.post(server), other.client.post(server)], {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 200])
      assert.strictEqual(provider.asked("refresh_token").length, 1)
      provider.valid.clear()
      yield* client.post(server)
      provider.valid.add("a3")
      assert.strictEqual((yield* other.client.post(server)).status, 200)
      assert.strictEqual(provider.given, 3)
    }))

  it.effect("[field AUT-06] a store that keeps nobody out: whose refresh token was spent by another takes its tokens", () =>
    Effect.gen(function*() {
      const { client, provider, store } = yield* loggedIn()
      provider.valid.clear()
      provider.world.on(`POST ${tokenAddress}`, () =>
        Effect.gen(function*() {
          provider.valid.add("other")
          const other = { accessToken: "other", tokenType: "Bearer", refreshToken: "r9", scopes: [] }
          yield* Effect.orDie(store.set(tokensKey, Redacted.make(JSON.stringify(other))))
          return json({ error: "invalid_grant" }, 400)
        }))
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual(tokenOf(provider.world.at(server).at(-1)), "Bearer other")
      assert.strictEqual(provider.asked("test").length, 1)
    }))

  it.effect("[field AUT-06] what somebody logged in with in another process is used before anybody is asked again", () =>
    Effect.gen(function*() {
      const { client, provider, store } = yield* loggedIn({ grant: grant({ refreshes: false }) })
      const other = yield* connect(provider.world, { grant: grant({ refreshes: false }) }, store)
      provider.valid.clear()
      yield* other.client.post(server)
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual(provider.given, 2)
    }))

  it.effect("[field AUT-06] a 401 for a token that was replaced meanwhile is answered with the new one alone", () =>
    Effect.gen(function*() {
      const { client, provider } = yield* loggedIn()
      const late = yield* Deferred.make<void>()
      provider.valid.clear()
      const plain = (token: string | undefined) =>
        token === "Bearer a2" ? json({}) : new Response("", { status: 401, headers: { "www-authenticate": "Bearer" } })
      let first = true
      provider.world.on(server, (seen) => {
        const answer = Effect.sync(() => plain(tokenOf(seen)))
        if (!first) return answer
        first = false
        return Effect.andThen(Deferred.await(late), answer)
      })
      const slow = yield* Effect.forkChild(client.post(server))
      yield* Effect.yieldNow
      yield* client.post(server)
      yield* Deferred.succeed(late, undefined)
      assert.strictEqual((yield* Fiber.join(slow)).status, 200)
      assert.strictEqual(provider.asked("refresh_token").length, 1)
    }))

  it.effect("[field AUT-08] an answer without a refresh token leaves the old one good", () =>
    Effect.gen(function*() {
      const { client, provider, store } = yield* loggedIn()
      provider.world.on(`POST ${tokenAddress}`, (seen) => {
        if (seen.form.get("refresh_token") !== "r1") return json({ error: "invalid_grant" }, 400)
        provider.valid.add(`b${++provider.given}`)
        return json({ access_token: `b${provider.given}`, token_type: "Bearer", expires_in: 3600 })
      })
      for (const n of [2, 3]) {
        provider.valid.clear()
        yield* client.post(server)
        assert.deepInclude(yield* kept(store), { accessToken: `b${n}`, refreshToken: "r1" })
      }
    }))

  it.effect("[field AUT-04] a server that says nothing about logins any more keeps nobody from a refresh", () =>
    Effect.gen(function*() {
      const { client, provider } = yield* loggedIn()
      provider.valid.clear()
      for (const path of ["/mcp", ""]) {
        provider.world.on(`https://mcp.example/.well-known/oauth-protected-resource${path}`, 503)
      }
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual(provider.asked("refresh_token").length, 1)
      provider.valid.clear()
      provider.refreshable.clear()
      assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "Unavailable")
    }))

  it.effect("a token near its end is renewed beside the request that uses it, one that has ended before the request", () =>
    Effect.gen(function*() {
      const { client, provider } = yield* loggedIn({ refreshAhead: "1 minute" })
      yield* TestClock.adjust("58 minutes")
      yield* client.post(server)
      assert.strictEqual(provider.given, 1)
      yield* TestClock.adjust("90 seconds")
      yield* client.post(server)
      assert.strictEqual(tokenOf(provider.world.at(server).at(-1)), "Bearer a1")
      yield* TestClock.adjust("1 second")
      yield* client.post(server)
      assert.strictEqual(provider.asked("refresh_token").length, 1)
      assert.strictEqual(tokenOf(provider.world.at(server).at(-1)), "Bearer a2")
      yield* TestClock.adjust("2 hours")
      const before = provider.world.at(server).length
      yield* client.post(server)
      assert.deepStrictEqual(provider.world.at(server).slice(before).map(tokenOf), ["Bearer a3"])
    }))

  it.effect("a short life is not used up by renewing early", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      provider.life = 30
      const { client } = yield* connect(provider.world, { refreshAhead: "1 minute" })
      yield* client.post(server)
      yield* TestClock.adjust("20 seconds")
      yield* client.post(server)
      assert.strictEqual(provider.given, 1)
    }))

  const passing: ReadonlyArray<readonly [string, () => Response | undefined]> = [
    ["a broken connection", () => undefined],
    ["status 503", () => new Response("", { status: 503 })],
    ["status 429", () => new Response("", { status: 429, headers: { "retry-after": "20" } })]
  ]
  for (const [name, answer] of passing) {
    it.effect(`[field AUT-21] ${name} during refresh keeps the login and is told as what may pass`, () =>
      Effect.gen(function*() {
        const { client, oauth, provider, store } = yield* loggedIn({ backoff: { first: "1 second" } })
        provider.world.on(`POST ${tokenAddress}`, answer)
        provider.valid.clear()
        assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "Unavailable")
        assert.strictEqual((yield* oauth.status)._tag, "Failed")
        assert.deepInclude(yield* kept(store), { refreshToken: "r1" })
        // What is asked for again at once is not asked of the authorization server again.
        const asked = provider.world.at(tokenAddress).length
        yield* reasonOf(client.post(server))
        assert.strictEqual(provider.world.at(tokenAddress).length, asked)
        provider.world.on(`POST ${tokenAddress}`, (seen) => provider.answer(seen))
        yield* TestClock.adjust("2 seconds")
        const early = yield* Effect.exit(client.post(server))
        assert.strictEqual(early._tag, name === "status 429" ? "Failure" : "Success")
        yield* TestClock.adjust("20 seconds")
        assert.strictEqual((yield* client.post(server)).status, 200)
        assert.strictEqual(provider.asked("test").length, 1)
      }))
  }

  it.effect("[field AUT-21] a token that is still good is used while its renewal fails", () =>
    Effect.gen(function*() {
      const { client, oauth, provider } = yield* loggedIn()
      provider.world.on(`POST ${tokenAddress}`, 503)
      yield* TestClock.adjust(Duration.seconds(3570))
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* client.post(server)).status, 200)
      yield* TestClock.adjust("10 millis")
      assert.strictEqual(provider.asked("refresh_token").length, 1)
      assert.strictEqual((yield* oauth.status)._tag, "LoggedIn")
    }))

  it.effect("[field AUT-21] only invalid_grant ends the login: it leaves the store, and another login follows", () =>
    Effect.gen(function*() {
      const { client, provider, store } = yield* loggedIn()
      provider.valid.clear()
      provider.refreshable.clear()
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.deepStrictEqual(provider.world.at(tokenAddress).map(({ form }) => form.get("grant_type")), [
        "test",
        "refresh_token",
        "test"
      ])
      assert.deepInclude(yield* kept(store), { accessToken: "a2" })
    }))

  it.effect("[field AUT-21] where nobody may be asked a login that has ended is told as such", () =>
    Effect.gen(function*() {
      const first = yield* loggedIn()
      const { provider, store } = first
      const { client, oauth } = yield* connect(provider.world, {
        grant: grant({ interactive: true }),
        onLoginNeeded: "fail"
      }, store)
      provider.valid.clear()
      provider.refreshable.clear()
      assert.deepInclude(yield* reasonOf(client.post(server)), { _tag: "LoginExpired", issuer, resource: server })
      assert.isUndefined(yield* kept(store))
      const status = yield* oauth.status
      assert.strictEqual(status._tag === "NeedsLogin" && status.error.reason._tag, "LoginExpired")
    }))

  it.effect("[ACL-30] a refresh token is spent by the client alone that it was given to", () =>
    Effect.gen(function*() {
      const { provider, store } = yield* loggedIn()
      const other = { ...registration, clientId: "another" }
      const { client } = yield* connect(provider.world, { grant: grant({ registration: other }) }, store)
      provider.valid.clear()
      yield* client.post(server)
      assert.strictEqual(provider.asked("refresh_token").length, 0)
      assert.strictEqual(provider.asked("test").length, 2)
    }))

  it.effect("a client that registered itself and is forgotten is forgotten here too, and logs in anew", () =>
    Effect.gen(function*() {
      const dynamic = grant({ registration: { ...registration, kind: "dynamic" } })
      const { client, provider, store } = yield* loggedIn({ grant: dynamic })
      const key = JSON.stringify(["registration", issuer, "test"])
      yield* store.set(key, Redacted.make("{}"))
      provider.valid.clear()
      provider.world.on(
        `POST ${tokenAddress}`,
        (seen) =>
          seen.form.get("grant_type") === "refresh_token"
            ? json({ error: "invalid_client" }, 401)
            : provider.answer(seen)
      )
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual((yield* store.get(key))._tag, "None")
    }))
})

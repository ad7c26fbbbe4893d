/** What one client does about tokens that others have changed, and about what was given up half-way. */
import { assert, describe, it } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { challenge, connect, grant, issuer, json, Provider, reasonOf, server, tokenAddress } from "./support/world.ts"

const tokensKey = JSON.stringify(["tokens", issuer, server])

/** Two clients that share a login, of which the second has refreshed it. */
const shared = Effect.gen(function*() {
  const provider = new Provider()
  const store = yield* TokenStore.makeMemory
  const first = yield* connect(provider.world, {}, store)
  const second = yield* connect(provider.world, {}, store)
  yield* first.client.post(server)
  yield* second.client.post(server)
  provider.valid.clear()
  yield* second.client.post(server)
  assert.strictEqual(provider.asked("refresh_token").length, 1)
  return { first, second, provider, store }
})

describe("OAuthClient: what others do", () => {
  it.effect("[field AUT-06] a logout takes what another process has put into the store", () =>
    Effect.gen(function*() {
      const { first, provider, store } = yield* shared
      yield* first.oauth.logout
      assert.strictEqual((yield* store.get(tokensKey))._tag, "None")
      // The next request begins with a login of its own.
      yield* first.client.post(server)
      assert.strictEqual(provider.asked("test").length, 2)
    }))

  it.effect("[field AUT-06] after a logout in another process no refresh token is spent that it has spent", () =>
    Effect.gen(function*() {
      const { first, provider, second } = yield* shared
      yield* second.oauth.logout
      provider.valid.clear()
      yield* first.client.post(server)
      assert.strictEqual(provider.asked("refresh_token").length, 1)
      assert.strictEqual(provider.asked("test").length, 2)
    }))

  it.effect("[field AUT-09] a logout with a store that cannot be read says that it may have kept something", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const error = new TokenStore.TokenStoreError({ operation: "read", detail: "the disk is gone" })
      const memory = yield* TokenStore.makeMemory
      const store = { ...memory, get: () => Effect.fail(error) }
      const { oauth } = yield* connect(provider.world, {}, store)
      assert.strictEqual((yield* Effect.flip(oauth.logout)).reason._tag, "StoreFailed")
    }))

  it.effect("[ACL-28] scopes that there are none such of keep nobody from the next login", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      provider.world
        .on(`POST ${tokenAddress}`, (seen) =>
          seen.form.get("scope")?.includes("none") === true
            ? json({ error: "invalid_scope" }, 400)
            : provider.answer(seen))
      const { client, oauth } = yield* connect(provider.world, {
        scopes: ["read"],
        grant: grant({ interactive: true })
      })
      yield* client.post(server)
      provider.world.on(`GET ${server}`, () => challenge(`error="insufficient_scope", scope="read none"`, 403))
      assert.strictEqual((yield* reasonOf(client.get(server)))._tag, "OAuthRefused")
      yield* oauth.login()
      assert.strictEqual((yield* client.post(server)).status, 200)
    }))

  it.effect("[field AUT-21] a refresh that fails when nobody waits any more leaves no status of its own", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client, oauth } = yield* connect(provider.world)
      yield* client.post(server)
      provider.valid.clear()
      provider.world.on(
        `POST ${tokenAddress}`,
        () => Effect.as(Effect.sleep("3 seconds"), json({ error: "temporarily_unavailable" }, 503))
      )
      const request = yield* Effect.forkChild(client.post(server))
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* oauth.status)._tag, "Refreshing")
      yield* Effect.forkChild(Fiber.interrupt(request))
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* oauth.status)._tag, "LoggedIn")
    }))
})

/** Stores that cannot be written or read. */
import { assert, describe, it } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { connect, kept, loggedIn, Provider, reasonOf, server, tokenOf } from "./support/world.ts"

describe("OAuthClient: stores", () => {
  const unwritable = Effect.map(TokenStore.makeMemory, (memory) => {
    const full = new TokenStore.TokenStoreError({ operation: "write", detail: "the disk is full" })
    let broken = false
    const store: TokenStore.TokenStore["Service"] = {
      ...memory,
      set: (key, value) => broken ? Effect.fail(full) : memory.set(key, value)
    }
    return { store, breaks: (value: boolean) => void (broken = value) }
  })

  it.effect("[field AUT-09] tokens that cannot be kept are used and told of, and no login follows", () =>
    Effect.gen(function*() {
      const { breaks, store } = yield* unwritable
      const { client, oauth, provider } = yield* loggedIn({}, store)
      breaks(true)
      for (const n of [2, 3]) {
        provider.valid.clear()
        assert.strictEqual((yield* client.post(server)).status, 200)
        const status = yield* oauth.status
        assert.isTrue(status._tag === "LoggedIn" && status.unsaved?.reason._tag === "StoreFailed")
        assert.deepInclude(yield* kept(store), { accessToken: "a1" })
        assert.strictEqual(provider.asked("refresh_token").length, n - 1)
      }
      assert.strictEqual(provider.asked("test").length, 1)
    }))

  it.effect("[field AUT-09] what could not be kept is kept once that is possible", () =>
    Effect.gen(function*() {
      const { breaks, store } = yield* unwritable
      const { client, oauth, provider } = yield* loggedIn({ backoff: { longest: "1 minute" } }, store)
      breaks(true)
      provider.valid.clear()
      yield* client.post(server)
      breaks(false)
      yield* TestClock.adjust("61 seconds")
      yield* client.post(server)
      assert.deepInclude(yield* kept(store), { accessToken: "a2", refreshToken: "r2" })
      const status = yield* oauth.status
      assert.isTrue(status._tag === "LoggedIn" && status.unsaved === undefined)
    }))

  it.effect("[field AUT-09] what another process got meanwhile is taken, and not written over", () =>
    Effect.gen(function*() {
      const { breaks, store } = yield* unwritable
      const { client, oauth, provider } = yield* loggedIn({ backoff: { longest: "1 minute" } }, store)
      breaks(true)
      provider.valid.clear()
      yield* client.post(server)
      breaks(false)
      yield* TestClock.adjust("61 seconds")
      const other = yield* connect(provider.world, {}, store)
      yield* other.oauth.login()
      const theirs = yield* kept(store)
      yield* client.post(server)
      assert.deepStrictEqual(yield* kept(store), theirs)
      assert.strictEqual(tokenOf(provider.world.at(server).at(-1)), `Bearer ${theirs?.accessToken}`)
      const status = yield* oauth.status
      assert.isTrue(status._tag === "LoggedIn" && status.unsaved === undefined)
    }))

  it.effect("[field AUT-09] a login that was asked for says that its tokens are not kept", () =>
    Effect.gen(function*() {
      const { breaks, store } = yield* unwritable
      const { client, oauth, provider } = yield* loggedIn({}, store)
      breaks(true)
      assert.deepInclude(yield* reasonOf(oauth.login()), { _tag: "StoreFailed", operation: "write" })
      yield* client.post(server)
      assert.strictEqual(tokenOf(provider.world.at(server).at(-1)), "Bearer a2")
    }))

  it.effect("a store that cannot be read fails the request: a login in its place would lose what is there", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const memory = yield* TokenStore.makeMemory
      const locked = new TokenStore.TokenStoreError({ operation: "read", detail: "the keychain is locked" })
      const { client, oauth } = yield* connect(provider.world, {}, { ...memory, get: () => Effect.fail(locked) })
      assert.strictEqual((yield* oauth.status)._tag, "Failed")
      assert.deepInclude(yield* reasonOf(client.post(server)), { _tag: "StoreFailed", operation: "read" })
      assert.strictEqual(provider.world.seen.length, 0)
    }))
})

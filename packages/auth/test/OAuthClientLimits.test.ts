import { assert, describe, it } from "@effect/vitest"
import { AuthError } from "@mcpfx/auth"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import {
  challenge,
  connect,
  grant,
  issuer,
  json,
  Provider,
  reasonOf,
  resourceAddress,
  server,
  tokenAddress,
  tokenOf
} from "./support/world.ts"

/** A server whose tokens are good for some scopes, and that wants others. */
class Scoped extends Provider {
  /** What a call needs. */
  needs: ReadonlyArray<string> = ["read"]
  /** What each token is good for. */
  readonly scopes = new Map<string, ReadonlyArray<string>>()
  /** What is granted of what is asked for. */
  grants = (asked: ReadonlyArray<string>): ReadonlyArray<string> => asked

  constructor() {
    super()
    this.world
      .on(server, (seen) => {
        const has = this.scopes.get((tokenOf(seen) ?? "").replace("Bearer ", ""))
        if (has === undefined) return challenge(`resource_metadata="${resourceAddress}", scope="read"`)
        const missing = this.needs.filter((scope) => !has.includes(scope))
        return missing.length === 0
          ? json({})
          : challenge(`error="insufficient_scope", scope="${missing.join(" ")}"`, 403)
      })
      .on(`POST ${tokenAddress}`, ({ form }) => {
        const asked = form.get("scope")?.split(" ") ?? []
        const granted = this.grants(asked)
        const tokens = this.next(granted.join(" "))
        this.scopes.set(String(tokens["access_token"]), granted)
        return json(tokens)
      })
  }

  get askedFor(): ReadonlyArray<string | null> {
    return this.world.at(tokenAddress).map(({ form }) => form.get("scope"))
  }
}

describe("OAuthClient: limits", () => {
  for (const method of ["POST", "GET", "DELETE"] as const) {
    it.effect(`[field AUT-10] a server that takes no token gets one refresh and one login for a ${method}, and no more`, () =>
      Effect.gen(function*() {
        const provider = new Provider()
        const { client, oauth } = yield* connect(provider.world)
        yield* client.post(server)
        provider.world.on(server, () => challenge("error=\"invalid_token\", error_description=\"wrong audience\""))
        const before = provider.world.at(server).length
        const request = { POST: client.post, GET: client.get, DELETE: client.del }[method].bind(client)
        const reason = yield* reasonOf(request(server))
        assert.deepInclude(reason, {
          _tag: "TokenRejected",
          issuer,
          resource: server,
          error: "invalid_token",
          description: "wrong audience"
        })
        assert.deepStrictEqual(provider.world.at(tokenAddress).map(({ form }) => form.get("grant_type")), [
          "test",
          "refresh_token",
          "test"
        ])
        assert.strictEqual(provider.world.at(server).length - before, 3)
        assert.strictEqual((yield* oauth.status)._tag, "Failed")
      }))
  }

  it.effect("[field AUT-10] who tries again and again does not reach the authorization server each time", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client } = yield* connect(provider.world, { backoff: { first: "1 second", longest: "1 minute" } })
      provider.world.on(server, () => challenge("error=\"invalid_token\""))
      for (let n = 0; n < 100; n++) yield* reasonOf(client.get(server))
      assert.strictEqual(provider.world.at(tokenAddress).length, 1)
      yield* Effect.forEach(
        Array.from({ length: 60 }),
        () => Effect.andThen(TestClock.adjust("1 second"), reasonOf(client.get(server)))
      )
      // A refresh and a login each time, at 1, 2, 4 … seconds.
      assert.isAtMost(provider.world.at(tokenAddress).length, 13)
      provider.world.on(server, () => json({}))
      assert.strictEqual((yield* client.get(server)).status, 200)
    }))

  it.effect("[field AUT-10] many requests at once cost one refresh and one login together", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client } = yield* connect(provider.world)
      yield* client.post(server)
      provider.world.on(server, () => challenge("error=\"invalid_token\""))
      const reasons = yield* Effect.all(Array.from({ length: 20 }, () => reasonOf(client.post(server))), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([...new Set(reasons.map(({ _tag }) => _tag))], ["TokenRejected"])
      assert.strictEqual(provider.world.at(tokenAddress).length, 3)
    }))

  it.effect("[field AUT-10] a login in vain is not begun anew for the next request", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      let logins = 0
      const denied = new AuthError.LoginDenied({ issuer, error: "access_denied" })
      const person = () => Effect.suspend(() => (logins++, AuthError.fail(denied)))
      const { client, oauth } = yield* connect(provider.world, { grant: grant({ interactive: true, person }) })
      for (let n = 0; n < 10; n++) {
        assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "LoginDenied")
        yield* TestClock.adjust("5 seconds")
      }
      assert.strictEqual(logins, 1)
      const status = yield* oauth.status
      assert.isTrue(status._tag === "NeedsLogin" && status.error.reason._tag === "LoginDenied")
      yield* reasonOf(oauth.login())
      assert.strictEqual(logins, 2)
      yield* TestClock.adjust("1 minute")
      yield* reasonOf(client.post(server))
      assert.strictEqual(logins, 3)
    }))

  it.effect("[ACL-28] [field AUT-11] more scopes are asked for by a login with the union, not by refresh", () =>
    Effect.gen(function*() {
      const provider = new Scoped()
      const { client, oauth } = yield* connect(provider.world)
      yield* client.post(server)
      provider.needs = ["write"]
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.deepStrictEqual(provider.askedFor, ["read", "read write"])
      assert.strictEqual(provider.asked("refresh_token").length, 0)
      provider.needs = ["read", "admin"]
      yield* client.post(server)
      assert.strictEqual(provider.askedFor.at(-1), "read write admin")
      const status = yield* oauth.status
      assert.deepStrictEqual(status._tag === "LoggedIn" && status.scopes, ["read", "write", "admin"])
    }))

  it.effect("[ACL-28] what was asked for and not granted is asked for again with the rest", () =>
    Effect.gen(function*() {
      const provider = new Scoped()
      provider.grants = (asked) => asked.filter((scope) => scope !== "extra")
      const { client } = yield* connect(provider.world, { scopes: ["extra"] })
      yield* client.post(server)
      provider.needs = ["write"]
      yield* client.post(server)
      assert.deepStrictEqual(provider.askedFor, ["read extra", "read extra write"])
    }))

  it.effect("[field AUT-11] a scope that is not granted is asked for once, and the failure says what is missing", () =>
    Effect.gen(function*() {
      const provider = new Scoped()
      provider.grants = (asked) => asked.filter((scope) => scope !== "write")
      const { client, oauth } = yield* connect(provider.world)
      provider.needs = ["write"]
      assert.deepInclude(yield* reasonOf(client.post(server)), {
        _tag: "ScopeRefused",
        resource: server,
        required: ["write"],
        granted: ["read"]
      })
      assert.deepStrictEqual(provider.askedFor, ["read", "read write"])
      // Other calls go on, and the same one does not ask again at once.
      provider.needs = ["read"]
      assert.strictEqual((yield* client.post(server)).status, 200)
      provider.needs = ["write"]
      yield* reasonOf(client.post(server))
      assert.strictEqual(provider.askedFor.length, 2)
      assert.strictEqual((yield* oauth.status)._tag, "LoggedIn")
    }))

  it.effect("[ACL-28] a server that wants another scope each time is followed a few times", () =>
    Effect.gen(function*() {
      const provider = new Scoped()
      let n = 0
      provider.world.on(
        server,
        (seen) =>
          tokenOf(seen) === undefined
            ? challenge("scope=\"read\"")
            : challenge(`error="insufficient_scope", scope="s${n++}"`, 403)
      )
      const { client } = yield* connect(provider.world, { maxStepUps: 2 })
      assert.strictEqual((yield* reasonOf(client.post(server)))._tag, "ScopeRefused")
      assert.deepStrictEqual(provider.askedFor, ["read", "read s0", "read s0 s1"])
    }))

  it.effect("[field AUT-06] a 401 for an old token does not wait for the person who is asked for more scopes", () =>
    Effect.gen(function*() {
      const provider = new Scoped()
      const late = yield* Deferred.make<void>()
      const asked = yield* Deferred.make<void>()
      let logins = 0
      const person = () =>
        Effect.suspend(() =>
          logins++ < 2 ? Effect.void : Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
        )
      const { client } = yield* connect(provider.world, {
        grant: grant({ interactive: true, person, refreshes: false })
      })
      yield* client.post(server)
      provider.world.on("https://mcp.example/slow", (seen) =>
        tokenOf(seen) === "Bearer a1"
          ? Effect.as(Deferred.await(late), challenge("error=\"invalid_token\""))
          : json({}))
      const slow = yield* Effect.forkChild(client.post("https://mcp.example/slow"), { startImmediately: true })
      provider.scopes.clear()
      yield* client.post(server)
      provider.needs = ["write"]
      const stepping = yield* Effect.forkChild(client.post(server))
      yield* Deferred.await(asked)
      yield* Deferred.succeed(late, undefined)
      assert.strictEqual((yield* Fiber.join(slow)).status, 200)
      yield* Fiber.interrupt(stepping)
    }))

  it.effect("[ACL-28] parallel calls that lack the same scope ask for it once", () =>
    Effect.gen(function*() {
      const provider = new Scoped()
      const { client } = yield* connect(provider.world)
      yield* client.post(server)
      provider.needs = ["write"]
      const responses = yield* Effect.all(Array.from({ length: 20 }, () => client.post(server)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual([...new Set(responses.map(({ status }) => status))], [200])
      assert.deepStrictEqual(provider.askedFor, ["read", "read write"])
    }))

  it.effect("[field AUT-11] where nobody may be asked, what is missing is told, and a login gets it", () =>
    Effect.gen(function*() {
      const provider = new Scoped()
      const { client, oauth } = yield* connect(provider.world, {
        grant: grant({ interactive: true }),
        onLoginNeeded: "fail"
      })
      assert.deepInclude(yield* reasonOf(client.post(server)), { _tag: "LoginRequired", resource: server, issuer })
      yield* oauth.login()
      yield* client.post(server)
      provider.needs = ["write"]
      assert.deepInclude(yield* reasonOf(client.post(server)), { _tag: "LoginRequired", scopes: ["write"] })
      const status = yield* oauth.status
      assert.deepStrictEqual(status._tag === "LoggedIn" && status.missing, ["write"])
      yield* oauth.login()
      assert.strictEqual(provider.askedFor.at(-1), "read write")
      assert.strictEqual((yield* client.post(server)).status, 200)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { AuthError, type Grant, OAuthClient, TokenStore, UserAgent } from "@mcpfx/auth"
import { Deferred, Effect, Fiber, Layer, Redacted, Stream } from "effect"
import { HttpClient } from "effect/http"
import {
  challenge,
  connect,
  grant,
  issuer,
  json,
  metadata,
  Provider,
  reasonOf,
  resourceAddress,
  server,
  tokenAddress,
  tokenOf
} from "./support/world.ts"

const revocationAddress = `${issuer}/revoke`
const tokensKey = JSON.stringify(["tokens", issuer, server])

/** A person who says yes when the test does. */
const person = Effect.gen(function*() {
  const asked = yield* Deferred.make<void>()
  const yes = yield* Deferred.make<void>()
  let times = 0
  const login = () =>
    Effect.andThen(Effect.sync(() => times++), Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(yes)))
  return {
    grant: grant({ interactive: true, person: login }),
    asked: Deferred.await(asked),
    agrees: Deferred.succeed(yes, undefined),
    times: () => times
  }
})

describe("OAuthClient: login", () => {
  it.effect("a host sees where it stands", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const someone = yield* person
      const { client, oauth } = yield* connect(provider.world, { grant: someone.grant })
      const seen: Array<string> = []
      yield* Effect.forkChild(Stream.runForEach(oauth.changes, ({ _tag }) => Effect.sync(() => seen.push(_tag))))
      yield* Effect.yieldNow
      const fiber = yield* Effect.forkChild(client.post(server))
      yield* someone.asked
      assert.deepStrictEqual(yield* oauth.status, { _tag: "LoggingIn", issuer, resource: server, scopes: [] })
      yield* someone.agrees
      yield* Fiber.join(fiber)
      provider.valid.clear()
      yield* client.post(server)
      yield* oauth.logout
      yield* Effect.yieldNow
      assert.deepStrictEqual(
        seen.filter((tag, n) => tag !== seen[n - 1]),
        ["Anonymous", "LoggingIn", "LoggedIn", "Refreshing", "LoggedIn", "Anonymous"]
      )
    }))

  it.effect("the address of the page is told, for those whose browser does not open", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const page = "https://as.example/authorize?state=s"
      const never = yield* Deferred.make<never>()
      const agent = Layer.succeed(UserAgent.UserAgent, {
        redirectUris: ["http://127.0.0.1/callback"],
        visit: () => Effect.succeed({ redirectUri: "http://127.0.0.1/callback", open: () => Deferred.await(never) })
      })
      const opening: Grant.Grant<UserAgent.UserAgent> = {
        ...grant({ interactive: true }),
        obtain: (request) =>
          Effect.scoped(Effect.gen(function*() {
            const { visit } = yield* UserAgent.UserAgent
            const { open } = yield* visit(undefined)
            return yield* Effect.flatMap(open(new URL(page), { issuer, resource: request.resource }), Effect.die)
          }))
      }
      const layer = OAuthClient.layer({ url: server, grant: opening }).pipe(
        Layer.provide([agent, Layer.succeed(HttpClient.HttpClient, provider.world.client)])
      )
      yield* Effect.gen(function*() {
        const fiber = yield* Effect.forkChild(HttpClient.post(server))
        const oauth = yield* OAuthClient.OAuthClient
        const status = yield* Stream.runHead(Stream.filter(oauth.changes, (status) => "url" in status))
        assert.deepStrictEqual(status._tag === "Some" && status.value, {
          _tag: "LoggingIn",
          issuer,
          resource: server,
          scopes: [],
          url: page
        })
        yield* Fiber.interrupt(fiber)
      }).pipe(Effect.provide(layer))
    }))

  it.effect("[field AUT-06] requests that come during a login wait for it, and one person is asked once", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const someone = yield* person
      const { client } = yield* connect(provider.world, { grant: someone.grant })
      const fibers = yield* Effect.forEach([1, 2, 3, 4, 5], () => Effect.forkChild(client.post(server)))
      yield* someone.asked
      const [first] = fibers
      if (first !== undefined) yield* Fiber.interrupt(first)
      yield* someone.agrees
      const responses = yield* Effect.forEach(fibers.slice(1), Fiber.join)
      assert.deepStrictEqual(responses.map(({ status }) => status), [200, 200, 200, 200])
      assert.strictEqual(someone.times(), 1)
    }))

  it.effect("a login that nobody waits for any more ends, and the next request begins another", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const someone = yield* person
      const { client, oauth } = yield* connect(provider.world, { grant: someone.grant })
      const fiber = yield* Effect.forkChild(client.post(server))
      yield* someone.asked
      yield* Fiber.interrupt(fiber)
      yield* Effect.yieldNow
      assert.strictEqual((yield* oauth.status)._tag, "Anonymous")
      yield* someone.agrees
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual(someone.times(), 2)
    }))

  it.effect("[field AUT-10] the end of a session and its stream in the background ask nobody", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      let asked = 0
      const interactive = grant({ interactive: true, person: () => Effect.sync(() => void asked++) })
      const { client, oauth } = yield* connect(provider.world, { grant: interactive })
      const stream = { headers: { "mcp-session-id": "s" } }
      assert.strictEqual((yield* reasonOf(client.del(server)))._tag, "LoginRequired")
      assert.strictEqual((yield* reasonOf(client.get(server, stream)))._tag, "LoginRequired")
      const status = yield* oauth.status
      assert.strictEqual(status._tag, "NeedsLogin")
      assert.strictEqual(asked, 0)
      yield* client.post(server)
      assert.strictEqual(asked, 1)
      // With a token to spend they go on by themselves.
      provider.valid.clear()
      assert.strictEqual((yield* client.get(server, stream)).status, 200)
      assert.strictEqual(asked, 1)
    }))

  it.effect("[ACL-02] a login without any request before it asks the server where to log in", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const custom = "https://mcp.example/custom/metadata.json"
      provider.world
        .on(resourceAddress, 404)
        .on(custom, { resource: server, authorization_servers: [issuer] })
        .on(
          server,
          (seen) => tokenOf(seen) === "Bearer a1" ? json({}) : challenge(`resource_metadata="${custom}", scope="read"`)
        )
      const { client, oauth } = yield* connect(provider.world, {
        grant: grant({ interactive: true }),
        onLoginNeeded: "fail"
      })
      yield* oauth.login(["write"])
      assert.strictEqual(provider.asked("test").at(0)?.form.get("scope"), "read write")
      assert.strictEqual((yield* client.post(server)).status, 200)
    }))

  it.effect("somebody who asks for a login that is under way gets that one", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const someone = yield* person
      const { client, oauth } = yield* connect(provider.world, { grant: someone.grant })
      const fiber = yield* Effect.forkChild(client.post(server))
      yield* someone.asked
      const login = yield* Effect.forkChild(oauth.login())
      yield* Effect.yieldNow
      yield* someone.agrees
      yield* Fiber.join(fiber)
      yield* Fiber.join(login)
      assert.strictEqual(someone.times(), 1)
    }))

  const logged = Effect.gen(function*() {
    const provider = new Provider()
    provider.world
      .on(`${issuer}/.well-known/oauth-authorization-server`, { ...metadata, revocation_endpoint: revocationAddress })
      .on(revocationAddress, () => new Response(""))
    const store = yield* TokenStore.makeMemory
    const made = yield* connect(provider.world, {}, store)
    yield* made.client.post(server)
    return { ...made, provider, store }
  })

  it.effect("logout revokes the refresh token, then the access token, and forgets both", () =>
    Effect.gen(function*() {
      const { client, oauth, provider, store } = yield* logged
      yield* oauth.logout
      assert.deepStrictEqual(
        provider.world.at(revocationAddress).map(({ form }) => [form.get("token"), form.get("token_type_hint")]),
        [["r1", "refresh_token"], ["a1", "access_token"]]
      )
      assert.strictEqual((yield* store.get(tokensKey))._tag, "None")
      assert.strictEqual((yield* store.get(JSON.stringify(["server", server])))._tag, "None")
      assert.deepStrictEqual(yield* oauth.status, { _tag: "Anonymous" })
      const before = provider.world.at(server).length
      yield* client.post(server)
      assert.isUndefined(tokenOf(provider.world.at(server)[before]))
      yield* oauth.logout
      yield* oauth.logout
    }))

  it.effect("who logs in after a logout is not asked for what the one before had", () =>
    Effect.gen(function*() {
      const { client, oauth, provider } = yield* logged
      yield* oauth.login(["admin"])
      yield* oauth.logout
      yield* client.post(server)
      assert.deepStrictEqual(provider.asked("test").map(({ form }) => form.get("scope")), [null, "admin", null])
    }))

  it.effect("what cannot be revoked is forgotten all the same, and that is told", () =>
    Effect.gen(function*() {
      const { oauth, provider, store } = yield* logged
      provider.world.on(revocationAddress, 503)
      assert.strictEqual((yield* reasonOf(oauth.logout))._tag, "Unavailable")
      assert.strictEqual((yield* store.get(tokensKey))._tag, "None")
      assert.deepStrictEqual(yield* oauth.status, { _tag: "Anonymous" })
    }))

  it.effect("logout of a login that an earlier run left", () =>
    Effect.gen(function*() {
      const { provider, store } = yield* logged
      const later = yield* connect(provider.world, {}, store)
      yield* later.oauth.logout
      assert.deepStrictEqual(provider.world.at(revocationAddress).map(({ form }) => form.get("token")), ["r1", "a1"])
      assert.strictEqual((yield* store.get(tokensKey))._tag, "None")
    }))

  it.effect("logout ends a login that is under way; who waited for it hears so", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const someone = yield* person
      const { client, oauth } = yield* connect(provider.world, { grant: someone.grant })
      const fiber = yield* Effect.forkChild(reasonOf(client.post(server)))
      yield* someone.asked
      yield* oauth.logout
      assert.strictEqual((yield* Fiber.join(fiber))._tag, "LoginRequired")
      assert.deepStrictEqual(yield* oauth.status, { _tag: "Anonymous" })
    }))

  it.effect("[field AUT-17] where there is nobody to ask, the failure has the address to visit", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const url = "https://as.example/authorize?client_id=c"
      const nobody = new AuthError.LoginRequired({ resource: server, issuer, url, detail: "there is nobody to ask" })
      const { client, oauth } = yield* connect(provider.world, {
        grant: grant({ interactive: true, person: () => AuthError.fail(nobody) })
      })
      assert.deepInclude(yield* reasonOf(client.post(server)), { _tag: "LoginRequired", url })
      const status = yield* oauth.status
      assert.strictEqual(status._tag, "NeedsLogin")
    }))

  it.effect("[field AUT-22] all requests go through the given client, and none of the session's headers with them", () =>
    Effect.gen(function*() {
      const { client, oauth, provider } = yield* logged
      provider.valid.clear()
      yield* client.post(server, { headers: { "mcp-session-id": "secret", "last-event-id": "1" } })
      yield* oauth.logout
      const others = provider.world.seen.filter(({ url }) => url.origin === issuer)
      const paths = others.map(({ url }) => url.pathname)
      for (const path of ["/token", "/revoke", "/.well-known/oauth-authorization-server"]) assert.include(paths, path)
      for (const { headers } of others) {
        assert.notProperty(headers, "mcp-session-id")
        assert.notProperty(headers, "last-event-id")
        assert.notProperty(headers, "authorization")
      }
    }))

  it.effect("[ACL-24] a store of another run that holds a token for another place is not believed", () =>
    Effect.gen(function*() {
      const { provider, store } = yield* logged
      const binding = JSON.stringify({ issuer, resource: "https://other.example", found: "resource" })
      yield* store.set(JSON.stringify(["server", server]), Redacted.make(binding))
      const kept = yield* store.get(tokensKey)
      const other = JSON.stringify(["tokens", issuer, "https://other.example"])
      if (kept._tag === "Some") yield* store.set(other, kept.value)
      const { client } = yield* connect(provider.world, {}, store)
      const before = provider.world.at(server).length
      yield* client.post(server)
      assert.isUndefined(tokenOf(provider.world.at(server)[before]))
      assert.strictEqual(provider.world.at(tokenAddress).length, 1)
    }))
})

import { assert, describe, it } from "@effect/vitest"
import { AuthError, TokenStore } from "@mcpfx/auth"
import { Effect, Redacted, Stream, Tracer } from "effect"
import { HttpBody, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
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

const asAddress = `${issuer}/.well-known/oauth-authorization-server`

describe("OAuthClient", () => {
  it.effect("[ACL-01] [ACL-23] a challenge leads to a token, and every request from then on carries it", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client, oauth } = yield* connect(provider.world)
      assert.deepStrictEqual(yield* oauth.status, { _tag: "Anonymous" })
      const response = yield* client.post(server)
      assert.strictEqual(response.status, 200)
      assert.deepStrictEqual(provider.world.others, [resourceAddress, asAddress, tokenAddress])
      yield* client.get(server)
      yield* client.del(server)
      assert.deepStrictEqual(provider.world.at(server).map(tokenOf), [undefined, "Bearer a1", "Bearer a1", "Bearer a1"])
      for (const { url } of provider.world.seen) assert.notInclude(url.href, "a1")
      assert.deepStrictEqual(yield* oauth.status, {
        _tag: "LoggedIn",
        issuer,
        resource: server,
        scopes: [],
        expiresAt: 3_600_000,
        missing: undefined,
        unsaved: undefined
      })
    }))

  it.effect("[ACL-24] requests to other servers, and those with a credential of their own, pass as they are", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      provider.world.on("https://mcp.example.evil/", () => challenge("")).on(
        "https://evil.example/",
        () => challenge("")
      )
      const { client } = yield* connect(provider.world)
      yield* client.post(server)
      const foreign = [
        "https://mcp.example.evil/",
        "https://mcp.example@evil.example/",
        "https://mcp.example:8443/mcp",
        "http://mcp.example/mcp",
        "https://mcp.example\\@evil.example/"
      ]
      for (const url of foreign) {
        const before = provider.world.seen.length
        yield* Effect.ignore(client.get(url))
        for (const seen of provider.world.seen.slice(before)) {
          if (seen.url.origin !== "https://mcp.example") assert.isUndefined(tokenOf(seen), url)
        }
      }
      const own = yield* client.get(server, { headers: { authorization: "Basic eA==" } })
      assert.strictEqual(own.status, 401)
      assert.strictEqual(tokenOf(provider.world.at(server).at(-1)), "Basic eA==")
      yield* client.get("HTTPS://MCP.EXAMPLE/other")
      assert.strictEqual(tokenOf(provider.world.seen.at(-1)), "Bearer a1")
      assert.strictEqual(provider.given, 1)
    }))

  it.effect("[ACL-16] [field AUT-01] the resource is sent to the letter, at login and at refresh", () =>
    Effect.gen(function*() {
      for (const resource of ["https://mcp.example", "https://mcp.example/mcp", "https://mcp.example/"]) {
        const provider = new Provider()
        provider.world.on(resourceAddress, { resource, authorization_servers: [issuer] })
        const { client } = yield* connect(provider.world)
        yield* client.post(server)
        provider.valid.clear()
        yield* client.post(server)
        const asked = provider.world.at(tokenAddress)
        assert.deepStrictEqual(asked.map(({ form }) => form.get("grant_type")), ["test", "refresh_token"])
        assert.deepStrictEqual(asked.map(({ form }) => form.get("resource")), [resource, resource])
      }
    }))

  const asks = (options: {
    readonly challenged?: string
    readonly supported?: ReadonlyArray<string>
    readonly offered?: ReadonlyArray<string>
    readonly configured?: ReadonlyArray<string>
    readonly offlineAccess?: boolean
    readonly refreshes?: boolean
  }) =>
    Effect.gen(function*() {
      const provider = new Provider()
      const scope = options.challenged === undefined ? "" : `, scope="${options.challenged}"`
      provider.world
        .on(resourceAddress, { resource: server, authorization_servers: [issuer], scopes_supported: options.supported })
        .on(asAddress, { ...metadata, scopes_supported: options.offered })
        .on(server, (seen) =>
          tokenOf(seen) === undefined ? challenge(`resource_metadata="${resourceAddress}"${scope}`) : json({}))
      const { client } = yield* connect(provider.world, {
        grant: grant({ refreshes: options.refreshes ?? true }),
        scopes: options.configured,
        offlineAccess: options.offlineAccess
      })
      yield* client.post(server)
      return provider.asked("test").at(0)?.form.get("scope") ?? undefined
    })

  it.effect("[ACL-26] [field AUT-12] the challenge says which scopes, else the metadata, else none", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* asks({ challenged: "a", supported: ["a", "b"] }), "a")
      assert.strictEqual(yield* asks({ supported: ["a", "b"] }), "a b")
      assert.isUndefined(yield* asks({}))
      assert.isUndefined(yield* asks({ supported: [] }))
      assert.isUndefined(yield* asks({ challenged: "" }))
      assert.strictEqual(yield* asks({ supported: ["a", "b"], configured: ["c"] }), "c")
      assert.strictEqual(yield* asks({ challenged: "a a", configured: ["c"] }), "a c")
    }))

  it.effect("[ACL-29] [field AUT-12] offline access is asked for only where it is listed and something else is asked for", () =>
    Effect.gen(function*() {
      const offered = ["a", "offline_access"]
      assert.strictEqual(yield* asks({ challenged: "a", offered }), "a offline_access")
      assert.strictEqual(yield* asks({ challenged: "a", offered: ["a"] }), "a")
      assert.isUndefined(yield* asks({ offered }))
      assert.strictEqual(yield* asks({ challenged: "a", offered, offlineAccess: false }), "a")
      assert.strictEqual(yield* asks({ challenged: "a", offered, refreshes: false }), "a")
    }))

  it.effect("[ACL-07] [ACL-13] [field AUT-19] nothing of one authorization server is used with another", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const store = yield* TokenStore.makeMemory
      const { client } = yield* connect(provider.world, {}, store)
      yield* client.post(server)
      const moved = "https://moved.example"
      const tokens = { access_token: "moved", token_type: "Bearer" }
      provider.valid.clear()
      provider.valid.add("moved")
      provider.world
        .on(`GET ${resourceAddress}`, { resource: server, authorization_servers: [moved] })
        .on(`${moved}/.well-known/oauth-authorization-server`, { issuer: moved, token_endpoint: `${moved}/token` })
        .on(`${moved}/token`, tokens)
      const before = provider.world.at(tokenAddress).length
      assert.strictEqual((yield* client.post(server)).status, 200)
      assert.strictEqual(provider.world.at(tokenAddress).length, before)
      assert.deepStrictEqual(
        provider.world.at(`${moved}/token`).map(({ form }) => [form.get("grant_type"), form.get("refresh_token")]),
        [["test", null]]
      )
      // What belongs to the first one is still there, under its name.
      const kept = yield* store.get(JSON.stringify(["tokens", issuer, server]))
      assert.isTrue(kept._tag === "Some" && Redacted.value(kept.value).includes("r1"))
    }))

  it.effect("[ACL-24] once the server has another authorization server, tokens of the old one are not sent any more", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client, oauth } = yield* connect(provider.world)
      yield* client.post(server)
      const moved = "https://moved.example"
      provider.valid.clear()
      provider.world
        .on(`GET ${resourceAddress}`, { resource: server, authorization_servers: [moved] })
        .on(`${moved}/.well-known/oauth-authorization-server`, { issuer: moved, token_endpoint: `${moved}/token` })
        .on(`${moved}/token`, () => json({ error: "access_denied" }, 400))
      assert.deepInclude(yield* reasonOf(client.post(server)), { _tag: "OAuthRefused", issuer: moved })
      yield* reasonOf(client.post(server))
      assert.isUndefined(tokenOf(provider.world.at(server).at(-1)))
      assert.strictEqual((yield* oauth.status)._tag, "Failed")
    }))

  it.effect("[ACL-07] a later start sends the token it has at once", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const store = yield* TokenStore.makeMemory
      yield* Effect.flatMap(connect(provider.world, {}, store), ({ client }) => client.post(server))
      const before = provider.world.seen.length
      const { client, oauth } = yield* connect(provider.world, {}, store)
      assert.deepInclude(yield* oauth.status, { _tag: "LoggedIn", issuer })
      yield* client.post(server)
      assert.deepStrictEqual(provider.world.seen.slice(before).map(tokenOf), ["Bearer a1"])
      assert.deepInclude(yield* oauth.status, { _tag: "LoggedIn", issuer })
    }))

  it.effect("what the store has and nobody can read is as good as absent, and is replaced by a login", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const store = yield* TokenStore.makeMemory
      yield* store.set(JSON.stringify(["server", server]), Redacted.make("{"))
      yield* store.set(JSON.stringify(["tokens", issuer, server]), Redacted.make("{\"accessToken\":1}"))
      const { client } = yield* connect(provider.world, {}, store)
      assert.strictEqual((yield* client.post(server)).status, 200)
    }))

  it.effect("a body that cannot be sent twice leaves the 401 to the caller", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client } = yield* connect(provider.world)
      const body = HttpBody.stream(Stream.make(new TextEncoder().encode("x")))
      const response = yield* client.execute(HttpClientRequest.setBody(HttpClientRequest.post(server), body))
      assert.strictEqual(response.status, 401)
      assert.deepStrictEqual(provider.world.others, [])
    }))

  it.effect("[ACL-24] a challenge that a redirect led to is not this server's, and is not heeded", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client } = yield* connect(provider.world)
      provider.world.on(server, () => {
        const response = challenge("resource_metadata=\"https://evil.example/meta\"")
        return Object.defineProperty(response, "url", { value: "https://evil.example/" })
      })
      assert.strictEqual((yield* client.post(server)).status, 401)
      assert.deepStrictEqual(provider.world.others, [])
    }))

  it.effect("a challenge of another scheme, and a 403 for another reason, are left to the caller", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const { client } = yield* connect(provider.world)
      provider.world.on(
        server,
        () => new Response("", { status: 401, headers: { "www-authenticate": "Basic realm=x" } })
      )
      assert.strictEqual((yield* client.post(server)).status, 401)
      provider.world.on(server, () => new Response("", { status: 403 }))
      assert.strictEqual((yield* client.post(server)).status, 403)
      provider.world.on(server, () => challenge("error=\"invalid_request\"", 403))
      assert.strictEqual((yield* client.post(server)).status, 403)
      assert.deepStrictEqual(provider.world.others, [])
    }))

  it.effect("[field AUT-04] [ACL-06] endpoints that were guessed in vain are told as what they are: nothing was found", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      provider.world.on(`GET ${resourceAddress}`, 404).on(server, () => new Response("", { status: 401 }))
      const { client } = yield* connect(provider.world, {
        grant: grant({
          person: ({ server }) =>
            AuthError.fail(new AuthError.RegistrationRefused({ issuer: server.issuer, status: 404 }))
        })
      })
      const reason = yield* reasonOf(client.post(server))
      assert.strictEqual(reason._tag, "DiscoveryFailed")
      if (reason._tag !== "DiscoveryFailed") return
      assert.deepStrictEqual(reason.attempts.map(({ url }) => new URL(url).pathname), [
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
        "/register"
      ])
    }))

  it.effect("[field AUT-21] spans show no token, and errors none either", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      const spans: Array<Tracer.Span> = []
      const tracer = Tracer.make({
        span: (options) => {
          const span = new Tracer.NativeSpan(options)
          spans.push(span)
          return span
        }
      })
      provider.prefix = "secret-"
      const { client } = yield* connect(provider.world)
      yield* Effect.withTracer(client.post(server), tracer)
      provider.world.on(server, (seen) => {
        const token = tokenOf(seen)?.slice("Bearer ".length)
        return challenge(`error="invalid_token", error_description="what is ${token} good for"`)
      })
      const error = yield* Effect.withTracer(Effect.flip(client.post(server)), tracer)
      const shown = JSON.stringify([spans.map(({ attributes, name }) => [name, ...attributes]), error, String(error)])
      assert.isAbove(spans.length, 0)
      assert.include(shown, "good for")
      assert.notInclude(shown, "secret-")
    }))

  it.effect("the server's address has to be one, and safe", () =>
    Effect.gen(function*() {
      const { world } = new Provider()
      const tag = (url: string) => Effect.map(Effect.flip(connect(world, { url })), ({ reason }) => reason._tag)
      assert.strictEqual(yield* tag("nowhere"), "Misconfigured")
      assert.strictEqual(yield* tag("http://mcp.example/mcp"), "InsecureServer")
      yield* connect(world, { url: "http://localhost:3000/mcp" })
    }))

  it.effect("how to log in is remembered for a while", () =>
    Effect.gen(function*() {
      const provider = new Provider()
      provider.life = 60
      const { client } = yield* connect(provider.world, {
        discoveryLife: "30 minutes",
        grant: grant({ refreshes: false })
      })
      const looks = () => provider.world.at(resourceAddress).length
      yield* client.post(server)
      yield* TestClock.adjust("1 minute")
      yield* client.post(server)
      assert.strictEqual(looks(), 1)
      assert.strictEqual(provider.given, 2)
      yield* TestClock.adjust("30 minutes")
      provider.valid.clear()
      provider.world.on(
        server,
        (seen) => tokenOf(seen) === "Bearer a4" ? json({}) : challenge("error=\"invalid_token\"")
      )
      yield* client.post(server)
      assert.strictEqual(looks(), 2)
    }))
})

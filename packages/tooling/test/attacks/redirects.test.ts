/** Servers that send somebody elsewhere: requests with tokens, requests for tokens, people. */
import { assert, describe, it } from "@effect/vitest"
import type { AuthError } from "@mcpfx/auth"
import { Effect } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { redirect } from "../../src/attacks/network.ts"
import {
  Add,
  answering,
  authorize,
  connect,
  evil,
  fieldsOf,
  issuer,
  make,
  mcpOrigin,
  mcpUrl,
  reasonOf,
  resourceMetadata,
  serverMetadata,
  tokenUrl
} from "../../src/attacks/world.ts"

const statuses = [301, 302, 303, 307, 308]

describe("the server redirects", () => {
  it.effect("[ACL-24] [SEC-05] a call to another origin: it is not followed, and told as what it is", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { mcp } = yield* connect(world)
      for (const status of statuses) {
        yield* mcp.call(Add, { a: 1, b: 1 })
        const before = world.network.seen.length
        world.network.on(mcpUrl, () => redirect(`${evil}/mcp`, status)).on(evil, {})
        const error = yield* Effect.flip(mcp.call(Add, { a: 1, b: 1 }))
        assert.strictEqual(
          error.message,
          `tools/call: HTTP ${status}: Redirected to ${evil}/mcp, which is not followed`
        )
        assert.deepStrictEqual(world.network.at(evil), [])
        assert.deepStrictEqual(world.network.seen.slice(before).map(({ method }) => method), ["POST"])
        world.network.off(mcpUrl)
      }
    }))

  it.effect("[ACL-24] any request to look-alikes of its origin: no token goes along, whoever follows", () =>
    Effect.gen(function*() {
      const targets = [
        `${evil}/mcp`,
        "https://mcp.test.evil.test/mcp",
        "https://mcp.test:8443/mcp",
        "http://mcp.test/mcp",
        "https://mcp.test@evil.test/mcp",
        "//evil.test/mcp",
        "https:\\\\evil.test\\mcp"
      ]
      const world = yield* make()
      // The user's own client follows wherever it is sent.
      const { http } = yield* authorize(world, { http: HttpClient.followRedirects(world.network.client) })
      assert.notStrictEqual((yield* http.post(mcpUrl)).status, 401)
      for (const method of ["POST", "GET", "DELETE"] as const) {
        for (const status of statuses) {
          for (const target of targets) {
            const { origin } = new URL(target, mcpUrl)
            world.network.on(mcpUrl, () => redirect(target, status)).on(origin, 200)
            const before = world.network.seen.length
            yield* http.execute(HttpClientRequest.make(method)(mcpUrl))
            const [first, second] = world.network.seen.slice(before)
            assert.match(first?.headers["authorization"] ?? "", /^Bearer /)
            assert.strictEqual(second?.url.origin, origin, target)
            assert.isUndefined(second?.headers["authorization"], `${method} ${status} ${target}`)
          }
        }
      }
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[ACL-24] requests of the same client to others carry nothing, however they are written", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { http } = yield* authorize(world)
      yield* http.post(mcpUrl)
      const before = world.network.seen.length
      const others = [
        evil,
        "https://mcp.test.evil.test/mcp",
        "https://mcp.testevil.test/mcp",
        "https://mcp.test@evil.test/mcp",
        "https://mcp.test:443@evil.test/mcp",
        "https://mcp.test:8443/mcp",
        "http://mcp.test/mcp",
        "https://evil.test/https://mcp.test/mcp",
        "https://evil.test?https://mcp.test/mcp",
        "https://evil.test#https://mcp.test/mcp"
      ]
      for (const url of others) {
        world.network.on(new URL(url).origin, 401)
        assert.strictEqual((yield* http.post(url)).status, 401, url)
      }
      const sent = world.network.seen.slice(before)
      assert.lengthOf(sent, others.length)
      assert.isTrue(sent.every(({ headers }) => headers["authorization"] === undefined))
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[ACL-24] what somebody else answers after a redirect is no challenge of the server", () =>
    Effect.gen(function*() {
      const world = yield* make()
      world.network
        .on(mcpUrl, () => redirect(`${evil}/mcp`))
        .on(evil, () =>
          new Response("{}", {
            status: 401,
            headers: { "www-authenticate": `Bearer resource_metadata="${evil}/prm"` }
          }))
      const agent = answering((page) => page)
      const { http } = yield* authorize(world, { agent, http: HttpClient.followRedirects(world.network.client) })
      // It is handed over as it came.
      assert.strictEqual((yield* http.post(mcpUrl)).status, 401)
      assert.deepStrictEqual(agent.opened, [])
      assert.deepStrictEqual(world.network.at(`${evil}/prm`), [])
      assert.deepStrictEqual(world.network.strays, [])
    }))
})

/** A world in which one address redirects, and what the first request comes to. */
const redirected = (at: string, status: number, to = `${evil}/here`) =>
  Effect.gen(function*() {
    const world = yield* make()
    world.network.on(at, () => redirect(to, status)).on(evil, {})
    const { http, oauth } = yield* authorize(world)
    return { world, http, oauth }
  })

const insecure = (url: string, to = evil): Partial<AuthError.InsecureServer> => ({
  _tag: "InsecureServer",
  url,
  why: "redirect",
  detail: `it redirects to ${to}`
})

describe("the authorization server redirects", () => {
  it.effect("[SEC-05] [ACL-24] the request for tokens: code and verifier go nowhere else", () =>
    Effect.gen(function*() {
      for (const status of statuses) {
        const { http, world } = yield* redirected(`POST ${tokenUrl}`, status)
        assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), insecure(tokenUrl))
        assert.strictEqual(world.network.at(tokenUrl).length, 1)
        assert.lengthOf(world.network.secrets.of("code"), 1)
        assert.deepStrictEqual([world.network.at(evil), world.network.strays], [[], []])
      }
    }))

  it.effect("[SEC-05] a refresh, and a revocation: tokens go nowhere else", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { http, oauth } = yield* authorize(world)
      yield* http.post(mcpUrl)
      world.network.on(`POST ${tokenUrl}`, () => redirect(`${evil}/token`)).on(evil, {})
      world.network.on(mcpUrl, 401)
      assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), insecure(tokenUrl))
      world.network.on(`${issuer}/revoke`, () => redirect(`${evil}/revoke`))
      assert.deepInclude(yield* reasonOf(oauth.logout), insecure(`${issuer}/revoke`))
      assert.strictEqual((yield* oauth.status)._tag, "Anonymous")
      assert.deepStrictEqual([world.network.at(evil), world.network.strays], [[], []])
    }))

  it.effect("[SEC-05] a registration, which then is none", () =>
    Effect.gen(function*() {
      const { http, world } = yield* redirected(`POST ${issuer}/register`, 308)
      assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), insecure(`${issuer}/register`))
      assert.deepStrictEqual([world.network.at(evil), world.network.at(tokenUrl)], [[], []])
    }))

  it.effect("[SEC-05] its metadata, and those of the server: they are read where they are asked for", () =>
    Effect.gen(function*() {
      for (const status of [302, 308]) {
        const server = yield* redirected(serverMetadata, status)
        server.world.network.on(`${issuer}/.well-known/openid-configuration`, 404)
        assert.deepInclude(yield* reasonOf(server.http.post(mcpUrl)), insecure(serverMetadata))
        assert.deepStrictEqual(server.world.network.at(evil), [])
        const resource = yield* redirected(resourceMetadata, status)
        resource.world.network.on(`${mcpOrigin}/.well-known/oauth-protected-resource`, 404)
        assert.deepInclude(yield* reasonOf(resource.http.post(mcpUrl)), insecure(resourceMetadata))
        assert.deepStrictEqual(resource.world.network.at(evil), [])
      }
    }))

  it.effect("[SEC-05] in a circle: a few requests, and no more", () =>
    Effect.gen(function*() {
      const { http, world } = yield* redirected(serverMetadata, 307, serverMetadata)
      world.network.on(`${issuer}/.well-known/openid-configuration`, 404)
      assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), { _tag: "DiscoveryFailed", what: "authorization server" })
      assert.strictEqual(world.network.at(serverMetadata).length, 4)
      const tokens = yield* redirected(`POST ${tokenUrl}`, 307, tokenUrl)
      assert.deepInclude(yield* reasonOf(tokens.http.post(mcpUrl)), { _tag: "BadAnswer", url: tokenUrl })
      assert.strictEqual(tokens.world.network.at(tokenUrl).length, 4)
    }))
})

const notHttps = (url: string): Partial<AuthError.InsecureServer> => ({ _tag: "InsecureServer", why: "scheme", url })

describe("addresses that are to be opened or fetched", () => {
  const endpoints = (name: string, value: string) =>
    Effect.gen(function*() {
      const world = yield* make()
      yield* world.login.changeMetadata({ [name]: value })
      const agent = answering((page) => page)
      const { http } = yield* authorize(world, { agent })
      const reason = yield* reasonOf(http.post(mcpUrl))
      return { reason, agent, world }
    })

  it.effect("[SEC-10] no page but https is shown to anybody", () =>
    Effect.gen(function*() {
      const pages = [
        "javascript:alert(document.cookie)//",
        "JavaScript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "vbscript:msgbox(1)",
        "http://login.test/authorize",
        "ftp://login.test/authorize",
        "ms-msdt:/id PCWDiagnostic",
        "app.evil:/x",
        "https://user:secret@login.test/authorize",
        "https://login.test@evil.test/authorize",
        "http://127.0.0.1:6274/authorize",
        "https://localhost/authorize",
        "--incognito",
        "\u0000",
        "https://"
      ]
      for (const page of pages) {
        const { agent, reason, world } = yield* endpoints("authorization_endpoint", page)
        assert.strictEqual(reason._tag, "InsecureServer", page)
        assert.notInclude(JSON.stringify(reason), "secret")
        assert.deepStrictEqual([agent.opened, world.network.at(tokenUrl), world.network.strangers], [[], [], []], page)
      }
    }))

  it.effect("[SEC-05] no tokens are asked for but over https", () =>
    Effect.gen(function*() {
      for (const url of ["http://login.test/token", "file:///tmp/token", "javascript:1", "https://127.0.0.1/token"]) {
        const { agent, reason, world } = yield* endpoints("token_endpoint", url)
        assert.strictEqual(reason._tag, "InsecureServer", url)
        assert.deepStrictEqual([agent.opened, world.network.strangers], [[], []], url)
      }
    }))

  it.effect("[SEC-05] nor at an address with a name and a password in it", () =>
    Effect.gen(function*() {
      const world = yield* make()
      yield* world.login.changeMetadata({ token_endpoint: "https://user:secret@login.test/token" })
      const { http } = yield* authorize(world)
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepInclude(reason, notHttps(tokenUrl))
      assert.notInclude(JSON.stringify(reason), "secret")
      assert.deepStrictEqual(world.network.at(tokenUrl), [])
    }))

  it.effect("[ACL-02] [SEC-05] metadata of the server are not fetched from anywhere but https", () =>
    Effect.gen(function*() {
      for (const url of ["http://mcp.test/prm", "file:///etc/passwd", "javascript:alert(1)", "ftp://mcp.test/prm"]) {
        const world = yield* make()
        const address = new URL(url)
        world.network
          .on(
            mcpUrl,
            () =>
              new Response("{}", { status: 401, headers: { "www-authenticate": `Bearer resource_metadata="${url}"` } })
          )
          .on(resourceMetadata, 404)
          .on(`${mcpOrigin}/.well-known/oauth-protected-resource`, 404)
          .on(`${mcpOrigin}/.well-known/oauth-authorization-server`, 404)
          .on(`${mcpOrigin}/.well-known/openid-configuration`, 404)
        const { http } = yield* authorize(world)
        assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), { _tag: "InsecureServer", why: "scheme" }, url)
        assert.deepStrictEqual(
          world.network.seen.filter((seen) => seen.url.protocol === address.protocol && seen.url.href.startsWith(url)),
          []
        )
        assert.deepStrictEqual(world.network.strangers, [])
      }
    }))

  it.effect("[ACL-02] [ACL-24] metadata from another origin are believed for this server alone", () =>
    Effect.gen(function*() {
      const world = yield* make()
      world.network
        .on(
          mcpUrl,
          () =>
            new Response("{}", {
              status: 401,
              headers: { "www-authenticate": `Bearer resource_metadata="${evil}/prm"` }
            })
        )
        .on(`${evil}/prm`, { resource: `${evil}/mcp`, authorization_servers: [issuer] })
      const agent = answering((page) => page)
      const { http } = yield* authorize(world, { agent })
      assert.deepStrictEqual(fieldsOf(yield* reasonOf(http.post(mcpUrl))), {
        _tag: "WrongAudience",
        server: mcpUrl,
        resource: `${evil}/mcp`
      })
      assert.deepStrictEqual([agent.opened, world.network.at(issuer)], [[], []])
    }))
})

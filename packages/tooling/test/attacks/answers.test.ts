/** Servers that are never content, or change their minds: every request is answered in a bounded number of others. */
import { assert, describe, it } from "@effect/vitest"
import { TokenStore } from "@mcpfx/auth"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { settle } from "../../src/attacks/eventually.ts"
import { challenge, json, type Seen } from "../../src/attacks/network.ts"
import {
  Add,
  authorize,
  browserWith,
  connect,
  evil,
  fieldsOf,
  issuer,
  make,
  mcpUrl,
  reasonOf,
  resourceMetadata,
  serverMetadata,
  tokenUrl,
  type World
} from "../../src/attacks/world.ts"

const withToken = ({ headers }: Seen): boolean => headers["authorization"] !== undefined

/** A world, and how often a page was shown. */
const watched = Effect.gen(function*() {
  const world = yield* make()
  let shown = 0
  const agent = browserWith(world, (answer) => {
    shown++
    return answer
  })
  return { ...world, agent, shown: () => shown }
})

const totals = ({ network }: World) => ({ server: network.at(mcpUrl).length, tokens: network.at(tokenUrl).length })

describe("a server that takes no token", () => {
  it.effect("[field AUT-10] is asked three times, after one login and one refresh, and said to reject it", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { http, oauth } = yield* authorize(world, { agent: world.agent })
      world.network.on(mcpUrl, () => challenge("error=\"invalid_token\", error_description=\"no\""))
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepStrictEqual(fieldsOf(reason), {
        _tag: "TokenRejected",
        resource: mcpUrl,
        issuer,
        error: "invalid_token",
        description: "no"
      })
      assert.strictEqual((yield* oauth.status)._tag, "Failed")
      assert.strictEqual(world.shown(), 1)
      const { server, tokens } = totals(world)
      assert.isAtMost(server, 4)
      assert.isAtMost(tokens, 2)
    }))

  it.effect("[field AUT-10] is not asked for ever, however often a program tries", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { http } = yield* authorize(world, { agent: world.agent })
      world.network.on(mcpUrl, () => challenge("error=\"invalid_token\""))
      for (let times = 0; times < 50; times++) yield* reasonOf(http.post(mcpUrl))
      const burst = totals(world)
      assert.isAtMost(world.shown(), 1)
      assert.isAtMost(burst.tokens, 2)
      // Each call is one request of its own, no more.
      assert.isAtMost(burst.server, 54)
      for (let times = 0; times < 120; times++) {
        yield* TestClock.adjust("5 seconds")
        yield* reasonOf(http.post(mcpUrl))
      }
      const later = totals(world)
      // A minute after each that was in vain.
      assert.isAtMost(world.shown(), 12)
      assert.isAtMost(later.tokens, 30)
      assert.isAtMost(later.server - burst.server, 120 + 40)
    }))

  it.effect("[field AUT-10] ends the connecting of a client, in its own words", () =>
    Effect.gen(function*() {
      const world = yield* watched
      world.network.on(mcpUrl, () => challenge(""))
      assert.strictEqual((yield* reasonOf(connect(world, { agent: world.agent })))._tag, "TokenRejected")
      assert.strictEqual(world.shown(), 1)
      assert.isAtMost(totals(world).server, 8)
    }))

  it.effect("[field AUT-10] on its stream alone lets calls go on, and asks nobody", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { mcp } = yield* connect(world, { agent: world.agent })
      world.network.on(`GET ${mcpUrl}`, () => challenge("error=\"invalid_token\""))
      for (let minutes = 0; minutes < 10; minutes++) {
        assert.deepStrictEqual(yield* mcp.call(Add, { a: minutes, b: 1 }), { sum: minutes + 1 })
        yield* TestClock.adjust("1 minute")
        yield* settle
      }
      assert.strictEqual(world.shown(), 1)
      const gets = world.network.at(mcpUrl).filter(({ method }) => method === "GET").length
      assert.isAtMost(gets, 40)
      assert.isAtMost(world.network.at(tokenUrl).length, 12)
    }))

  it.effect("[field AUT-10] on requests of the background alone is not a reason to ask anybody", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { http } = yield* authorize(world, { agent: world.agent })
      world.network.on(mcpUrl, () => challenge("error=\"invalid_token\""))
      const session = { headers: { "mcp-session-id": "s" } }
      for (let times = 0; times < 20; times++) {
        assert.strictEqual((yield* reasonOf(http.get(mcpUrl, session)))._tag, "LoginRequired")
        assert.strictEqual((yield* reasonOf(http.del(mcpUrl, session)))._tag, "LoginRequired")
      }
      assert.deepStrictEqual([world.shown(), world.network.at(tokenUrl).length], [0, 0])
    }))
})

describe("a server that wants more", () => {
  it.effect("[ACL-28] [field AUT-11] with a new scope each time is followed three times", () =>
    Effect.gen(function*() {
      const world = yield* make({ authority: { scopes: undefined } })
      let shown = 0
      let wanted = 0
      const agent = browserWith(world, (answer) => {
        shown++
        return answer
      })
      const { http } = yield* authorize(world, { agent })
      yield* http.post(mcpUrl)
      world.network.on(mcpUrl, () => challenge(`error="insufficient_scope", scope="sums s${++wanted}"`, 403))
      const before = shown
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepInclude(reason, { _tag: "ScopeRefused", resource: mcpUrl, required: ["sums", "s4"] })
      assert.strictEqual(shown - before, 3)
      assert.strictEqual(wanted, 4)
      for (let times = 0; times < 20; times++) yield* reasonOf(http.post(mcpUrl))
      // Whatever it makes up next is not asked for, for a while.
      assert.deepStrictEqual([shown - before, wanted], [3, 24])
      yield* TestClock.adjust("1 minute")
      yield* reasonOf(http.post(mcpUrl))
      assert.strictEqual(shown - before, 6)
    }))

  it.effect("[ACL-28] [field AUT-11] with the same one, which is not granted, asks for it once", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { http } = yield* authorize(world, { agent: world.agent })
      yield* http.post(mcpUrl)
      world.network.on(mcpUrl, () => challenge("error=\"insufficient_scope\", scope=\"sums\"", 403))
      for (let times = 0; times < 20; times++) {
        assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), { _tag: "ScopeRefused", required: ["sums"] })
      }
      assert.strictEqual(world.shown(), 2)
    }))

  it.effect("[ACL-28] and does not say what is refused, not logged in anew", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { http } = yield* authorize(world, { agent: world.agent })
      yield* http.post(mcpUrl)
      for (const parameters of ["", "error=\"invalid_token\"", "error=\"access_denied\"", "scope=\"admin\""]) {
        world.network.on(mcpUrl, () => challenge(parameters, 403))
        assert.strictEqual((yield* http.post(mcpUrl)).status, 403)
      }
      assert.strictEqual(world.shown(), 1)
    }))

  it.effect("[ACL-26] [SEC-12] with scopes that cannot be asked for asks for none of them", () =>
    Effect.gen(function*() {
      const world = yield* make({ authority: { scopes: undefined } })
      const pages: Array<URL> = []
      const agent = browserWith(world, (answer, page) => {
        pages.push(page)
        return answer
      })
      const { http } = yield* authorize(world, { agent })
      let times = 0
      world.network.on(
        mcpUrl,
        () => times++ === 0 ? challenge("scope=\"sums a\\\"b c\\\\d &prompt=none #x\"") : "real"
      )
      yield* http.post(mcpUrl)
      const [page] = pages
      assert.isNull(page?.searchParams.get("prompt") ?? null)
      assert.strictEqual(page?.hash, "")
      for (const scope of page?.searchParams.get("scope")?.split(" ") ?? []) {
        assert.match(scope, /^[\x21\x23-\x5b\x5d-\x7e]+$/)
      }
    }))
})

/** A second authorization server beside the first. */
const second = (world: World) =>
  Effect.gen(function*() {
    const origin = "https://other.test"
    const other = yield* TestAuthorizationServer.make({ issuer: origin, scopes: ["sums"], refresh: "always" })
    world.network.host(origin, other.client)
    world.network.options.issuers = [...world.network.options.issuers, origin]
    return other
  })

describe("a server that moves", () => {
  it.effect("[ACL-07] [ACL-13] [field AUT-19] to another authorization server takes nothing of the old one there", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const store = yield* TokenStore.makeMemory
      const other = yield* second(world)
      const pages: Array<string> = []
      const agent = browserWith(world, (answer, page) => {
        pages.push(page.origin)
        return answer
      })
      const both: typeof agent = {
        ...agent,
        visit: (registered) =>
          Effect.map(agent.visit(registered), (visit) => ({
            ...visit,
            open: (page, login) =>
              page.origin === other.issuer
                ? Effect.scoped(Effect.flatMap(other.userAgent().visit(registered), ({ open }) => open(page, login)))
                : visit.open(page, login)
          }))
      }
      const { http } = yield* authorize(world, { agent: both, store })
      yield* http.post(mcpUrl)
      const old = world.network.secrets.of("access token")
      world.network
        .on(resourceMetadata, { resource: mcpUrl, authorization_servers: [other.issuer], scopes_supported: ["sums"] })
        .on(
          mcpUrl,
          (seen: Seen) =>
            old.some((token) => seen.headers["authorization"]?.includes(token) === true) || !withToken(seen)
              ? challenge("error=\"invalid_token\"")
              : json({})
        )
      assert.strictEqual((yield* http.post(mcpUrl)).status, 200)
      const there = world.network.at(other.issuer)
      assert.deepStrictEqual(there.map(({ url }) => url.pathname).filter((path) => !path.startsWith("/.well-known")), [
        "/register",
        "/token"
      ])
      assert.deepStrictEqual(world.network.strays, [])
      // Those of the old one are kept for it.
      const kept = yield* store.get(JSON.stringify(["tokens", issuer, mcpUrl]))
      assert.strictEqual(kept._tag, "Some")
    }))

  it.effect("[ACL-05] [field AUT-05] to an authorization server that calls itself otherwise is not followed", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { http } = yield* authorize(world, { agent: world.agent })
      yield* http.post(mcpUrl)
      const tokens = world.network.at(tokenUrl).length
      yield* world.login.changeMetadata({ issuer: evil, token_endpoint: `${evil}/token` })
      world.network.on(mcpUrl, () => challenge("error=\"invalid_token\""))
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepStrictEqual(fieldsOf(reason), {
        _tag: "IssuerMismatch",
        url: serverMetadata,
        expected: issuer,
        found: evil
      })
      assert.strictEqual(world.network.at(tokenUrl).length, tokens)
      assert.deepStrictEqual([world.network.at(evil), world.network.strays], [[], []])
    }))

  it.effect("[ACL-13] [field AUT-05] under a name that is trusted takes no refresh token to whoever it stands for now", () =>
    Effect.gen(function*() {
      const alias = "https://alias.test"
      const world = yield* watched
      yield* world.login.changeMetadata({ issuer: alias, authorization_response_iss_parameter_supported: undefined })
      const agent = browserWith(world, (answer) => {
        const url = new URL(answer)
        url.searchParams.delete("iss")
        return url
      })
      const { http, oauth } = yield* authorize(world, { agent, trustIssuer: () => true })
      assert.notStrictEqual((yield* http.post(mcpUrl)).status, 401)
      assert.deepInclude(yield* oauth.status, { _tag: "LoggedIn", issuer: alias })
      world.network.on(evil, 404)
      yield* world.login.changeMetadata({
        issuer: evil,
        token_endpoint: `${evil}/token`,
        revocation_endpoint: `${evil}/revoke`
      })
      // What is known of the server is old by now, and so is the token.
      yield* TestClock.adjust("3 hours")
      yield* Effect.exit(http.post(mcpUrl))
      yield* Effect.exit(oauth.logout)
      const there = world.network.at(evil).filter(({ form }) => form.get("grant_type") !== "authorization_code")
      assert.deepStrictEqual(there.map(({ url }) => url.pathname), [])
      const tokens = world.network.strays.filter((stray) => stray.includes("token to"))
      assert.deepStrictEqual(tokens, [])
    }))

  it.effect("[ACL-24] its endpoints elsewhere while somebody is logged in takes the refresh token along no more", () =>
    Effect.gen(function*() {
      const world = yield* watched
      const { http } = yield* authorize(world, { agent: world.agent })
      yield* http.post(mcpUrl)
      world.network.on(resourceMetadata, { resource: `${evil}/mcp`, authorization_servers: [evil] })
      world.network.on(mcpUrl, () => challenge("error=\"invalid_token\""))
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepStrictEqual(fieldsOf(reason), { _tag: "WrongAudience", server: mcpUrl, resource: `${evil}/mcp` })
      assert.deepStrictEqual([world.network.at(evil), world.network.strays], [[], []])
    }))

  it.effect("[ACL-16] [ACL-24] a resource that only looks like the server is another one", () =>
    Effect.gen(function*() {
      const others = [
        "https://mcp.test.evil.test/mcp",
        "https://mcp.test@evil.test/mcp",
        "https://mcp.test:8443/mcp",
        "http://mcp.test/mcp",
        "https://mcp.test/mc",
        "https://mcp.test/mcp2",
        "https://mcp.test/mcp/x",
        "https://mcp.test/other/../mcp2",
        "https://mcp.test/mcp#x",
        "https://mcp.test/mcp#",
        "https://mcp.test%2fmcp",
        "mcp",
        "urn:mcp"
      ]
      for (const resource of others) {
        const world = yield* watched
        world.network.on(resourceMetadata, { resource, authorization_servers: [issuer] })
        const { http } = yield* authorize(world, { agent: world.agent })
        assert.deepInclude(yield* reasonOf(http.post(mcpUrl)), { _tag: "WrongAudience", server: mcpUrl }, resource)
        assert.deepStrictEqual([world.shown(), world.network.at(issuer)], [0, []])
      }
    }))
})

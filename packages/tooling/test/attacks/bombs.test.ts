/** Over real connections: answers that grow when they are read, that never end, and redirects that the platform would follow. */
import { assert, describe, it } from "@effect/vitest"
import { AuthorizationCode, OAuthClient, UserAgent } from "@mcpfx/auth"
import { McpClient } from "@mcpfx/client"
import { Context, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import type { ServerResponse } from "node:http"
import { createGzip, gzipSync } from "node:zlib"
import { type Listening, listening } from "../../src/attacks/listening.ts"
import { answering, reasonOf } from "../../src/attacks/world.ts"

const json = (response: ServerResponse, body: object, status = 200) => {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
}

type Answers = Readonly<Record<string, (response: ServerResponse) => void>>

/** A server and its authorization server at one origin, all of whose answers but these are good. */
const provider = (changes: (origin: string) => Answers) =>
  listening((origin) => {
    const answers: Answers = {
      "/mcp": (response) =>
        response.writeHead(401, {
          "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
        }).end("{}"),
      "/.well-known/oauth-protected-resource/mcp": (response) =>
        json(response, { resource: `${origin}/mcp`, authorization_servers: [`${origin}/as`] }),
      "/.well-known/oauth-authorization-server/as": (response) =>
        json(response, {
          issuer: `${origin}/as`,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          code_challenge_methods_supported: ["S256"]
        }),
      "/token": (response) =>
        json(response, { access_token: "the-access-token", token_type: "Bearer", refresh_token: "the-refresh-token" }),
      ...changes(origin)
    }
    return ({ url = "" }, response) => {
      const answer = answers[new URL(url, origin).pathname]
      if (answer === undefined) response.writeHead(404).end()
      else answer(response)
    }
  })

const clientOf = ({ origin }: Listening) => {
  const url = `${origin}/mcp`
  const agent = answering((page, redirectUri) =>
    new URL(`${redirectUri}?code=the-code-of-it&state=${page.searchParams.get("state")}`)
  )
  const layer = OAuthClient.layer<UserAgent.UserAgent>({
    url,
    grant: AuthorizationCode.grant({ client: { issuer: `${origin}/as`, clientId: "app" } })
  }).pipe(Layer.provide([FetchHttpClient.layer, Layer.succeed(UserAgent.UserAgent, agent)]))
  return Effect.map(
    Layer.build(layer),
    (context) => ({ http: Context.get(context, HttpClient.HttpClient), url, layer })
  )
}

/** A little that becomes 64 MiB. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, 32))
const bombed = (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" }).end(bomb)

/** What becomes more for as long as somebody reads. */
const fountain = (ended: () => void) => (response: ServerResponse) => {
  response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" })
  const gzip = createGzip()
  gzip.pipe(response)
  const pour = () => {
    if (response.destroyed) return
    if (gzip.write(Buffer.alloc(65_536, 32))) setImmediate(pour)
    else gzip.once("drain", pour)
  }
  response.on("close", () => {
    gzip.destroy()
    ended()
  })
  pour()
}

const addresses = {
  "/.well-known/oauth-protected-resource/mcp": "DiscoveryFailed",
  "/.well-known/oauth-authorization-server/as": "DiscoveryFailed",
  "/token": "BadAnswer"
} as const

describe("answers that grow", () => {
  it.live("[SEC-05] are counted as they come out of their coding, at each address", () =>
    Effect.gen(function*() {
      assert.isBelow(bomb.length, 100_000)
      for (const [path, tag] of Object.entries(addresses)) {
        const server = yield* provider(() => ({ [path]: bombed }))
        const { http, url } = yield* clientOf(server)
        const before = process.memoryUsage().arrayBuffers
        assert.strictEqual((yield* reasonOf(http.post(url)))._tag, tag, path)
        assert.isBelow(process.memoryUsage().arrayBuffers - before, 32 * 1024 * 1024)
      }
    }))

  it.live("[SEC-05] without an end are let go of, and the connection with them", () =>
    Effect.gen(function*() {
      for (const [path, tag] of Object.entries(addresses)) {
        let ended = 0
        const server = yield* provider(() => ({ [path]: fountain(() => ended++) }))
        const { http, url } = yield* clientOf(server)
        assert.strictEqual((yield* reasonOf(http.post(url)))._tag, tag, path)
        for (let tries = 0; tries < 100 && ended === 0; tries++) yield* Effect.sleep(20)
        assert.strictEqual(ended, 1, path)
      }
    }))

  it.live("[ACL-30] behind a 401 cost nothing: the login goes on", () =>
    Effect.gen(function*() {
      let refusals = 0
      const server = yield* provider((origin) => ({
        "/mcp": (response) => {
          if (refusals++ > 0) return json(response, {})
          response.writeHead(401, {
            "content-encoding": "gzip",
            "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
          }).end(bomb)
        }
      }))
      const { http, url } = yield* clientOf(server)
      assert.strictEqual((yield* http.post(url)).status, 200)
    }))
})

describe("redirects that fetch would follow", () => {
  it.live("[ACL-24] [SEC-05] take neither token nor code to another origin", () =>
    Effect.gen(function*() {
      const elsewhere = yield* listening(() => (_, response) => json(response, {}))
      const away = (response: ServerResponse) =>
        void response.writeHead(307, { location: `${elsewhere.origin}/x` }).end()
      for (
        const path of [
          "/.well-known/oauth-protected-resource/mcp",
          "/.well-known/oauth-authorization-server/as",
          "/token"
        ]
      ) {
        const server = yield* provider(() => ({ [path]: away }))
        const { http, url } = yield* clientOf(server)
        const reason = yield* reasonOf(http.post(url))
        assert.deepInclude(reason, { _tag: "InsecureServer", why: "redirect" }, path)
        assert.deepStrictEqual(elsewhere.asked, [], path)
      }
      let calls = 0
      const server = yield* provider((origin) => ({
        "/mcp": (response) =>
          calls++ > 0
            ? away(response)
            : response.writeHead(401, {
              "www-authenticate": `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
            }).end()
      }))
      const { http, layer, url } = yield* clientOf(server)
      // By itself, fetch follows; the token stays behind.
      assert.strictEqual((yield* http.post(url)).status, 200)
      assert.deepStrictEqual(elsewhere.asked.map(({ headers }) => headers.authorization), [undefined])
      // Under a client of the protocol nothing goes there at all.
      const error = yield* Effect.flip(
        Effect.scoped(Layer.build(McpClient.layerHttp({ url }).pipe(Layer.provide(layer))))
      )
      assert.include(error.message, "which is not followed")
      assert.lengthOf(elsewhere.asked, 1)
      assert.isTrue(server.asked.some(({ headers }) => headers.authorization === "Bearer the-access-token"))
    }))
})

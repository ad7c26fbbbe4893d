/** Servers that send a client, or another server, to where only it can go: the machine itself and the network inside. */
import { assert, describe, it } from "@effect/vitest"
import { OutboundGuard } from "@mcpfx/auth"
import { OutboundGuardNode } from "@mcpfx/node"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { readFileSync } from "node:fs"
import { createServer } from "node:https"
import { inside, loopback } from "../../src/attacks/hosts.ts"
import { challenge } from "../../src/attacks/network.ts"
import { bearer, present } from "../../src/attacks/presented.ts"
import {
  authorize,
  issuer,
  make,
  mcpOrigin,
  mcpUrl,
  reasonOf,
  resourceMetadata,
  serverMetadata,
  tokenUrl,
  type World
} from "../../src/attacks/world.ts"

const all = [...loopback, ...inside]
/** Some of each kind. */
const some = all.filter((_, at) => at % 3 === 0)

/** Each place in the word of a server is refused, and nothing is sent there. */
const refusedAt = (
  named: (world: World, address: string) => Effect.Effect<unknown>,
  path: string,
  hosts: ReadonlyArray<string> = all
) =>
  Effect.gen(function*() {
    const world = yield* make()
    for (const host of hosts) {
      world.network.forget()
      yield* named(world, `https://${host}${path}`)
      const { http } = yield* authorize(world)
      const reason = yield* reasonOf(http.post(mcpUrl))
      assert.deepInclude(reason, { _tag: "InsecureServer", why: "address" }, host)
      assert.deepStrictEqual([host, world.network.strangers, world.network.strays], [host, [], []])
    }
  })

const scripted = (script: (world: World, address: string) => unknown) => (world: World, address: string) =>
  Effect.sync(() => script(world, address))

describe("a client is not sent inside", () => {
  it.effect("[SEC-05] by the address of metadata in a challenge", () =>
    refusedAt(
      scripted(({ network }, address) => {
        network.on(mcpUrl, () => challenge(`resource_metadata="${address}"`))
        for (const name of ["oauth-protected-resource/mcp", "oauth-protected-resource"]) {
          network.on(`${mcpOrigin}/.well-known/${name}`, 404)
        }
        for (const name of ["oauth-authorization-server", "openid-configuration"]) {
          network.on(`${mcpOrigin}/.well-known/${name}`, 404)
        }
      }),
      "/prm",
      // A header has ASCII alone.
      all.filter((host) => /^[\x21-\x7e]+$/.test(host))
    ))

  it.effect("[SEC-05] by the name of the authorization server", () =>
    refusedAt(
      scripted(({ network }, address) =>
        network.on(resourceMetadata, { resource: mcpUrl, authorization_servers: [address] })
      ),
      ""
    ))

  it.effect("[SEC-05] by the endpoints of the authorization server", () =>
    Effect.gen(function*() {
      yield* refusedAt(({ login }, token_endpoint) => login.changeMetadata({ token_endpoint }), "/token", some)
      yield* refusedAt(
        ({ login }, registration_endpoint) => login.changeMetadata({ registration_endpoint }),
        "/register",
        some
      )
    }))

  it.effect("[SEC-05] by a redirect on its own origin's word, or of the authorization server", () =>
    refusedAt(
      scripted(({ network }, address) => {
        network.on(serverMetadata, () =>
          new Response(null, { status: 307, headers: { location: `${issuer}/elsewhere` } }))
        network.on(`${issuer}/elsewhere`, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: address,
          registration_endpoint: `${issuer}/register`,
          code_challenge_methods_supported: ["S256"]
        })
      }),
      "/token",
      some
    ))

  it.effect("[SEC-05] to end a login: where tokens are revoked", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const { http, oauth } = yield* authorize(world)
      for (const host of all.filter((_, at) => at % 5 === 0)) {
        yield* world.login.changeMetadata({ revocation_endpoint: `https://${host}/revoke` })
        // It is looked up again where to log in.
        yield* TestClock.adjust("2 hours")
        yield* http.post(mcpUrl)
        const ended = yield* Effect.result(oauth.logout)
        // The machine itself is as good as no endpoint; all else is told.
        assert.strictEqual(ended._tag, loopback.includes(host) ? "Success" : "Failure", host)
        if (ended._tag === "Failure") {
          assert.deepInclude(ended.failure.reason, { _tag: "InsecureServer", why: "address" })
        }
        assert.strictEqual((yield* oauth.status)._tag, "Anonymous")
        assert.deepStrictEqual([host, world.network.strangers, world.network.strays], [host, [], []])
      }
    }))
})

describe("a server is not sent inside", () => {
  it.effect("[SEC-05] by where the keys of its issuer are said to be", () =>
    Effect.gen(function*() {
      const world = yield* make()
      const token = yield* world.login.issueToken({ claims: { aud: mcpUrl, scope: "sums" } })
      for (const host of all) {
        yield* world.login.changeMetadata({ jwks_uri: `https://${host}/keys` })
        yield* TestClock.adjust("1 minute")
        const answer = yield* present(world, { headers: bearer(token) })
        assert.deepStrictEqual([host, answer.status], [host, 503])
        assert.deepStrictEqual([host, world.inside.strangers], [host, []])
      }
    }).pipe(Effect.provide(Logger.layer([]))))
})

const fixture = (name: string) => readFileSync(new URL(`../../../node/test/fixtures/${name}`, import.meta.url), "utf8")
const cert = fixture("login.cert.pem")

/** Whoever listens on this machine and is not to be reached; it says what it was asked. */
const listener = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly heard: Array<string>; readonly close: () => void }>((resume) => {
    const heard: Array<string> = []
    const server = createServer({ cert, key: fixture("login.key.pem") }, (request, response) => {
      heard.push(`${request.method} ${request.url}`)
      response.writeHead(404).end()
    })
    server.on("connection", () => heard.push("connection"))
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const close = () => {
        server.close()
        server.closeAllConnections()
      }
      resume(Effect.succeed({ port, heard, close }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const answers = (...rows: ReadonlyArray<ReadonlyArray<string>>) => {
  let asked = 0
  return {
    resolve: () => Effect.sync(() => rows[Math.min(asked++, rows.length - 1)] ?? []),
    asked: () => asked
  }
}

describe("names that lead inside", () => {
  it.live("[SEC-05] are looked up before anything is connected to, every address of them", () =>
    Effect.gen(function*() {
      const { heard, port } = yield* listener
      const rows = [
        ["127.0.0.1"],
        ["::1"],
        ["::ffff:127.0.0.1"],
        ["10.0.0.1"],
        ["169.254.169.254"],
        ["fd00:ec2::254"],
        ["fe80::1"],
        ["0.0.0.0"],
        ["93.184.216.34", "127.0.0.1"],
        ["64:ff9b::7f00:1", "93.184.216.34"]
      ]
      const world = yield* make()
      for (const row of rows) {
        const { resolve } = answers(row)
        const guard = yield* OutboundGuardNode.make({ resolve, agent: { ca: cert } })
        const address = `https://login.example.com:${port}`
        world.network.on(resourceMetadata, { resource: mcpUrl, authorization_servers: [address] })
        const { http } = yield* authorize(world).pipe(
          Effect.provideService(OutboundGuard.CurrentOutboundGuard, guard)
        )
        const reason = yield* reasonOf(http.post(mcpUrl))
        assert.deepInclude(reason, { _tag: "InsecureServer", why: "address" }, row.join())
        assert.deepStrictEqual([row, heard], [row, []])
      }
    }))

  it.live("[SEC-05] later than they were checked change nothing: what was checked is connected to, or nothing", () =>
    Effect.gen(function*() {
      const { heard, port } = yield* listener
      const local = "http://127.0.0.1:9/mcp"
      const world = yield* make()
      const address = `https://login.example.com:${port}`
      world.network
        .on("http://127.0.0.1:9/mcp", () => challenge(""))
        .on("http://127.0.0.1:9/.well-known/oauth-protected-resource/mcp", {
          resource: local,
          authorization_servers: [address]
        })
      const { asked, resolve } = answers(["127.0.0.1"], ["10.0.0.1"])
      const options = { resolve, agent: { ca: cert, keepAlive: false } }
      const guard = yield* OutboundGuardNode.make(options)
      const { http } = yield* authorize(world, { url: local }).pipe(
        Effect.provideService(OutboundGuard.CurrentOutboundGuard, guard)
      )
      // The server is asked for its metadata once, where its name led first; the second time it leads inside.
      const reason = yield* reasonOf(http.post(local))
      assert.deepInclude(reason, { _tag: "InsecureServer", why: "address" })
      assert.deepStrictEqual(heard, ["connection", "GET /.well-known/oauth-authorization-server"])
      assert.strictEqual(asked(), 2)
    }))
})

describe("a local server", () => {
  it.effect("[SEC-05] may send a client to the loopback interface, and not further inside", () =>
    Effect.gen(function*() {
      const local = "http://127.0.0.1:9/mcp"
      const world = yield* make()
      for (const host of inside) {
        world.network
          .on(local, () => challenge(""))
          .on("http://127.0.0.1:9/.well-known/oauth-protected-resource/mcp", {
            resource: local,
            authorization_servers: [`https://${host}`]
          })
        const { http } = yield* authorize(world, { url: local })
        assert.deepInclude(yield* reasonOf(http.post(local)), { _tag: "InsecureServer", why: "address" }, host)
        const others = world.network.strangers.filter((address) => !address.startsWith("http://127.0.0.1:9/"))
        assert.deepStrictEqual([host, others, world.network.at(tokenUrl)], [host, [], []])
      }
    }))
})

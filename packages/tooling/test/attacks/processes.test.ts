/** Several processes with one login, whose refresh tokens are good once and end it all when they come twice. */
import { NodeFileSystem } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { AuthorizationCode, OAuthClient, UserAgent } from "@mcpfx/auth"
import { TokenStoreFile } from "@mcpfx/node"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { spawn } from "node:child_process"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Listening, listening } from "../../src/attacks/listening.ts"
import * as LoopbackServer from "../../src/loopbackServer.ts"
import { packed } from "../../src/packed.ts"

const worker = fileURLToPath(new URL("../../src/attacks/refresher.ts", import.meta.url))

/** How many calls a token is good for. */
const worth = 5

/** A server whose tokens are used up after some calls. */
const resource = (issuer: string) => {
  const used = new Map<string, number>()
  const server = listening((origin) => (request, response) => {
    if (request.url?.startsWith("/.well-known/oauth-protected-resource") === true) {
      const body = JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [issuer] })
      return void response.writeHead(200, { "content-type": "application/json" }).end(body)
    }
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1]
    const count = token === undefined ? worth : used.get(token) ?? 0
    if (token !== undefined) used.set(token, count + 1)
    if (count < worth) return void response.writeHead(200).end("{}")
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`
    const error = token === undefined ? "" : "error=\"invalid_token\", "
    response.writeHead(401, { "www-authenticate": `Bearer ${error}${metadata}` }).end()
  })
  return Effect.map(server, (server) => ({ server, used }))
}

/** A process, which ends with the scope, and what it prints. */
const start = (url: string, issuer: string, directory: string, times: number) =>
  Effect.acquireRelease(
    Effect.map(Effect.promise(() => packed(worker)), (file) => {
      const child = spawn(process.execPath, [file, url, issuer, directory, String(times)], {
        stdio: ["ignore", "pipe", "inherit"]
      })
      const chunks: Array<Buffer> = []
      child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk))
      const ended = new Promise<string>((resolve) => child.on("close", () => resolve(Buffer.concat(chunks).toString())))
      return { kill: () => child.kill("SIGKILL"), ended: Effect.promise(() => ended) }
    }),
    ({ ended, kill }) => Effect.andThen(Effect.sync(kill), ended)
  )

/** A world in which somebody has logged in, once. */
const loggedIn = Effect.gen(function*() {
  const login = yield* TestAuthorizationServer.TestAuthorizationServer
  yield* login.register({ clientId: "app", redirectUris: ["http://127.0.0.1:8976/callback"] })
  const { server, used } = yield* resource(login.issuer)
  const directory = join(
    yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped({ prefix: "mcpfx-attack-" })),
    "credentials"
  )
  const url = `${server.origin}/mcp`
  const Client = OAuthClient.layer<UserAgent.UserAgent>({
    url,
    grant: AuthorizationCode.grant({ client: { issuer: login.issuer, clientId: "app" } })
  }).pipe(
    Layer.provide(TokenStoreFile.layer({ directory })),
    Layer.provide(Layer.succeed(UserAgent.UserAgent, login.userAgent())),
    Layer.provide(FetchHttpClient.layer)
  )
  yield* Effect.provide(HttpClient.post(url), Client)
  assert.strictEqual(used.size, 1)
  yield* login.clearRequests
  return { login, server, used, directory, url }
})

const refreshes = ({ login }: { readonly login: TestAuthorizationServer.TestAuthorizationServer["Service"] }) =>
  Effect.map(login.requests, (seen) => seen.filter(({ parameters }) => parameters["grant_type"] === "refresh_token"))

const Port = LoopbackServer.layer()
const Live = TestAuthorizationServer.layerHttp({ refresh: "always" }).pipe(
  Layer.provide(Port),
  Layer.merge(NodeFileSystem.layer)
)

const until = (what: string, look: Effect.Effect<boolean>) =>
  Effect.gen(function*() {
    for (let tries = 0; tries < 500; tries++) {
      if (yield* look) return
      yield* Effect.sleep(20)
    }
    return yield* Effect.die(new Error(`never: ${what}`))
  })

/** The token that is in the store is used up, so that whoever comes next refreshes. */
const spent = ({ used }: { readonly used: Map<string, number> }) =>
  Effect.sync(() => {
    for (const token of used.keys()) used.set(token, worth)
  })

const calls = ({ asked }: Listening) => asked.filter(({ method }) => method === "POST").length

describe("processes with one login", () => {
  it.live(
    "[field AUT-06] [AAS-01] refresh each generation once between them, and none is logged out",
    () =>
      Effect.gen(function*() {
        const world = yield* loggedIn
        const { directory, login, server, url, used } = world
        const before = calls(server)
        const children = yield* Effect.forEach([1, 2], () => start(url, login.issuer, directory, 20))
        for (const { ended } of children) {
          assert.deepStrictEqual(JSON.parse(yield* ended), Array.from({ length: 20 }, () => "200"))
        }
        const spentTokens = yield* refreshes(world)
        assert.deepStrictEqual(new Set(spentTokens.map(({ status }) => status)), new Set([200]))
        // Each generation was refreshed once, and each token of it is in use but for the last.
        assert.strictEqual(used.size, spentTokens.length + 1)
        const values = spentTokens.map(({ parameters }) => parameters["refresh_token"])
        assert.strictEqual(new Set(values).size, values.length)
        assert.isAtLeast(values.length, Math.floor(41 / worth) - 1)
        // Every call was let in at once, or once more after one refusal for each token that it held.
        assert.isAtMost(calls(server) - before, 40 + 2 * (values.length + 1))
        assert.strictEqual(yield* login.count("authorize"), 0)
      }).pipe(Effect.scoped, Effect.provide(Live)),
    60_000
  )

  it.live(
    "[field AUT-06] one that is killed before its refresh got through leaves the other the login and the turn",
    () =>
      Effect.gen(function*() {
        const world = yield* loggedIn
        const { directory, login, url } = world
        yield* spent(world)
        yield* login.fault("token", { delay: "30 seconds" })
        const first = yield* start(url, login.issuer, directory, 1)
        yield* until("a refresh under way", Effect.map(login.count("token"), (count) => count === 1))
        const second = yield* start(url, login.issuer, directory, 3)
        first.kill()
        assert.strictEqual(yield* first.ended, "")
        assert.deepStrictEqual(JSON.parse(yield* second.ended), ["200", "200", "200"])
        assert.deepStrictEqual((yield* refreshes(world)).map(({ status }) => status).toSorted(), [0, 200])
        assert.strictEqual(yield* login.count("authorize"), 0)
      }).pipe(Effect.scoped, Effect.provide(Live)),
    60_000
  )

  it.live(
    "[field AUT-06] [field AUT-21] one that is killed before its answer was kept costs the login, which is told as such",
    () =>
      Effect.gen(function*() {
        const world = yield* loggedIn
        const { directory, login, url } = world
        yield* spent(world)
        yield* login.fault("token", { slowBody: "30 seconds" })
        const first = yield* start(url, login.issuer, directory, 1)
        const served = Effect.map(refreshes(world), (seen) => seen.some(({ status }) => status === 200))
        yield* until("a refresh that is served", served)
        first.kill()
        yield* first.ended
        const second = yield* start(url, login.issuer, directory, 2)
        assert.deepStrictEqual(JSON.parse(yield* second.ended), ["LoginExpired", "LoginExpired"])
        // The dead token is spent once more, not with each call.
        assert.deepStrictEqual((yield* refreshes(world)).map(({ status }) => status), [200, 400])
        assert.strictEqual(yield* login.count("authorize"), 0)
      }).pipe(Effect.scoped, Effect.provide(Live)),
    60_000
  )
})

/** The listener and the flow that needs it, against a whole authorization server. */
import { assert, describe, it } from "@effect/vitest"
import { AuthorizationCode, OAuthClient } from "@mcpfx/auth"
import { Browser, LoopbackLogin } from "@mcpfx/node"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, FiberSet, Layer } from "effect"
import { HttpClient } from "effect/http"
import { createServer } from "node:net"
import { get } from "./support/people.ts"

/** Consents in memory, and comes back over the loopback interface. */
const Consenting = Layer.effect(
  Browser.CurrentBrowser,
  Effect.gen(function*() {
    const server = yield* TestAuthorizationServer.TestAuthorizationServer
    const tabs = yield* FiberSet.make<void, never>()
    const browse = Effect.fnUntraced(function*(url: URL) {
      const redirectUri = url.searchParams.get("redirect_uri") ?? ""
      const { open } = yield* server.userAgent({ redirectUri }).visit([redirectUri])
      const arrival = yield* open(url, { issuer: server.issuer, resource: "" })
      yield* get(arrival.href)
    })
    return { open: (url) => Effect.asVoid(FiberSet.run(tabs, Effect.orDie(Effect.scoped(browse(url))))) }
  })
)

/** A client of the server, whose person has a browser. */
const clientWith = (options: AuthorizationCode.Options) =>
  Layer.unwrap(Effect.gen(function*() {
    const { client, issuer } = yield* TestAuthorizationServer.TestAuthorizationServer
    return OAuthClient.layer({ url: `${issuer}/mcp`, grant: AuthorizationCode.grant(options) }).pipe(
      Layer.provide(LoopbackLogin.layer({ print: () => Effect.void })),
      Layer.provide(Consenting),
      Layer.provide(Layer.succeed(HttpClient.HttpClient, client))
    )
  }))

const takePort = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer()
      server.listen(port, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  )

/** The address of the last login, and those of the last registration. */
const addresses = Effect.gen(function*() {
  const server = yield* TestAuthorizationServer.TestAuthorizationServer
  const requests = yield* server.requests
  const used = requests.findLast(({ endpoint }) => endpoint === "authorize")?.parameters["redirect_uri"] ?? ""
  const exchanged = requests.findLast(({ endpoint }) => endpoint === "token")?.parameters["redirect_uri"]
  assert.strictEqual(exchanged, used)
  const registration = requests.findLast(({ endpoint }) => endpoint === "register")?.json
  return {
    used,
    registered: registration === undefined ? undefined : JSON.stringify(registration),
    times: yield* server.count("register")
  }
})

describe("a client that registers itself", () => {
  it.live("[field AUT-15] [ACL-22] is registered with the address it listens at, and anew where that is taken", () =>
    Effect.gen(function*() {
      const { login } = yield* OAuthClient.OAuthClient
      yield* login()
      const first = yield* addresses
      assert.include(first.registered ?? "", `"${first.used}"`)
      assert.match(first.used, /^http:\/\/127\.0\.0\.1:[1-9]\d*\/callback$/)

      yield* login()
      assert.deepStrictEqual(yield* addresses, first)

      yield* takePort(Number(new URL(first.used).port))
      yield* login()
      const moved = yield* addresses
      assert.notStrictEqual(moved.used, first.used)
      assert.strictEqual(moved.times, 2)
      assert.include(moved.registered ?? "", `"${moved.used}"`)
    }).pipe(
      Effect.scoped,
      Effect.provide(clientWith({})),
      Effect.provide(TestAuthorizationServer.layer({ scopes: ["read"] }))
    ))
})

describe("a client that was registered with one port", () => {
  const known = (redirectUri: string) =>
    TestAuthorizationServer.layer({
      issuer: "https://login.test",
      clients: [{ clientId: "app", redirectUris: [redirectUri] }]
    })
  const client = (redirectUri: string) => ({
    client: { issuer: "https://login.test", clientId: "app", redirectUris: [redirectUri] }
  })

  it.live("[field AUT-15] listens there, and says at once when it cannot", () =>
    Effect.gen(function*() {
      const { address } = yield* Effect.scoped(Effect.map(takePort(0), (server) => ({ address: server.address() })))
      const port = typeof address === "object" && address !== null ? address.port : 0
      const redirectUri = `http://127.0.0.1:${port}/cb`
      yield* Effect.gen(function*() {
        const { login } = yield* OAuthClient.OAuthClient
        yield* login()
        assert.deepStrictEqual(yield* addresses, { used: redirectUri, registered: undefined, times: 0 })
        yield* takePort(port)
        const { reason } = yield* Effect.flip(login())
        assert.deepInclude(reason, { _tag: "CallbackUnavailable", address: redirectUri, detail: "the port is taken" })
      }).pipe(Effect.scoped, Effect.provide(clientWith(client(redirectUri))), Effect.provide(known(redirectUri)))
    }))
})

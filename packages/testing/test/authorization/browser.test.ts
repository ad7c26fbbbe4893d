import { assert, describe, it } from "@effect/vitest"
import { type AuthError, AuthorizationCode, OAuthClient, UserAgent } from "@mcpfx/auth"
import { AuthorizationFault, TestAuthorizationServer, TestHttp, TestNetwork } from "@mcpfx/testing"
import * as LoopbackServer from "@mcpfx/tooling/loopbackServer"
import { Context, Effect, Exit, Fiber, Layer, Schedule, Scope } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { app, asked, authorize, backOf, callback, claimsOf, post, register, type Server } from "./support.ts"

const Port = LoopbackServer.layer()

const pageOf = (server: Server, changes: Readonly<Record<string, string>> = {}): URL => {
  const url = new URL(server.url("authorize"))
  url.search = new URLSearchParams({ ...asked(), ...changes }).toString()
  return url
}

const visitOf = (server: Server, options?: TestAuthorizationServer.UserAgentOptions, url = pageOf(server)) =>
  Effect.scoped(
    Effect.flatMap(
      server.userAgent(options).visit([callback]),
      ({ open }) => open(url, { issuer: server.issuer, resource: "" })
    )
  )

const reasonOf = <A>(effect: Effect.Effect<A, AuthError.AuthError>) =>
  Effect.map(Effect.flip(effect), ({ reason }) => reason)

describe("layerBrowser", () => {
  it.live("[ACL-01] logs a client in at a server that only its HttpClient reaches, though fetch follows redirects", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.TestAuthorizationServer
      const url = "http://127.0.0.1:1/mcp"
      const protect = TestHttp.clientOf((request) =>
        request.headers.has("authorization")
          ? new Response(request.headers.get("authorization"))
          : new URL(request.url).pathname.startsWith("/.well-known/oauth-protected-resource")
          ? Response.json({ resource: url, authorization_servers: [server.issuer], scopes_supported: ["notes"] })
          : new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } })
      )
      const fetching = yield* HttpClient.HttpClient
      // All that the client and its browser have of the server: an HttpClient.
      const Network = TestNetwork.layer({ [server.issuer]: fetching, "http://127.0.0.1:1": protect })
      const Client = OAuthClient.layer({ url, grant: AuthorizationCode.grant() }).pipe(
        Layer.provide(TestAuthorizationServer.layerBrowser({ user: "bob" })),
        Layer.provide(Network)
      )
      const token = yield* HttpClient.HttpClient.pipe(
        Effect.flatMap((client) => client.get(url)),
        Effect.flatMap((response) => response.text),
        Effect.provide(Client)
      )
      assert.deepInclude(claimsOf(token.slice("Bearer ".length)), { sub: "bob", aud: url, scope: "notes" })
      assert.strictEqual(yield* server.count("consent"), 1)
    }).pipe(
      Effect.provide(
        TestAuthorizationServer.layerHttp({ users: [{ id: "ada" }, { id: "bob" }] }).pipe(
          Layer.provide(Port),
          Layer.merge(FetchHttpClient.layer)
        )
      )
    ))

  it.effect("refuses where it is told to", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      const agent = yield* UserAgent.UserAgent.pipe(
        Effect.provide(TestAuthorizationServer.layerBrowser({ decision: "deny" })),
        Effect.provideService(HttpClient.HttpClient, server.client)
      )
      const { open } = yield* Effect.scoped(agent.visit([callback]))
      const back = yield* open(pageOf(server), { issuer: server.issuer, resource: "" })
      assert.strictEqual(back.searchParams.get("error"), "access_denied")
    }))
})

describe("the browser", () => {
  it.effect("says which page leads nowhere, and why", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      const url = server.url("authorize")
      yield* server.fault("authorize", AuthorizationFault.status(503), AuthorizationFault.redirect("http://["))
      assert.deepInclude(yield* reasonOf(visitOf(server)), { _tag: "Unavailable", url, status: 503 })
      assert.deepInclude(yield* reasonOf(visitOf(server)), { _tag: "Unavailable", url })
      const nobody = yield* reasonOf(visitOf(server, { user: "nobody" }))
      assert.deepInclude(nobody, { _tag: "LoginDenied", description: "There is no user nobody here." })
      const nowhere = yield* reasonOf(Effect.scoped(server.userAgent({ redirectUri: "nonsense" }).visit(undefined)))
      assert.deepInclude(nowhere, { _tag: "CallbackUnavailable", address: "nonsense" })
    }))

  it.effect("waits for a page no longer than ten minutes", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      yield* server.fault("authorize", { delay: "1 hour" })
      const fiber = yield* Effect.forkChild(reasonOf(visitOf(server)))
      yield* TestClock.adjust("599 seconds")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")
      assert.deepInclude(yield* Fiber.join(fiber), { _tag: "LoginTimedOut", millis: 600_000 })
    }))

  it.effect("shows no server the cookies of another", () =>
    Effect.gen(function*() {
      const [first, second] = [
        yield* TestAuthorizationServer.make({ issuer: "https://one.test", clients: [app] }),
        yield* TestAuthorizationServer.make({ issuer: "https://two.test", clients: [app] })
      ]
      // The first server sends its browsers on to the second once they have consented, as brokers do.
      yield* first.fault("consent", AuthorizationFault.redirect(pageOf(second).href, 303))
      const client = TestNetwork.client({ "https://one.test": first.client, "https://two.test": second.client })
      const back = yield* visitOf(first, { client })
      assert.strictEqual(back.searchParams.get("iss"), "https://two.test")
      const cookies = (server: Server) =>
        Effect.map(server.requests, (requests) => requests.map(({ headers }) => headers["cookie"] !== undefined))
      assert.deepStrictEqual([yield* cookies(first), yield* cookies(second)], [[false, true], [false, true]])
    }))

  it.effect("of people who have two pages open can answer both", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      const first = yield* authorize(server)
      const cookie = first.headers["set-cookie"]?.split(";")[0] ?? ""
      const second = yield* server.client.execute(HttpClientRequest.get(pageOf(server), { headers: { cookie } }))
      assert.strictEqual(second.headers["set-cookie"]?.split(";")[0], cookie)
      for (const page of [first.text, yield* second.text]) {
        const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ""
        const answer = yield* server.client.execute(
          HttpClientRequest.post(server.url("consent"), { headers: { cookie } }).pipe(
            HttpClientRequest.bodyUrlParams({ csrf, decision: "allow" })
          )
        )
        assert.strictEqual(answer.status, 303)
      }
      const foreign = yield* server.client.execute(
        HttpClientRequest.get(pageOf(server), { headers: { cookie: `${cookie.split("=")[0]}=chosen` } })
      )
      assert.notInclude(foreign.headers["set-cookie"] ?? "", "chosen")
    }))
})

describe("odd orders and odd input", () => {
  it.effect("a login of a client that is known goes back where the client is, with the secret that it has", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({
        clients: [
          { clientId: "web", clientSecret: "secret", redirectUris: ["https://app.test/back"] },
          {
            clientId: "old",
            clientSecret: "se:c ret",
            authentication: "client_secret_basic",
            redirectUris: ["http://localhost/back"]
          },
          { clientId: "job", clientSecret: "secret" }
        ]
      })
      assert.deepInclude(claimsOf((yield* server.login({ clientId: "old" })).access_token), { client_id: "old" })
      assert.deepInclude(claimsOf((yield* server.login({ clientId: "web" })).access_token), { client_id: "web" })
      const job = yield* Effect.flip(server.login({ clientId: "job" }))
      assert.include(job.message, "the client has no redirectUris")
    }))

  it.effect("the path of an issuer may be spelled in any way, and what is no issuer is named", () =>
    Effect.gen(function*() {
      for (const path of ["/a:b", "/a%20b", "/é", "/(a)", "/tenant/"]) {
        const server = yield* TestAuthorizationServer.make({ issuer: `https://login.test${path}` })
        const found = yield* server.client.get(server.url("metadata"))
        assert.deepStrictEqual([found.status, (yield* server.login()).token_type], [200, "Bearer"], path)
        const beside = yield* server.client.get(server.url("jwks").replace(/login\.test\/./, "login.test/z"))
        assert.strictEqual(beside.status, 404, path)
      }
      for (
        const issuer of ["", "login.test", "https://login.test?a=b", "https://login.test/#a", "https://login.test/*"]
      ) {
        const exit = yield* Effect.exit(TestAuthorizationServer.make({ issuer }))
        assert.include(String(exit), `${JSON.stringify(issuer).slice(1, -1)}`)
        assert.include(JSON.stringify(exit.toString()), "cannot be an issuer")
      }
    }))

  it.effect("many log in at once, with a long state, and each as who they are", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ users: [{ id: "ada" }, { id: "bob" }], clients: [app] })
      const subjects = yield* Effect.forEach(
        ["ada", "bob", "ada", "bob", "ada", "bob", "ada", "bob"],
        (user) => Effect.map(server.login({}, { user }), ({ access_token }) => [user, claimsOf(access_token)["sub"]]),
        { concurrency: "unbounded" }
      )
      for (const [user, subject] of subjects) assert.strictEqual(subject, user)
      const state = "x".repeat(1_000_000)
      const back = yield* visitOf(server, {}, pageOf(server, { state }))
      assert.strictEqual(back.searchParams.get("state"), state)
    }))

  it.effect("who is to log in has to be somebody, and a fault for no requests is none", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      const nobody = yield* Effect.flip(server.setConsent("automatic", "nobody"))
      assert.deepStrictEqual([nobody.wanted, nobody.got], ["a user nobody", ["user"]])
      yield* server.fault("authorize", { ...AuthorizationFault.status(500), times: 0 }, AuthorizationFault.status(418))
      assert.strictEqual((yield* authorize(server)).status, 418)
      assert.strictEqual((yield* authorize(server)).status, 200)
      for (
        const fault of [AuthorizationFault.status(999), AuthorizationFault.status(200, { "x-a": "b\nc" }), {
          status: 0
        }]
      ) {
        assert.include((yield* Effect.exit(server.fault("token", fault))).toString(), "an answer cannot have")
      }
      assert.deepStrictEqual(backOf(yield* authorize(server, { prompt: "none" }))["error"], "consent_required")
    }))

  it.effect("bodies that are too long are counted, and an empty scope is none", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ consent: "automatic" })
      const body = {
        redirect_uris: [callback],
        application_type: "native",
        token_endpoint_auth_method: "none",
        scope: ""
      }
      assert.strictEqual((yield* register(server, { ...body, client_name: "x".repeat(70_000) })).status, 400)
      const { client_id } = (yield* register(server, body)).body
      assert.strictEqual(yield* server.count("register"), 2)
      assert.hasAllKeys(backOf(yield* authorize(server, { client_id: String(client_id) })), ["code", "state", "iss"])
      const web = yield* register(server, { redirect_uris: [callback] })
      assert.include(String(web.body["error_description"]), "application_type (web, as none is named)")
    }))

  it.effect("a device is answered once, by somebody who is known", () =>
    Effect.gen(function*() {
      const server = yield* TestAuthorizationServer.make({ clients: [app] })
      const code = String((yield* post(server, "device", { client_id: "app" })).body["user_code"])
      const page = yield* post(server, "verification", { user_code: code, decision: "allow", user: "nobody" })
      assert.deepStrictEqual([page.status, page.text.includes("There is no user nobody here.")], [400, true])
      const early = yield* Effect.flip(server.approveDevice("nonsense"))
      assert.deepStrictEqual(early.got, [code])
      yield* server.approveDevice(code)
      const late = yield* Effect.flip(server.denyDevice(code))
      assert.deepStrictEqual([late.wanted, late.got], [`a device that shows ${code} and waits`, []])
    }))

  it.live("a port that goes in the middle of a login goes at once, and says so", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      const Live = Layer.provide(TestAuthorizationServer.layerHttp(), Port)
      const context = yield* Layer.buildWithScope(Layer.merge(Live, FetchHttpClient.layer), scope)
      const server = Context.get(context, TestAuthorizationServer.TestAuthorizationServer)
      const client = Context.get(context, HttpClient.HttpClient)
      yield* server.fault("authorize", { delay: "1 hour" })
      const login = yield* Effect.forkChild(Effect.flip(server.login({}, { client })))
      yield* Effect.repeat(server.count("authorize"), {
        until: (count) => count === 1,
        schedule: Schedule.spaced("5 millis")
      })
      yield* Effect.timeout(Scope.close(scope, Exit.void), "5 seconds")
      const error = yield* Fiber.join(login)
      assert.strictEqual(error._tag === "AuthError" ? error.reason._tag : error._tag, "Unavailable")
    }))
})

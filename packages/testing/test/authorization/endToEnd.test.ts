import { assert, describe, it } from "@effect/vitest"
import { AuthError, AuthorizationCode, OAuthClient, ResourceServer, TokenVerifierJwt } from "@mcpfx/auth"
import { McpClient } from "@mcpfx/client"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { AuthorizationFault, TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Effect, Layer, Option, Schema } from "effect"
import { HttpClient } from "effect/http"

const url = "https://mcp.test/mcp"

const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))

/** A server that takes tokens of `login`, in one network with it. */
const networkOf = (login: TestAuthorizationServer.TestAuthorizationServer["Service"]) =>
  Effect.gen(function*() {
    const Routes = ResourceServer.layer({ resource: url, scopes: ["sums"] }, (protect) =>
      McpServer.layerHttp(AddLive, { name: "sums", version: "1.0.0", allowedHosts: ["mcp.test"], middleware: protect }))
    const Verifier = TokenVerifierJwt.layer({ issuer: login.issuer }).pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, login.client))
    )
    const mcp = yield* TestNetwork.serve(Layer.provide(Routes, Verifier))
    return TestNetwork.layer({ "https://mcp.test": mcp, "https://login.test": login.client })
  })

const connect = (
  login: TestAuthorizationServer.TestAuthorizationServer["Service"],
  agent?: TestAuthorizationServer.UserAgentOptions
) =>
  Effect.gen(function*() {
    const Network = yield* networkOf(login)
    const Login = Layer.provide(
      TestAuthorizationServer.layerUserAgent(agent),
      Layer.succeed(TestAuthorizationServer.TestAuthorizationServer, login)
    )
    const Authorized = OAuthClient.layer({ url, grant: AuthorizationCode.grant() }).pipe(
      Layer.provide([Network, Login])
    )
    const context = yield* Layer.build(McpClient.layerHttp({ url }).pipe(Layer.provide(Authorized)))
    return yield* Effect.provideContext(McpClient.McpClient, context)
  })

describe("a server, a client and a login", () => {
  it.effect("[ACL-01] the client finds the login, registers, logs in and calls", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make({ scopes: ["sums"] })
      const client = yield* connect(login)
      assert.deepStrictEqual(yield* client.call(Add, { a: 1, b: 2 }), { sum: 3 })
      const counts = yield* Effect.forEach(["register", "authorize", "consent", "token"] as const, login.count)
      assert.deepStrictEqual(counts, [1, 1, 1, 1])
      const token = (yield* login.requests).find(({ endpoint }) => endpoint === "token")
      assert.deepInclude(token?.parameters, { grant_type: "authorization_code", resource: url })
    }))

  it.effect("[ACL-19] a login that another issuer answers is no login", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make({ scopes: ["sums"] })
      yield* login.fault("authorize", { change: { iss: "https://evil.test" } })
      const error = yield* Effect.flip(connect(login))
      const reason = Option.map(AuthError.find(error), ({ reason }) => reason._tag)
      assert.deepStrictEqual(reason, Option.some("CallbackRejected"))
      assert.strictEqual(yield* login.count("token"), 0)
    }))

  it.effect("a login that is denied, or that has no endpoint, is told as such", () =>
    Effect.gen(function*() {
      const login = yield* TestAuthorizationServer.make({ scopes: ["sums"] })
      const denied = yield* Effect.flip(connect(login, { decision: "deny" }))
      assert.strictEqual(Option.getOrThrow(AuthError.find(denied)).reason._tag, "LoginDenied")
      yield* login.fault("register", AuthorizationFault.html(403))
      const refused = yield* Effect.flip(connect(login))
      assert.strictEqual(Option.getOrThrow(AuthError.find(refused)).reason._tag, "RegistrationRefused")
    }))
})

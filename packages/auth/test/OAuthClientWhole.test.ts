/** Everything real: an MCP server behind a login, its authorization server, and a client that goes through both. */
import { assert, describe, it } from "@effect/vitest"
import {
  AuthError,
  AuthorizationCode,
  type Grant,
  OAuthClient,
  ResourceServer,
  TokenVerifierJwt,
  UserAgent
} from "@mcpfx/auth"
import { McpClient, Negotiation } from "@mcpfx/client"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { Context, Effect, Layer, Option } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"

const url = "https://mcp.test/mcp"

const Registrations = Layer.mergeAll(
  McpServer.tool(Tool.make("read", { input: {} }), () => Effect.succeed("read")),
  McpServer.tool(Tool.make("write", { input: {}, scopes: ["notes:write"] }), () => Effect.succeed("written"))
)

/** The three of them, and the client's services. */
const world = Effect.fnUntraced(function*(
  options: TestAuthorizationServer.Options = {},
  client: Partial<OAuthClient.Options<UserAgent.UserAgent>> = {},
  revisions?: McpClient.HttpOptions["revisions"]
) {
  const login = yield* TestAuthorizationServer.make({
    scopes: ["notes:read", "notes:write", "offline_access"],
    ...options
  })
  const Server = ResourceServer.layer(
    { resource: url, scopes: ["notes:read"] },
    (protect) =>
      McpServer.layerHttp(Registrations, {
        name: "notes",
        version: "1",
        allowedHosts: ["mcp.test"],
        middleware: protect
      })
  ).pipe(Layer.provide(TokenVerifierJwt.layer({ issuers: [{ issuer: login.issuer }] })))
  const network: HttpClient.HttpClient = HttpClient.make((request) => Effect.suspend(() => hosts.execute(request)))
  const server = yield* TestNetwork.serve(Layer.provide(Server, Layer.succeed(HttpClient.HttpClient, network)))
  const hosts = TestNetwork.client({ "https://mcp.test": server, [login.issuer]: login.client })
  const grant: Grant.Grant<UserAgent.UserAgent> = AuthorizationCode.grant()
  const context = yield* Layer.build(
    McpClient.layerHttp({ url, lazy: true, revisions }).pipe(
      Layer.provideMerge(OAuthClient.layer({ url, grant, ...client })),
      Layer.provide(Layer.succeed(UserAgent.UserAgent, login.userAgent())),
      Layer.provide(Layer.succeed(HttpClient.HttpClient, network)),
      Layer.provide(Layer.succeed(Negotiation.CurrentEraCache, Negotiation.makeEraCache()))
    )
  )
  return {
    login,
    client: Context.get(context, McpClient.McpClient),
    oauth: Context.get(context, OAuthClient.OAuthClient)
  }
})

const found = (error: unknown) => Option.getOrUndefined(AuthError.find(error))?.reason

describe("OAuthClient with everything real", () => {
  for (const revision of ["2026-07-28", "2025-11-25"] as const) {
    it.effect(`[ACL-01] [ACL-16] [ACL-28] a login, a call, more scopes, a refresh and a logout on ${revision}`, () =>
      Effect.gen(function*() {
        const { client, login, oauth } = yield* world({ lifetimes: { accessToken: "10 minutes" } }, {}, [revision])
        assert.deepInclude(yield* client.callTool("read"), { content: [{ type: "text", text: "read" }] })
        assert.strictEqual((yield* client.server).revision.version, revision)
        assert.strictEqual(yield* login.count("authorize"), 1)
        yield* client.callTool("write")
        assert.strictEqual(yield* login.count("authorize"), 2)
        const status = yield* oauth.status
        assert.isTrue(status._tag === "LoggedIn")
        if (status._tag === "LoggedIn") assert.includeMembers([...status.scopes], ["notes:read", "notes:write"])
        yield* TestClock.adjust("1 hour")
        yield* client.callTool("write")
        assert.strictEqual(yield* login.count("authorize"), 2)
        assert.strictEqual(yield* login.count("register"), 1)
        yield* oauth.logout
        assert.isAtLeast(yield* login.count("revoke"), 1)
      }))
  }

  it.effect("[ACL-18] [ACL-19] [field AUT-23] an answer of another issuer ends the connecting, and no code is exchanged", () =>
    Effect.gen(function*() {
      const { client, login } = yield* world()
      yield* login.fault("consent", { change: { iss: "https://evil.example" } })
      const reason = found(yield* Effect.flip(client.callTool("read")))
      assert.deepInclude(reason, { _tag: "CallbackRejected", parameter: "iss", fault: "wrong" })
      assert.strictEqual(yield* login.count("token"), 0)
    }))

  it.effect("[ACL-14] [field AUT-14] a server that does not say that it knows PKCE gets nobody's login", () =>
    Effect.gen(function*() {
      const { client, login } = yield* world({ metadata: { code_challenge_methods_supported: undefined } })
      assert.deepInclude(found(yield* Effect.flip(client.callTool("read"))), { _tag: "InsecureServer", why: "pkce" })
      assert.strictEqual(yield* login.count("authorize"), 0)
    }))

  it.effect("a person who refuses is told of at once", () =>
    Effect.gen(function*() {
      const { client, login, oauth } = yield* world()
      yield* login.setConsent("deny")
      assert.deepInclude(found(yield* Effect.flip(client.callTool("read"))), {
        _tag: "LoginDenied",
        error: "access_denied"
      })
      assert.strictEqual((yield* oauth.status)._tag, "NeedsLogin")
    }))
})

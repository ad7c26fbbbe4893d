/** Our own server, for those alone who come with a token of an authorization server, on a loopback port. */
import { ResourceServer, type TokenVerifier, TokenVerifierIntrospection, TokenVerifierJwt } from "@mcpfx/auth"
import { Tool } from "@mcpfx/schema"
import { McpServer } from "@mcpfx/server"
import { TestAuthorizationServer } from "@mcpfx/testing"
import { Principal } from "@mcpfx/transport"
import { Context, Effect, Exit, Layer, Option, Redacted, Scope } from "effect"
import { FetchHttpClient, HttpRouter, HttpServer } from "effect/http"
import { NetAddress } from "effect/net"
import * as LoopbackServer from "../../loopbackServer.ts"
import type { Listening } from "./loopback.ts"
import { introspector, scopes } from "./oidcPeer.ts"
import { whoami } from "./sdk1Guarded.ts"

const [read, write] = scopes

/** A tool that needs more than the server does. */
export const writing = "write"

/** How tokens are checked: by their signature, or by asking the issuer. */
export type Checking = "jwt" | "introspection"

const verifier = (issuer: string, checking: Checking): Layer.Layer<TokenVerifier.TokenVerifier, unknown> => {
  const client = { method: "basic", id: introspector.id, secret: Redacted.make(introspector.secret) } as const
  return Layer.provide(
    checking === "jwt"
      // Nothing is remembered, as the tests change keys faster than anybody should.
      ? TokenVerifierJwt.layer({ issuer, cooldown: 0, keyLife: 0, cacheLife: 0 })
      : TokenVerifierIntrospection.layer({ issuer, client, cacheLife: 0 }),
    FetchHttpClient.layer
  )
}

/** The caller as `["client", ["scope"], "subject"]`. */
const caller = Effect.map(
  Principal.CurrentPrincipal,
  Option.match({
    onNone: () => "nobody",
    onSome: ({ clientId, scopes, subject }) => JSON.stringify([clientId, scopes, subject])
  })
)

const Registrations = Layer.mergeAll(
  McpServer.tool(Tool.make(whoami), () => caller),
  McpServer.tool(Tool.make(writing), () => caller, { scopes: [write] })
)

const Port = LoopbackServer.layer()

const originOf = (server: HttpServer.HttpServer["Service"]): string => {
  const { address } = server
  if (NetAddress.isUnixPathAddress(address)) throw new Error("it listens at no port")
  return `http://127.0.0.1:${address.port}`
}

const started = async <I>(layer: Layer.Layer<I | HttpServer.HttpServer, unknown>) => {
  const scope = Effect.runSync(Scope.make())
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  const origin = originOf(Context.get(context, HttpServer.HttpServer))
  return { context, origin, close: () => Effect.runPromise(Scope.close(scope, Exit.void)) }
}

export interface Options {
  readonly checking?: Checking
  readonly dpop?: ResourceServer.DpopMode | ResourceServer.DpopOptions
  /** Whether who may write may read too. By default it does. */
  readonly writersRead?: boolean
}

/** Serves `/mcp`, of every revision, to callers who may read. */
export const startGuarded = (
  issuer: string,
  { checking = "jwt", dpop = "off", writersRead = true }: Options = {}
): Promise<Listening> => {
  const routes = ResourceServer.layer(
    { path: "/mcp", scopes: [read], implies: (scope) => writersRead && scope === write ? [read] : [], dpop },
    (middleware) => McpServer.layerHttp(Registrations, { name: "guarded", version: "1.0.0", path: "/mcp", middleware })
  )
  const served = McpServer.drainFirst(HttpRouter.serve(routes, { disableListenLog: true, disableLogger: true }))
  return started(served.pipe(Layer.provide(verifier(issuer, checking)), Layer.provideMerge(Port)))
}

export interface TestAuthority extends Listening {
  readonly server: TestAuthorizationServer.TestAuthorizationServer["Service"]
}

/** The authorization server of `@mcpfx/testing`. */
export const startTestAuthority = async (options: TestAuthorizationServer.Options): Promise<TestAuthority> => {
  const { context, ...running } = await started(
    Layer.provideMerge(TestAuthorizationServer.layerHttp({ scopes, ...options }), Port)
  )
  return { ...running, server: Context.get(context, TestAuthorizationServer.TestAuthorizationServer) }
}

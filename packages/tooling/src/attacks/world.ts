/** A protected server, the authorization server that it trusts, and clients of both: the whole of it, as users put it together. */
import {
  AuthError,
  AuthorizationCode,
  type Grant,
  OAuthClient,
  ResourceServer,
  TokenStore,
  TokenVerifierJwt,
  UserAgent
} from "@mcpfx/auth"
import { McpClient, Negotiation } from "@mcpfx/client"
import { Tool } from "@mcpfx/schema"
import { Input, McpServer } from "@mcpfx/server"
import { Progress } from "@mcpfx/session"
import { TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
import { EventStore } from "@mcpfx/transport"
import { Context, Effect, Layer, Option, Redacted, Schema, Tracer } from "effect"
import { HttpClient } from "effect/http"
import { Network } from "./network.ts"

export const mcpOrigin = "https://mcp.test"
export const mcpUrl = `${mcpOrigin}/mcp`
export const issuer = "https://login.test"
export const evil = "https://evil.test"
export const resourceMetadata = `${mcpOrigin}/.well-known/oauth-protected-resource/mcp`
/** Where metadata is looked for next. */
export const rootMetadata = `${mcpOrigin}/.well-known/oauth-protected-resource`
export const openIdMetadata = `${issuer}/.well-known/openid-configuration`
export const serverMetadata = `${issuer}/.well-known/oauth-authorization-server`
export const tokenUrl = `${issuer}/token`

export type Authority = TestAuthorizationServer.TestAuthorizationServer["Service"]

export const Add = Tool.make("add", {
  input: { a: Schema.Finite, b: Schema.Finite },
  output: { sum: Schema.Finite }
})

const Registrations = Layer.mergeAll(
  McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b })),
  McpServer.tool(
    Tool.make("ask", { input: {}, asks: ["elicitation.form"] }),
    () => Effect.map(Input.elicit("Sure?", Schema.Struct({ yes: Schema.Boolean })), ({ yes }) => yes ? "yes" : "no")
  ),
  McpServer.tool(Tool.make("job", { input: {}, task: "may" }), () => Effect.as(Effect.sleep("1 hour"), "done")),
  McpServer.tool(Tool.make("talk", { input: {} }), () => Effect.as(Progress.report({ progress: 1 }), "talked"))
)

/** What the authorization server traces is its own. */
const elsewhere = Tracer.make({ span: (options) => new Tracer.NativeSpan(options) })

export interface WorldOptions {
  readonly authority?: TestAuthorizationServer.Options
  readonly resource?: Partial<ResourceServer.Options>
}

export interface World {
  readonly network: Network
  /** What the server itself fetches. */
  readonly inside: Network
  readonly login: Authority
}

/** The server at `mcpUrl`, which trusts `issuer`, both in one network. */
export const make = (options: WorldOptions = {}) =>
  Effect.gen(function*() {
    const login = yield* TestAuthorizationServer.make({
      scopes: ["sums"],
      refresh: "always",
      ...options.authority
    }).pipe(Effect.provideService(Tracer.Tracer, elsewhere))
    const Routes = ResourceServer.layer({ resource: mcpUrl, scopes: ["sums"], ...options.resource }, (protect) =>
      McpServer.layerHttp(Registrations, {
        name: "sums",
        version: "1.0.0",
        allowedHosts: ["mcp.test"],
        middleware: protect,
        requestState: { keys: [Redacted.make("0123456789abcdef0123456789abcdef")] }
      })).pipe(Layer.provide(Layer.fresh(EventStore.layerMemory)))
    const network = new Network({ resources: [mcpOrigin], issuers: [login.issuer] })
    network.host(new URL(login.issuer).origin, login.client)
    const inside = new Network({ resources: [], issuers: [login.issuer] })
    inside.host(new URL(login.issuer).origin, login.client)
    const Verifier = TokenVerifierJwt.layer({ issuer: login.issuer }).pipe(
      Layer.provide(Layer.succeed(HttpClient.HttpClient, inside.client))
    )
    network.host(mcpOrigin, yield* TestNetwork.serve(Layer.provide(Routes, Verifier)))
    const world: World = { network, inside, login }
    return world
  })

export interface ClientOptions extends Partial<Omit<OAuthClient.Options<UserAgent.UserAgent>, "grant">> {
  readonly grant?: Grant.Grant<UserAgent.UserAgent> | Grant.Grant
  readonly agent?: UserAgent.UserAgent["Service"]
  readonly store?: TokenStore.TokenStore["Service"]
  /** In place of the network's. */
  readonly http?: HttpClient.HttpClient
}

export interface Client {
  readonly http: HttpClient.HttpClient
  readonly oauth: OAuthClient.OAuthClient["Service"]
}

const layerOf = ({ login, network }: World, options: ClientOptions) => {
  const { agent = login.userAgent(), grant = AuthorizationCode.grant(), http = network.client, store, ...rest } =
    options
  return OAuthClient.layer<UserAgent.UserAgent>({ url: mcpUrl, grant, ...rest }).pipe(
    Layer.provide(Layer.succeed(UserAgent.UserAgent, agent)),
    Layer.provide(Layer.succeed(HttpClient.HttpClient, http)),
    Layer.provide(store === undefined ? Layer.empty : Layer.succeed(TokenStore.TokenStore, store))
  )
}

/** The HTTP client that logs in. */
export const authorize = (world: World, options: ClientOptions = {}) =>
  Effect.map(Layer.build(layerOf(world, options)), (context): Client => ({
    http: Context.get(context, HttpClient.HttpClient),
    oauth: Context.get(context, OAuthClient.OAuthClient)
  }))

/** The MCP client on top of it. */
export const connect = (world: World, options: ClientOptions = {}) =>
  Effect.map(
    Layer.build(
      McpClient.layerHttp({ url: String(options.url ?? mcpUrl) }).pipe(
        Layer.provideMerge(layerOf(world, options)),
        Layer.provide(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))
      )
    ),
    (context) => ({
      mcp: Context.get(context, McpClient.McpClient),
      oauth: Context.get(context, OAuthClient.OAuthClient)
    })
  )

/** What a reason says, without what every error has. */
export const fieldsOf = (reason: AuthError.Reason): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(reason))

/** What is at the bottom of a failure; whatever else fails is a defect of the test. */
export const reasonOf = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<AuthError.Reason, A, R> =>
  Effect.flatMap(Effect.flip(effect), (error) =>
    Option.match(AuthError.find(error), {
      onNone: () => Effect.die(error),
      onSome: ({ reason }) => Effect.succeed(reason)
    }))

/** A browser that changes what comes back from the login, or goes somewhere else altogether. */
export const browserWith = (
  { login }: Pick<World, "login">,
  change: (answer: URL, page: URL) => URL | Effect.Effect<URL, AuthError.AuthError>
): UserAgent.UserAgent["Service"] => {
  const real = login.userAgent()
  return {
    redirectUris: real.redirectUris,
    visit: (registered) =>
      Effect.map(real.visit(registered), (visit) => ({
        redirectUri: visit.redirectUri,
        open: (page, who) =>
          // A browser has a trace of its own, if any.
          Effect.flatMap(
            Effect.provideService(visit.open(page, who), HttpClient.TracerDisabledWhen, () => true),
            (answer) => {
              const changed = change(answer, page)
              return Effect.isEffect(changed) ? changed : Effect.succeed(changed)
            }
          )
      }))
  }
}

/** A browser that answers at once, without a look at the page. */
export const answering = (
  answer: (page: URL, redirectUri: string) => URL | Effect.Effect<URL, AuthError.AuthError>
): UserAgent.UserAgent["Service"] & { readonly opened: ReadonlyArray<URL> } => {
  const redirectUri = "http://127.0.0.1:8976/callback"
  const opened: Array<URL> = []
  return {
    opened,
    redirectUris: [redirectUri],
    visit: (registered) => {
      const address = registered?.[0] ?? redirectUri
      return Effect.succeed({
        redirectUri: address,
        open: (page) =>
          Effect.suspend(() => {
            opened.push(page)
            const answered = answer(page, address)
            return Effect.isEffect(answered) ? answered : Effect.succeed(answered)
          })
      })
    }
  }
}

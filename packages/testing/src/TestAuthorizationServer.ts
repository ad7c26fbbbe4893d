/**
 * A real small authorization server for tests of servers and clients that need logins: codes with PKCE, refresh with
 * rotation, client credentials, device logins, assertions and their exchange, proofs of possession, registration, metadata
 * documents of clients, introspection, revocation and keys, with scripted faults for each.
 *
 * **Not for production.** It keeps everything in memory, knows no passwords, logs in whoever comes, shows all secrets to the
 * test, and can be told to misbehave.
 *
 * It runs without a port, as the server of an `HttpClient` (`make`, `layer`), on the port of an `HttpServer` (`layerHttp`),
 * and on a router beside other routes (`layerRoutes`). All its time is that of the Clock.
 *
 * **Example** (A login, without a port and without a browser)
 *
 * ```ts
 * import { TestAuthorizationServer } from "@mcpfx/testing"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* TestAuthorizationServer.TestAuthorizationServer
 *   yield* server.register({ clientId: "app", redirectUris: ["http://127.0.0.1/callback"] })
 *   const tokens = yield* server.login({ clientId: "app", scopes: ["notes"], resource: "https://mcp.test/mcp" })
 *   return [tokens.token_type, tokens.scope, yield* server.count("token")]
 * })
 * const Login = TestAuthorizationServer.layer({ scopes: ["notes"] })
 * await Effect.runPromise(Effect.provide(program, Login)) // => ["Bearer", "notes", 1]
 * ```
 *
 * @since 0.1.0
 */
import type { AuthError } from "@mcpfx/auth/AuthError"
import { UserAgent } from "@mcpfx/auth/UserAgent"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServer from "effect/http/HttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as NetAddress from "effect/net/NetAddress"
import type { JSONWebKeySet } from "jose"
import type { Fault } from "./AuthorizationFault.ts"
import * as Browser from "./internal/authorization/browser.ts"
import { fromOptions } from "./internal/authorization/clientRecord.ts"
import * as Control from "./internal/authorization/control.ts"
import * as Keys from "./internal/authorization/keys.ts"
import * as Login from "./internal/authorization/login.ts"
import type * as Model from "./internal/authorization/model.ts"
import * as Paths from "./internal/authorization/paths.ts"
import * as Routes from "./internal/authorization/routes.ts"
import { script } from "./internal/authorization/script.ts"
import * as State from "./internal/authorization/state.ts"
import { clientOfRouter, orNotFound } from "./internal/routerClient.ts"
import type { Unexpected } from "./TestError.ts"

export { type LoginRequest, TokenAnswer } from "./internal/authorization/login.ts"
export type {
  BrowserOptions,
  ClientOptions,
  Consent,
  Endpoint,
  Lifetimes,
  Options,
  Seen,
  TokenSpec,
  TrustedIssuer,
  User,
  UserAgentOptions,
  WellKnown
} from "./internal/authorization/model.ts"

/**
 * The server, and what a test can see of it and do to it.
 *
 * @category services
 * @since 0.1.0
 */
export class TestAuthorizationServer extends Context.Service<TestAuthorizationServer, {
  readonly issuer: string
  /** The address of an endpoint; `metadata` is that of RFC 8414. */
  readonly url: (endpoint: { [E in Model.Endpoint]: E }[Model.Endpoint]) => string
  /** Reaches the server without a port, and nothing else. */
  readonly client: HttpClient.HttpClient
  /** The browser of somebody who consents, or does not: in memory, unless it is given a client. */
  readonly userAgent: (options?: Model.UserAgentOptions) => UserAgent["Service"]
  /** A whole login by code, through the consent page, as a client without a library would do it. */
  readonly login: (
    request?: Login.LoginRequest,
    agent?: Model.UserAgentOptions
  ) => Effect.Effect<Login.TokenAnswer, AuthError | Unexpected>

  /** Makes a client known. One of the same id is replaced. */
  readonly register: (client: Model.ClientOptions) => Effect.Effect<void>
  /** Forgets a client: its requests are `invalid_client` from then on. */
  readonly forget: (clientId: string) => Effect.Effect<void>
  readonly users: ReadonlyArray<Model.User>

  /** The requests that came, the oldest first; the last 10,000. */
  readonly requests: Effect.Effect<ReadonlyArray<Model.Seen>>
  /** How many requests came to an endpoint. */
  readonly count: (endpoint: { [E in Model.Endpoint]: E }[Model.Endpoint]) => Effect.Effect<number>
  /** Forgets which requests came. */
  readonly clearRequests: Effect.Effect<void>

  /**
   * Scripts the next answers of an endpoint, after those that are scripted already. One that nobody could be sent, such as
   * one with the status 999, ends the test here.
   */
  readonly fault: (
    endpoint: { [E in Model.Endpoint]: E }[Model.Endpoint],
    ...faults: ReadonlyArray<Fault>
  ) => Effect.Effect<void>
  /** Takes back what is scripted and did not happen. */
  readonly clearFaults: Effect.Effect<void>
  /** Changes the metadata from now on, in place of earlier changes; `undefined` leaves a member out. */
  readonly changeMetadata: (changes: Readonly<Record<string, unknown>>) => Effect.Effect<void>
  /**
   * How logins are answered from now on, and who logs in where nobody is asked: by default who the `login_hint` names, else
   * the first user. Fails where there is no such user.
   */
  readonly setConsent: (consent: Model.Consent, user?: string) => Effect.Effect<void, Unexpected>

  /** The public keys as they are published. */
  readonly jwks: Effect.Effect<JSONWebKeySet>
  /** Signs with a new key from now on. Earlier ones stay published unless `keep` is false. */
  readonly rotateKeys: (options?: { readonly keep?: boolean | undefined }) => Effect.Effect<void>
  /**
   * A token for tests of resource servers, which no client asked for: good for the `resources` and `scopes` of the server,
   * unless `spec` says otherwise, and as wrong as a test wants it. Where tokens are opaque it is opaque too, unless its
   * header or signature is to be another; those that ask by introspection are told of it.
   */
  readonly issueToken: (spec?: Model.TokenSpec) => Effect.Effect<string>
  /** An id token of a user for a client. */
  readonly issueIdToken: (
    spec: {
      readonly clientId: string
      readonly user?: string | undefined
      readonly claims?: Readonly<Record<string, unknown>> | undefined
    }
  ) => Effect.Effect<string, Unexpected>
  /** Ends a token, a refresh token with all that came of its login, or everything a client has. */
  readonly revoke: (what: string | { readonly clientId: string }) => Effect.Effect<void>
  /** Ends all access tokens for those who ask by introspection. A JWT says itself how long it is good: move the clock. */
  readonly expireTokens: Effect.Effect<void>

  /** Somebody enters the code of a device and agrees. */
  readonly approveDevice: (userCode: string, user?: string) => Effect.Effect<void, Unexpected>
  /** Somebody enters the code of a device and refuses. */
  readonly denyDevice: (userCode: string) => Effect.Effect<void, Unexpected>
  /** Proofs of possession have to have another nonce from now on. */
  readonly rotateNonce: Effect.Effect<void>
}>()("@mcpfx/testing/TestAuthorizationServer") {}

/** What a test does to tokens, keys and devices. */
const controls = (state: State.State) => ({
  jwks: Effect.sync(() => Keys.jwks(state.keys)),
  rotateKeys: ({ keep = true } = {}) => Control.rotateKeys(state, keep),
  issueToken: (spec = {}) => Control.issueToken(state, spec),
  issueIdToken: (spec) => Control.issueIdToken(state, spec),
  revoke: (what) => Effect.sync(() => Control.revoke(state, what)),
  expireTokens: Effect.sync(() => Control.expireTokens(state)),
  approveDevice: (userCode, user) => Control.answerDevice(state, userCode, { user }),
  denyDevice: (userCode) => Control.answerDevice(state, userCode, "denied"),
  rotateNonce: Effect.map(state.random, (nonce) => void (state.nonce = nonce))
} satisfies Partial<TestAuthorizationServer["Service"]>)

const of = (state: State.State, client: HttpClient.HttpClient): TestAuthorizationServer["Service"] => {
  const userAgent: TestAuthorizationServer["Service"]["userAgent"] = (options) => Browser.make(client, options)
  return {
    ...controls(state),
    issuer: state.issuer,
    url: (endpoint) =>
      endpoint === "metadata"
        ? new URL(`/.well-known/oauth-authorization-server${state.base}`, state.issuer).href
        : Paths.at(state, endpoint),
    client,
    userAgent,
    login: (request = {}, agent) =>
      Login.login(state, client, userAgent(agent), request, agent?.redirectUri !== undefined),
    register: (options) => Effect.sync(() => state.clients.set(options.clientId, fromOptions(options))),
    forget: (clientId) => Effect.sync(() => void (state.clients.delete(clientId) || state.documents.delete(clientId))),
    users: state.users,
    requests: Effect.sync(() => [...state.seen]),
    count: (endpoint) => Effect.sync(() => state.counts.get(endpoint) ?? 0),
    clearRequests: Effect.sync(() => {
      state.seen.length = 0
      state.counts.clear()
    }),
    fault: (endpoint, ...faults) => script(state, endpoint, faults),
    clearFaults: Effect.sync(() => state.faults.clear()),
    changeMetadata: (changes) => Effect.sync(() => void (state.metadata = changes)),
    setConsent: (consent, user) => Control.setConsent(state, consent, user)
  }
}

const build = (
  issuer: string,
  options: Model.Options
): Effect.Effect<{ readonly state: State.State; readonly service: TestAuthorizationServer["Service"] }> =>
  Effect.gen(function*() {
    const state = yield* State.make(issuer, options)
    const router = yield* HttpRouter.make
    yield* Routes.addTo(router, state)
    return { state, service: of(state, yield* clientOfRouter(router)) }
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto))

/**
 * A server without a port. Its state goes with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Model.Options = {}): Effect.Effect<TestAuthorizationServer["Service"]> =>
  Effect.map(build(options.issuer ?? "https://login.test", options), ({ service }) => service)

/**
 * A server without a port. Every layer is a server of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Model.Options): Layer.Layer<TestAuthorizationServer> =>
  Layer.effect(TestAuthorizationServer, make(options))

const issuerOf = (address: NetAddress.SocketAddress): Effect.Effect<string> =>
  Effect.gen(function*() {
    if (NetAddress.isUnixPathAddress(address)) return yield* Effect.die(new Error("an issuer needs a TCP port"))
    const url = yield* Effect.orDie(Effect.fromResult(NetAddress.toUrl(address)))
    if (NetAddress.isUnspecified(address.address)) url.hostname = "127.0.0.1"
    return url.origin
  })

/**
 * An app until it is told to end: then whoever waits for an answer, a scripted delay for one, is told to go, so that the
 * port is not held open for them.
 */
const until = (
  app: ReturnType<typeof orNotFound>,
  end: Deferred.Deferred<void>
): ReturnType<typeof orNotFound> =>
  Effect.raceFirst(
    app,
    Effect.as(Deferred.await(end), HttpServerResponse.empty({ status: 503, headers: { connection: "close" } }))
  )

/**
 * A server on the port of an `HttpServer`, by default under the address that this listens at. Bind it to the loopback
 * interface: it logs in whoever comes. When its scope ends, so do the requests that it has not answered.
 *
 * Programs elsewhere log in with a browser of their own, or with {@link layerBrowser}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (
  options: Model.Options = {}
): Layer.Layer<TestAuthorizationServer, never, HttpServer.HttpServer> =>
  Layer.effect(
    TestAuthorizationServer,
    Effect.gen(function*() {
      const server = yield* HttpServer.HttpServer
      const issuer = options.issuer ?? (yield* issuerOf(server.address))
      const { service, state } = yield* build(issuer, options)
      const router = yield* HttpRouter.make
      yield* Routes.addTo(router, state)
      const end = yield* Deferred.make<void>()
      yield* server.serve(until(orNotFound(router), end))
      yield* Effect.addFinalizer(() => Deferred.succeed(end, undefined))
      return service
    })
  )

/**
 * A server on the routes of an app, for those that are their own authorization server, as in 2025-03-26, and for more than
 * one at one port: each with an issuer, whose path its routes begin with.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerRoutes = (
  options: Model.Options & { readonly issuer: string }
): Layer.Layer<TestAuthorizationServer, never, HttpRouter.HttpRouter> =>
  Layer.effect(
    TestAuthorizationServer,
    Effect.gen(function*() {
      const { service, state } = yield* build(options.issuer, options)
      yield* Routes.addTo(yield* HttpRouter.HttpRouter, state)
      return service
    })
  )

/**
 * The browser of the server in the context, as the user agent of logins. A program that has no such server, as it runs
 * elsewhere, takes {@link layerBrowser}.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerUserAgent = (
  options?: Model.UserAgentOptions
): Layer.Layer<UserAgent, never, TestAuthorizationServer> =>
  Layer.effect(UserAgent, Effect.map(TestAuthorizationServer, (server) => server.userAgent(options)))

/**
 * A browser that reaches the server through the `HttpClient` of the context, as the user agent of logins: for clients in one
 * process and a server of {@link layerHttp} in another. It follows redirects, keeps cookies, answers the consent page as a
 * person would, and stops where the login comes back to, so that nothing needs to listen there.
 *
 * **Example** (A client of a server elsewhere)
 *
 * ```ts
 * import { AuthorizationCode, OAuthClient } from "@mcpfx/auth"
 * import { McpClient } from "@mcpfx/client"
 * import { TestAuthorizationServer } from "@mcpfx/testing"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const url = "http://127.0.0.1:3000/mcp"
 *
 * export const Client = McpClient.layerHttp({ url }).pipe(
 *   Layer.provide(OAuthClient.layer({ url, grant: AuthorizationCode.grant() })),
 *   Layer.provide(TestAuthorizationServer.layerBrowser({ user: "ada" })),
 *   Layer.provide(FetchHttpClient.layer)
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerBrowser = (options?: Model.BrowserOptions): Layer.Layer<UserAgent, never, HttpClient.HttpClient> =>
  Layer.effect(UserAgent, Effect.map(HttpClient.HttpClient, (client) => Browser.make(client, options)))

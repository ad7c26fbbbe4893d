/**
 * An HTTP client that logs in: it carries tokens to one server and answers what the server says about them, by discovery,
 * registration, a grant and refresh.
 *
 * Put it between `McpClient.layerHttp` and an HTTP client. Tokens go to the origin of `url` and nowhere else; everything that
 * logging in needs goes through the same HTTP client (field AUT-22). What fails comes out of requests as the failure of the
 * HTTP client, with an `AuthError` as its cause: `AuthError.find` finds it in whatever it has become above.
 *
 * While somebody is asked to log in, no deadline of an MCP client that is built on this one runs
 * (`Patience` of `@mcpfx/transport`).
 *
 * **Example** (A machine that logs in with a secret)
 *
 * ```ts
 * import { ClientCredentials, OAuthClient } from "@mcpfx/auth"
 * import { Effect, Layer, Redacted } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const Live = OAuthClient.layer({
 *   url: "https://mcp.example.com/mcp",
 *   grant: ClientCredentials.grant({
 *     client: { issuer: "https://login.example.com", clientId: "batch", clientSecret: Redacted.make("s3cret") }
 *   })
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 *
 * const status = Effect.flatMap(OAuthClient.OAuthClient, (oauth) => oauth.status)
 * const before = await Effect.runPromise(Effect.provide(status, Live))
 * before._tag // => "Anonymous"
 * ```
 *
 * @since 0.1.0
 */
import * as Patience from "@mcpfx/transport/Patience"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as AuthError from "./AuthError.ts"
import type { Dpop } from "./Dpop.ts"
import type { Grant } from "./Grant.ts"
import { Attachment } from "./internal/attach.ts"
import { Keeper, type Settings } from "./internal/keeper.ts"
import { millis } from "./internal/millis.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import * as Outbound from "./internal/outbound.ts"
import { challenge } from "./internal/probe.ts"
import { quoted } from "./internal/quoted.ts"
import { Renewal } from "./internal/renewal.ts"
import { isLoopback, isSecure } from "./internal/secureUrl.ts"
import { bareUrl } from "./internal/serverText.ts"
import * as Vault from "./internal/vault.ts"
import { watched } from "./internal/visits.ts"
import type { LoginStatus } from "./LoginStatus.ts"
import * as OutboundGuard from "./OutboundGuard.ts"
import * as TokenEndpoint from "./TokenEndpoint.ts"
import * as TokenStore from "./TokenStore.ts"
import { UserAgent } from "./UserAgent.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> {
  /** The server that tokens are for; they go to requests of its origin. */
  readonly url: string | URL
  /** How tokens are got. */
  readonly grant: Grant<R>
  /**
   * Scopes to ask for besides those that a challenge names, and in place of all that the server's metadata list. By default
   * what the challenge names, else all that the metadata list, else none (ACL-26).
   */
  readonly scopes?: ReadonlyArray<string> | undefined
  /**
   * Whether `offline_access` is asked for where the authorization server lists it and the grant refreshes (ACL-29); it is by
   * default.
   */
  readonly offlineAccess?: boolean | undefined
  /**
   * What a request does that cannot go on before somebody is asked: `login` asks, `fail` fails with `LoginRequired` or
   * `LoginExpired` and leaves it to a call of `login`. Grants that ask nobody go on in any case. Default `login`.
   *
   * With `fail` a client connects on first use (`lazy` of `McpClient`): its layer would fail before anybody can log in.
   */
  readonly onLoginNeeded?: "login" | "fail" | undefined
  /** How often one request may ask for more scopes. Default 3. */
  readonly maxStepUps?: number | undefined
  /**
   * How long before its end a token is refreshed, while it is still used; at most a tenth of the life it has left. Default 1
   * minute.
   */
  readonly refreshAhead?: Duration.Input | undefined
  /** How long it is remembered where to log in. Default 1 hour. */
  readonly discoveryLife?: Duration.Input | undefined
  /**
   * How long a failure is remembered: meanwhile requests that would need the same again fail with it at once. It doubles from
   * `first` (default 1 second) to `longest` (default 1 minute), which it is at once where somebody was asked in vain.
   */
  readonly backoff?: {
    readonly first?: Duration.Input | undefined
    readonly longest?: Duration.Input | undefined
  } | undefined
  /** Which authorization server of those that the server names; the first by default. */
  readonly chooseServer?: ((issuers: ReadonlyArray<string>) => string | undefined) | undefined
  /**
   * Whether the metadata of an authorization server that the server calls `named` may name the issuer `found` instead. Never
   * by default (ACL-05): for known providers only, whose answers differ from what servers call them (field AUT-05).
   */
  readonly trustIssuer?: ((named: string, found: string) => boolean) | undefined
  /** Tokens are bound to a key (RFC 9449). */
  readonly dpop?: Dpop | undefined
  /** The longest that one request to an authorization server, or for metadata, may take. Default 10 seconds. */
  readonly requestTimeout?: Duration.Input | undefined
  /** Bytes of the largest answer to such a request. Default 512 KiB. */
  readonly maxAnswerBytes?: number | undefined
}

/**
 * @category services
 * @since 0.1.0
 */
export class OAuthClient extends Context.Service<OAuthClient, {
  /** The status, with what the store has from an earlier run. */
  readonly status: Effect.Effect<LoginStatus>
  /** The status now and whenever it changes. */
  readonly changes: Stream.Stream<LoginStatus>
  /**
   * Logs in, whatever is held: with these scopes, with those that were granted before, and with those that requests lacked.
   * Somebody is asked if the grant asks. Fails with `StoreFailed` where all went well but the tokens could not be kept; they
   * are used all the same.
   */
  readonly login: (scopes?: ReadonlyArray<string>) => Effect.Effect<void, AuthError.AuthError>
  /**
   * Forgets the tokens, here and in the store, then revokes them where the authorization server has an endpoint for that
   * (RFC 7009). Where that fails they are forgotten all the same, and it is told.
   */
  readonly logout: Effect.Effect<void, AuthError.AuthError>
}>()("@mcpfx/auth/OAuthClient") {}

/** The grant with all it needs, while whose logins no deadline runs and the address of whose page is told. */
const bound = <R>(
  grant: Grant<R>,
  context: Context.Context<R>,
  patience: Patience.Patience,
  tell: (page: string) => Effect.Effect<void>
): Grant => {
  const agent = Context.getOption(context, UserAgent)
  const services = Option.isSome(agent) ? Context.add(context, UserAgent, watched(agent.value, tell)) : context
  return {
    ...grant,
    obtain: (request) => {
      const obtained = Effect.provideContext(grant.obtain(request), services)
      return grant.interactive ? patience.hold(obtained) : obtained
    },
    client: (request) => Effect.provideContext(grant.client(request), services)
  }
}

const check = (url: URL): Effect.Effect<void, AuthError.AuthError> =>
  isSecure(url)
    ? Effect.void
    : AuthError.fail(
      new AuthError.InsecureServer({ url: bareUrl(url.href), why: "scheme", detail: "it is not https" })
    )

/** To the server itself, which the program named, without a guard; to all others with one. */
const outboundOf = <R>(
  { maxAnswerBytes: maxBytes, requestTimeout: timeout }: Options<R>,
  client: HttpClient.HttpClient,
  guard: OutboundGuard.OutboundGuard,
  url: URL
): Outbound.Outbound => {
  const common = { client, policy: { loopback: isLoopback(url) }, maxBytes, timeout }
  const own = Outbound.make({ ...common, guard: { guard: (client) => client } })
  const others = Outbound.make({ ...common, guard })
  return {
    send: (request) =>
      Option.exists(HttpClientRequest.toUrl(request), ({ origin }) => origin === url.origin)
        ? own.send(request)
        : others.send(request)
  }
}

/** The service, the HTTP client, and the patience that deadlines have with logins. */
const make = Effect.fnUntraced(function*<R>(options: Options<R>) {
  const client = yield* HttpClient.HttpClient
  const context = yield* Effect.context<R>()
  const scope = yield* Effect.scope
  const url = Result.getOrUndefined(Result.try(() => new URL(options.url)))
  if (url === undefined) {
    return yield* misconfigured(`${quoted(String(options.url))}, the url of the server, is not a URL`)
  }
  yield* check(url)
  const patience = Patience.make()
  const given = yield* Effect.serviceOption(TokenStore.TokenStore)
  const store = Option.isSome(given)
    ? given.value
    : yield* TokenStore.makeMemory
  const status = yield* SubscriptionRef.make<LoginStatus>({ _tag: "Anonymous" })
  const outbound = outboundOf(options, client, yield* OutboundGuard.CurrentOutboundGuard, url)
  const settings: Settings = {
    url,
    grant: bound(options.grant, context, patience, (page) => keeper.visit(page)),
    scopes: options.scopes,
    offlineAccess: options.offlineAccess ?? true,
    asksLater: options.onLoginNeeded === "fail",
    maxStepUps: options.maxStepUps ?? 3,
    refreshAhead: millis(options.refreshAhead, "1 minute"),
    discoveryLife: millis(options.discoveryLife, "1 hour"),
    backoff: {
      first: millis(options.backoff?.first, "1 second"),
      longest: millis(options.backoff?.longest, "1 minute")
    },
    vault: Vault.make(store),
    discovery: {
      outbound,
      policy: { loopback: isLoopback(url) },
      url,
      chooseServer: options.chooseServer,
      trustIssuer: options.trustIssuer
    },
    endpoint: TokenEndpoint.make(outbound, options.dpop),
    dpop: options.dpop
  }
  const keeper = new Keeper(settings, status)
  const renewal = new Renewal(keeper, scope, Context.omit(Scope.Scope)(context))
  const loaded = Effect.ignore(renewal.load)
  const service: OAuthClient["Service"] = {
    status: Effect.andThen(loaded, SubscriptionRef.get(status)),
    changes: Stream.unwrap(Effect.as(loaded, SubscriptionRef.changes(status))),
    login: Effect.fn("OAuthClient.login")(function*(scopes = []) {
      // A store that cannot be read keeps nobody from a login.
      yield* loaded
      if (keeper.hint.resourceMetadata === undefined) yield* challenge(outbound, keeper)
      yield* renewal.login(scopes)
    }),
    logout: Effect.asVoid(Effect.withSpan(renewal.logout, "OAuthClient.logout"))
  }
  return Context.make(OAuthClient, service).pipe(
    Context.add(HttpClient.HttpClient, new Attachment(client, renewal).client),
    Context.add(Patience.CurrentPatience, patience)
  )
})

/**
 * The client that logs in, in the place of the one it is given.
 *
 * Tokens are kept in the `TokenStore` of the context, or in memory where there is none. Addresses that servers name are
 * fetched as far as the `OutboundGuard` in force lets them. Fails with `Misconfigured` where `url` is none, and with
 * `InsecureServer` where it is neither https nor on the loopback interface.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  options: Options<R>
): Layer.Layer<OAuthClient | HttpClient.HttpClient, AuthError.AuthError, HttpClient.HttpClient | R> =>
  Layer.effectContext(make(options))

/**
 * {@link layer} with options from the program's configuration, all of them or some.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = <R = never>(
  options: Config.Config<Options<R>>
): Layer.Layer<
  OAuthClient | HttpClient.HttpClient,
  AuthError.AuthError | Config.ConfigError,
  HttpClient.HttpClient | R
> => Layer.unwrap(Effect.map(options, layer))

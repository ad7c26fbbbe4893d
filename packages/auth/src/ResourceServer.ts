/**
 * Lets callers in that have a good token, and tells the others how to get one (ARS-02 to ARS-10).
 *
 * Each request is checked by its `Authorization` header before its body is read. The token goes no further: handlers get the
 * caller as `CurrentPrincipal`, and a request without the header.
 *
 * **Example** (A server for those who are logged in)
 *
 * ```ts
 * import { ResourceServer, TokenVerifier } from "@mcpfx/auth"
 * import { McpServer } from "@mcpfx/server"
 * import { Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const Routes = ResourceServer.layer(
 *   { resource: "https://mcp.example.com/mcp", scopes: ["notes:read"] },
 *   (protect) =>
 *     McpServer.layerHttp(Layer.empty, {
 *       name: "notes",
 *       version: "1.0.0",
 *       allowedHosts: ["mcp.example.com"],
 *       middleware: protect
 *     })
 * ).pipe(Layer.provide(TokenVerifier.layerStatic({
 *   tokens: { "t-ada": { subject: "ada" } },
 *   issuers: ["https://login.example.com"]
 * })))
 *
 * const { dispose, handler } = HttpRouter.toWebHandler(Routes, { disableLogger: true })
 * const response = await handler(new Request("https://mcp.example.com/mcp", { method: "POST" }))
 * response.headers.get("www-authenticate")
 * // => 'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp", scope="notes:read"'
 * await dispose()
 * ```
 *
 * @since 0.1.0
 */
import { WebCrypto } from "effect/crypto/WebCrypto"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Redacted from "effect/Redacted"
import type * as Types from "effect/Types"
import type * as AuthError from "./AuthError.ts"
import { FailedAttempts } from "./internal/failedAttempts.ts"
import { Gate } from "./internal/gate.ts"
import { asymmetric } from "./internal/keySet.ts"
import { millis } from "./internal/millis.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { Nonces } from "./internal/nonces.ts"
import { Proofs } from "./internal/proof.ts"
import { quoted } from "./internal/quoted.ts"
import * as Resource from "./internal/resource.ts"
import { offered, scopeFault } from "./internal/scopeRules.ts"
import * as ProofReplay from "./ProofReplay.ts"
import * as ProtectedResource from "./ProtectedResource.ts"
import { TokenVerifier } from "./TokenVerifier.ts"

/**
 * Tokens that are bound to a key, which each request has to prove (RFC 9449).
 *
 * - `off`: such tokens are refused, for without a proof they are stolen as easily as any other
 * - `accept`: they are taken with a proof, others without
 * - `require`: no others are taken
 *
 * @category models
 * @since 0.1.0
 */
export type DpopMode = "off" | "accept" | "require"

/**
 * @category models
 * @since 0.1.0
 */
export interface DpopOptions {
  readonly mode: DpopMode
  /** Algorithms of proofs. Default ES256, EdDSA and the others of public keys. */
  readonly algorithms?: ReadonlyArray<string> | undefined
  /** How old a proof may be. Default 1 minute. */
  readonly maxAge?: Duration.Input | undefined
  /** How far clocks may be apart. Default 30 seconds. */
  readonly clockSkew?: Duration.Input | undefined
  /** Wants a nonce of this server in each proof, a new one every `life` (5 minutes). Off by default. */
  readonly nonce?: {
    readonly life?: Duration.Input | undefined
    /** What nonces are made with, the same at all servers of one address. Random by default. */
    readonly secret?: Redacted.Redacted<string> | undefined
  } | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options<R = never> {
  /**
   * The address of the server as clients know it, which tokens have to be for: `https://mcp.example.com/mcp`. Left out, it is
   * made of the `Host` header and `path`, for names of the loopback interface alone; requests for any other host get a 403.
   */
  readonly resource?: string | undefined
  /**
   * Where the server lives, if there is no `resource`: the `path` of `McpServer.layerHttp`. Default `/mcp`. A path that is
   * served and is neither that of the resource nor below it is logged once as a warning: clients compare them.
   */
  readonly path?: `/${string}` | undefined
  /** More names under which a token may be for this server, besides `resource`. */
  readonly audience?: ReadonlyArray<string> | undefined
  /** What every request needs. Those that single tools, prompts and resources need are declared there. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** The scopes that one stands for besides itself, such as `notes:read` for `notes:write` (ARS-10). */
  readonly implies?: ((scope: string) => Iterable<string>) | undefined
  /** Lets callers in that present nothing, as nobody. A bad token is refused all the same. Default false. */
  readonly optional?: boolean | undefined
  /** Default `off`. */
  readonly dpop?: DpopMode | DpopOptions | undefined
  /** Keeps callers waiting that fail too often, see {@link attempts}. Off by default. */
  readonly attempts?: Effect.Effect<Attempts, never, R> | undefined
  /** Longest `Authorization` header that is looked at, characters. Default 16,384. */
  readonly maxTokenLength?: number | undefined
  /** After how long a client may try again when tokens cannot be verified. Default 5 seconds. */
  readonly retryAfter?: Duration.Input | undefined
}

/**
 * Callers that failed too often.
 *
 * @category models
 * @since 0.1.0
 */
export interface Attempts {
  /** Milliseconds that the caller has to wait before it may try; 0 for none. */
  readonly wait: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<number>
  /** Counts a failure; the same for the next attempt. */
  readonly failed: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<number>
}

/**
 * Keeps a caller waiting (429) once it has failed more than `limit` times in a `window`. How a caller is known, only the
 * program can say: an address may be that of a proxy. Requests without a key are never kept waiting.
 *
 * The counts are those of Effect's `RateLimiter`; its store in memory keeps a row for each key that ever failed, so a public
 * server had better count in Redis.
 *
 * @category constructors
 * @since 0.1.0
 */
export const attempts = (options: {
  readonly key: (request: HttpServerRequest.HttpServerRequest) => Option.Option<string>
  readonly limit: number
  readonly window: Duration.Input
}): Effect.Effect<Attempts, never, RateLimiter.RateLimiter> =>
  Effect.map(RateLimiter.RateLimiter, (limiter) => new FailedAttempts({ ...options, limiter }))

/**
 * Protects an application: what it is given runs only for callers that may come in. Where {@link layer} gives it, it has to be
 * called while the routes are built.
 *
 * @category models
 * @since 0.1.0
 */
export interface Protect {
  <E, R>(
    app: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpServerRequest.HttpServerRequest>
}

type App = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>

const dpopOf = <R>({ dpop = "off" }: Options<R>): DpopOptions => typeof dpop === "string" ? { mode: dpop } : dpop

const algorithmsOf = ({ algorithms = asymmetric }: DpopOptions): ReadonlyArray<string> => algorithms

const faultOf = <R>(options: Options<R>): string | undefined => {
  const algorithm = algorithmsOf(dpopOf(options)).find((name) => !asymmetric.includes(name))
  if (algorithm !== undefined) return `dpop.algorithms: proofs cannot be signed with ${quoted(algorithm)}`
  return scopeFault(options.scopes) ?? Resource.fault(options.resource)
}

const secretOf = (secret: Redacted.Redacted<string> | undefined): Effect.Effect<Uint8Array<ArrayBuffer>> =>
  secret === undefined
    ? WebCrypto.use((crypto) => Effect.sync(() => crypto.getRandomValues(new Uint8Array(32))))
    : Effect.succeed(new TextEncoder().encode(Redacted.value(secret)))

const proofsOf = (dpop: DpopOptions): Effect.Effect<{ readonly proofs: Proofs; readonly nonces: Nonces | undefined }> =>
  Effect.gen(function*() {
    const replay = Option.getOrElse(
      yield* Effect.serviceOption(ProofReplay.ProofReplay),
      () => ProofReplay.makeMemory()
    )
    const nonces = dpop.nonce === undefined
      ? undefined
      : new Nonces(yield* secretOf(dpop.nonce.secret), millis(dpop.nonce.life, "5 minutes"))
    const proofs = new Proofs({
      algorithms: algorithmsOf(dpop),
      maxAge: millis(dpop.maxAge, "1 minute"),
      skew: millis(dpop.clockSkew, "30 seconds"),
      replay,
      nonces
    })
    return { proofs, nonces }
  })

/**
 * Makes what stands in front of an application: for the `middleware` option of `McpServer.layerHttp`, which runs it behind the
 * checks of `Host` and `Origin`.
 *
 * - No token, or another scheme: 401 with where to read how to get one, and the `scopes` to ask for.
 * - A token that is no good here, or none at all behind its scheme: 401 with `invalid_token` (field AUT-20).
 * - More than one token: 400.
 * - A token that lacks one of `scopes`: 403 with all of them. A challenge of the application itself, such as that of a tool
 *   with scopes of its own, gets the address of the metadata too (ARS-09), and `scopes` before its own (ARS-10).
 * - Nobody can say whether the token is good: 503.
 *
 * Where the verifier names no issuer nobody can log in, and challenges name no metadata.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <R = never>(
  options: Options<R> = {}
): Effect.Effect<Protect, AuthError.AuthError, TokenVerifier | R> =>
  Effect.flatMap(TokenVerifier, ({ issuers }) => makeFor(options, issuers.length > 0))

const makeFor = <R>(
  options: Options<R>,
  described: boolean
): Effect.Effect<Protect, AuthError.AuthError, TokenVerifier | R> =>
  Effect.gen(function*() {
    const detail = faultOf(options)
    if (detail !== undefined) return yield* misconfigured(detail)
    const dpop = dpopOf(options)
    const { audience = [], path = "/mcp" } = options
    const gate = new Gate({
      verifier: yield* TokenVerifier,
      locate: Resource.locate(options.resource, path, { audience, described }),
      scopes: offered(options.scopes ?? []),
      implies: options.implies,
      optional: options.optional ?? false,
      mode: dpop.mode,
      algorithms: algorithmsOf(dpop),
      attempts: options.attempts === undefined ? undefined : yield* options.attempts,
      maxTokenLength: options.maxTokenLength ?? 16_384,
      retryAfter: millis(options.retryAfter, "5 seconds"),
      ...(dpop.mode === "off" ? { proofs: undefined, nonces: undefined } : yield* proofsOf(dpop))
    })
    return (app) => gate.protect(app)
  })

/**
 * The same for any other routes: a middleware whose `layer` is provided to them. Preflights pass.
 *
 * @category constructors
 * @since 0.1.0
 */
export const middleware = <R = never>(
  options: Options<R> = {}
): HttpRouter.Middleware<{
  readonly provides: never
  readonly handles: never
  readonly error: never
  readonly requires: never
  readonly layerError: AuthError.AuthError
  readonly layerRequires: TokenVerifier | R
}> => HttpRouter.middleware(Effect.map(make(options), (protect) => (app: App) => protect(app)))

/**
 * {@link Options}, and what the metadata tell.
 *
 * @category models
 * @since 0.1.0
 */
export interface LayerOptions<R = never> extends Options<R> {
  /** What is said to those who ask: names, pages, and other scopes to begin with than `scopes`. */
  readonly metadata?:
    | Omit<ProtectedResource.Options, "resource" | "path" | "dpop">
    | undefined
}

/**
 * The whole of it: the routes that `serve` makes with what protects them, and the metadata that tell clients where to log in.
 * Where neither the verifier nor `metadata.authorizationServers` names an authorization server there are no metadata, for
 * nobody could log in by them.
 *
 * It fails as `Misconfigured` where the options cannot be meant, and where nothing that `serve` built was given to `protect`:
 * forgetting that would leave the server open. Use {@link make} for what calls it later, such as per request.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <A, E, R1, R = never>(
  options: LayerOptions<R>,
  serve: (protect: Protect) => Layer.Layer<A, E, R1>
): Layer.Layer<A, E | AuthError.AuthError, R1 | R | TokenVerifier | HttpRouter.HttpRouter> => {
  const dpop = dpopOf(options)
  const metadata = ProtectedResource.layer({
    scopes: options.scopes,
    ...options.metadata,
    resource: options.resource,
    path: options.path,
    dpop: dpop.mode === "off"
      ? undefined
      : { algorithms: algorithmsOf(dpop), required: dpop.mode === "require" }
  })
  return Layer.unwrap(Effect.gen(function*() {
    const { issuers } = yield* TokenVerifier
    const described = options.metadata?.authorizationServers !== undefined || issuers.length > 0
    const routes = applied(yield* makeFor(options, described), serve)
    return described ? Layer.merge(metadata, routes) : routes
  }))
}

/** The routes, if what they are made of was protected: forgetting it would show in nothing but who comes in. */
const applied = <A, E, R>(
  protect: Protect,
  serve: (protect: Protect) => Layer.Layer<A, E, R>
): Layer.Layer<A, E | AuthError.AuthError, R> => {
  let called = false
  const noticing: Protect = (app) => {
    called = true
    return protect(app)
  }
  return Layer.tap(serve(noticing), () =>
    Effect.suspend(() =>
      called ? Effect.void : misconfigured(
        "protect was not called while the routes were built, so nothing is protected: give it to McpServer.layerHttp as " +
          "middleware: protect"
      )
    ))
}

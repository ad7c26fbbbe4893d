/**
 * Tokens that say nothing by themselves: their issuer is asked about each (RFC 7662).
 *
 * What it says is kept for a short while, by the hash of the token: a token that was revoked is good here for as long as
 * `cacheLife` at most.
 *
 * **Example** (The layer of a server)
 *
 * ```ts
 * import { TokenVerifierIntrospection } from "@mcpfx/auth"
 * import { Layer, Redacted } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const Live = TokenVerifierIntrospection.layer({
 *   issuer: "https://login.example.com",
 *   client: { method: "basic", id: "mcp-server", secret: Redacted.make("…") }
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 * Layer.isLayer(Live) // => true
 * ```
 *
 * @since 0.1.0
 */
import type { Principal } from "@mcpfx/transport/Principal"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as AuthError from "./AuthError.ts"
import { Introspector } from "./internal/introspector.ts"
import * as IssuerMetadata from "./internal/issuerMetadata.ts"
import { millis } from "./internal/millis.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { TokenVerifier } from "./TokenVerifier.ts"

/**
 * What this server proves itself with to the introspection endpoint (RFC 7662, 2.1).
 *
 * @category models
 * @since 0.1.0
 */
export type Client =
  | { readonly method: "basic" | "post"; readonly id: string; readonly secret: Redacted.Redacted<string> }
  | { readonly method: "bearer"; readonly token: Redacted.Redacted<string> }

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Who has issued the tokens: what callers are known under, and what `iss` has to be where an answer has it. */
  readonly issuer: string
  readonly client: Client
  /** Where to ask. By default the issuer's metadata say. */
  readonly endpoint?: string | undefined
  /** More names of this server (ARS-07), compared as those of `TokenVerifierJwt` are. */
  readonly audience?: ReadonlyArray<string> | undefined
  /** How far clocks may be apart. Default 30 seconds. */
  readonly clockSkew?: Duration.Input | undefined
  /** How long a token that is good is taken without asking again, never past its end. Default 1 minute. */
  readonly cacheLife?: Duration.Input | undefined
  /** How long one that is not is refused without asking. Default 10 seconds. */
  readonly cacheLifeInactive?: Duration.Input | undefined
  /** Answers that are remembered. Default 10,000. */
  readonly cacheSize?: number | undefined
  /** Questions under way at once; past them verification is unavailable. Default 64. */
  readonly concurrency?: number | undefined
  /** How long a question may take. Default 5 seconds. */
  readonly timeout?: Duration.Input | undefined
  /** Makes the caller of an answer, see `TokenVerifierJwt.Rules.principal`. */
  readonly principal?:
    | ((claims: Readonly<Record<string, unknown>>, usual: Principal) => Principal | undefined)
    | undefined
}

/**
 * Asks the issuer about tokens. An answer has to name this server as audience: one that names nobody is not enough (ARS-07).
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Options
): Effect.Effect<TokenVerifier["Service"], AuthError.AuthError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const { endpoint, issuer } = options
    const fault = IssuerMetadata.addressFault("issuer", issuer) ??
      (endpoint === undefined ? undefined : IssuerMetadata.addressFault("endpoint", endpoint))
    if (fault !== undefined) return yield* misconfigured(fault)
    const out = yield* IssuerMetadata.outbound(endpoint ?? issuer, { timeout: options.timeout ?? "5 seconds" })
    const found = Effect.flatMap(
      IssuerMetadata.find(out, issuer),
      ({ introspection_endpoint }) =>
        introspection_endpoint === undefined
          ? AuthError.fail(new AuthError.NotSupported({ issuer, what: "introspection" }))
          : Effect.succeed(introspection_endpoint)
    )
    const introspector = new Introspector({
      issuer,
      out,
      find: endpoint === undefined ? found : Effect.succeed(endpoint),
      client: options.client,
      audience: options.audience ?? [],
      skew: millis(options.clockSkew, "30 seconds"),
      cacheLife: millis(options.cacheLife, "1 minute"),
      cacheLifeInactive: millis(options.cacheLifeInactive, "10 seconds"),
      cacheSize: options.cacheSize ?? 10_000,
      concurrency: options.concurrency ?? 64,
      principal: options.principal,
      scope: yield* Effect.scope
    })
    return TokenVerifier.of({
      issuers: [issuer],
      verify: (token, names) => introspector.verify(Redacted.value(token), names)
    })
  })

/**
 * {@link make} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<TokenVerifier, AuthError.AuthError, HttpClient.HttpClient> =>
  Layer.effect(TokenVerifier, make(options))

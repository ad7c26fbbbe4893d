/**
 * Tokens that are signed (RFC 9068): checked here, with the keys that their issuer publishes or that the program knows.
 *
 * A request costs one hash of its token while that is remembered, and one signature where it is not. Keys are fetched when
 * they are needed, at most once per `cooldown`, whatever key ids tokens name.
 *
 * **Example** (Who has signed with a secret that both know)
 *
 * ```ts
 * import { TokenVerifier, TokenVerifierJwt } from "@mcpfx/auth"
 * import { Effect, Redacted } from "effect"
 *
 * const Live = TokenVerifierJwt.layerKeys({
 *   issuer: "https://login.example.com",
 *   secret: Redacted.make("a secret of thirty-two characters")
 * })
 * const program = Effect.gen(function*() {
 *   const { verify } = yield* TokenVerifier.TokenVerifier
 *   const error = yield* Effect.flip(verify(Redacted.make("not a token"), ["https://mcp.example.com"]))
 *   return error._tag === "InvalidToken" ? error.reason : error.detail
 * })
 * await Effect.runPromise(Effect.provide(program, Live)) // => "malformed"
 * ```
 *
 * @since 0.1.0
 */
import type { Principal } from "@mcpfx/transport/Principal"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as AuthError from "./AuthError.ts"
import * as IssuerMetadata from "./internal/issuerMetadata.ts"
import { JwtVerifier, type Trusted } from "./internal/jwtVerifier.ts"
import * as keySet from "./internal/keySet.ts"
import { millis } from "./internal/millis.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { quoted } from "./internal/quoted.ts"
import { given, type KeySource, RemoteKeys } from "./internal/remoteKeys.ts"
import { TokenVerifier } from "./TokenVerifier.ts"

/**
 * What every token has to keep to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rules {
  /**
   * More names of this server, such as an identifier that the issuer made up for it (ARS-07): compared to the letter, but for
   * what makes no other server of a URL, such as a slash at its end.
   */
  readonly audience?: ReadonlyArray<string> | undefined
  /**
   * The algorithms that are taken. By default those with public keys: RS, PS and ES with 256, 384 and 512 bits, and EdDSA.
   * Where there is a secret it is HS256, and only HS256, HS384 and HS512 may be named.
   */
  readonly algorithms?: ReadonlyArray<string> | undefined
  /** How far clocks may be apart. Default 30 seconds. */
  readonly clockSkew?: Duration.Input | undefined
  /**
   * Takes only tokens whose `typ` says that they are access tokens (`at+jwt`). By default ones without a type, or of type
   * `JWT`, are taken too; those of any other type never are.
   */
  readonly typeRequired?: boolean | undefined
  /** Claims that have to be there, besides `iss`, `aud`, `exp` and the subject. */
  readonly requiredClaims?: ReadonlyArray<string> | undefined
  /**
   * Makes the caller of claims that were checked. `usual` is what is made of `sub`, of `client_id` or `azp`, and of `scope`
   * or `scp`. `undefined` refuses the token.
   */
  readonly principal?:
    | ((claims: Readonly<Record<string, unknown>>, usual: Principal) => Principal | undefined)
    | undefined
  /**
   * How long a token that was checked is remembered, by its hash, and never past its end. Default 1 minute; zero checks each
   * time.
   */
  readonly cacheLife?: Duration.Input | undefined
  /** Tokens that are remembered. Default 10,000. */
  readonly cacheSize?: number | undefined
}

/**
 * An issuer whose keys are fetched.
 *
 * @category models
 * @since 0.1.0
 */
export interface RemoteIssuer {
  /** Compared with `iss` to the letter. */
  readonly issuer: string
  /** Where its keys are. By default its metadata say (RFC 8414, OpenID Connect Discovery). */
  readonly jwksUri?: string | undefined
}

/**
 * An issuer whose keys the program knows: public ones, or a secret that the issuer has too.
 *
 * @category models
 * @since 0.1.0
 */
export type KnownIssuer =
  & { readonly issuer: string }
  & (
    | { readonly keys: ReadonlyArray<Readonly<Record<string, unknown>>>; readonly secret?: undefined }
    /** At least 32 bytes. */
    | { readonly secret: Redacted.Redacted<string>; readonly keys?: undefined }
  )

/**
 * How keys are fetched.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fetching {
  /** How long keys are used before they are fetched anew. Default 10 minutes. */
  readonly keyLife?: Duration.Input | undefined
  /** How much longer they are used where they cannot be fetched. Default 1 hour; then verification is unavailable. */
  readonly keyGrace?: Duration.Input | undefined
  /** The least time between two fetches: what a key that nobody knows can cause. Default 30 seconds. */
  readonly cooldown?: Duration.Input | undefined
  /** How long a fetch may take. Default 5 seconds. */
  readonly timeout?: Duration.Input | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type Options = Rules & Fetching & (RemoteIssuer | { readonly issuers: ReadonlyArray<RemoteIssuer> })

/**
 * @category models
 * @since 0.1.0
 */
export type KeysOptions = Rules & (KnownIssuer | { readonly issuers: ReadonlyArray<KnownIssuer> })

const symmetric = ["HS256", "HS384", "HS512"]
/** As many bytes as the shortest hash has (RFC 7518, 3.2). */
const minSecret = 32

/** The algorithms to take, none of which works with another kind of key than there is. */
const pinned = (rules: Rules, known: ReadonlyArray<string>, usual: ReadonlyArray<string>) => {
  const algorithms = rules.algorithms ?? usual
  const odd = algorithms.find((algorithm) => !known.includes(algorithm))
  if (odd !== undefined) return misconfigured(`algorithms: ${quoted(odd)} cannot be taken with these keys`)
  return algorithms.length === 0 ? misconfigured("algorithms: none is taken") : Effect.succeed(new Set(algorithms))
}

const verifierOf = (rules: Rules, trusted: ReadonlyArray<Trusted>) => {
  const table = new Map(trusted.map((issuer) => [issuer.issuer, issuer]))
  if (table.size === 0) return misconfigured("issuers: there is none whose tokens could be taken")
  const twice = trusted.find(({ issuer }, index) => trusted.findIndex((other) => other.issuer === issuer) < index)
  if (twice !== undefined) return misconfigured(`issuers: ${quoted(twice.issuer)} is named twice`)
  if (table.has("")) return misconfigured("issuer: \"\" is nobody")
  const verifier = new JwtVerifier({
    trusted: table,
    audience: rules.audience ?? [],
    skew: millis(rules.clockSkew, "30 seconds"),
    typeRequired: rules.typeRequired ?? false,
    requiredClaims: rules.requiredClaims ?? [],
    principal: rules.principal,
    cacheLife: millis(rules.cacheLife, "1 minute"),
    cacheSize: rules.cacheSize ?? 10_000
  })
  return Effect.succeed(TokenVerifier.of({
    issuers: [...table.keys()],
    verify: (token, names) => verifier.verify(Redacted.value(token), names)
  }))
}

const fetching = (
  issuer: RemoteIssuer,
  options: Options
): Effect.Effect<KeySource, AuthError.AuthError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const fault = IssuerMetadata.addressFault("issuer", issuer.issuer) ??
      (issuer.jwksUri === undefined ? undefined : IssuerMetadata.addressFault("jwksUri", issuer.jwksUri))
    if (fault !== undefined) return yield* misconfigured(fault)
    const out = yield* IssuerMetadata.outbound(issuer.jwksUri ?? issuer.issuer, {
      timeout: options.timeout ?? "5 seconds"
    })
    const address = issuer.jwksUri !== undefined ? Effect.succeed(issuer.jwksUri) : Effect.flatMap(
      IssuerMetadata.find(out, issuer.issuer),
      ({ jwks_uri }) =>
        jwks_uri === undefined
          ? AuthError.fail(new AuthError.NotSupported({ issuer: issuer.issuer, what: "public keys" }))
          : Effect.succeed(jwks_uri)
    )
    const load = Effect.flatMap(address, (url) =>
      Effect.flatMap(
        out.send(HttpClientRequest.get(url, { acceptJson: true })),
        ({ body, status }) => {
          const keys = status === 200 ? keySet.parseKeys(body) : undefined
          return keys === undefined
            ? AuthError.fail(new AuthError.BadAnswer({ url, status, detail: "it is no set of keys" }))
            : Effect.succeed(keys)
        }
      ))
    return new RemoteKeys({
      issuer: issuer.issuer,
      load,
      keyLife: millis(options.keyLife, "10 minutes"),
      keyGrace: millis(options.keyGrace, "1 hour"),
      cooldown: millis(options.cooldown, "30 seconds"),
      scope: yield* Effect.scope
    })
  })

/**
 * Checks tokens with keys that are fetched.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  options: Options
): Effect.Effect<TokenVerifier["Service"], AuthError.AuthError, HttpClient.HttpClient | Scope.Scope> =>
  Effect.gen(function*() {
    const algorithms = yield* pinned(options, keySet.asymmetric, keySet.asymmetric)
    const issuers = "issuers" in options ? options.issuers : [options]
    const trusted = yield* Effect.forEach(
      issuers,
      (issuer) =>
        Effect.map(fetching(issuer, options), (keys): Trusted => ({ issuer: issuer.issuer, algorithms, keys }))
    )
    return yield* verifierOf(options, trusted)
  })

const known = (issuer: KnownIssuer, rules: Rules): Effect.Effect<Trusted, AuthError.AuthError> =>
  Effect.gen(function*() {
    if (issuer.secret !== undefined) {
      const secret = new TextEncoder().encode(Redacted.value(issuer.secret))
      if (secret.length < minSecret) {
        return yield* misconfigured(`secret: that of ${quoted(issuer.issuer)} has fewer than ${minSecret} bytes`)
      }
      return { issuer: issuer.issuer, algorithms: yield* pinned(rules, symmetric, ["HS256"]), keys: secret }
    }
    const algorithms = yield* pinned(rules, keySet.asymmetric, keySet.asymmetric)
    if (issuer.keys.some(keySet.isPrivate)) {
      return yield* misconfigured(`keys: one of ${quoted(issuer.issuer)} is not public`)
    }
    const keys = issuer.keys.map(keySet.readKey).filter((key) => key !== undefined)
    if (keys.length < issuer.keys.length || keys.length === 0) {
      return yield* misconfigured(
        issuer.keys.length === 0
          ? `keys: ${quoted(issuer.issuer)} has none`
          : `keys: one of ${quoted(issuer.issuer)} cannot check signatures`
      )
    }
    return { issuer: issuer.issuer, algorithms, keys: given(keys) }
  })

/**
 * Checks tokens with keys that the program knows.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeKeys = (options: KeysOptions): Effect.Effect<TokenVerifier["Service"], AuthError.AuthError> =>
  Effect.gen(function*() {
    const issuers = "issuers" in options ? options.issuers : [options]
    return yield* verifierOf(options, yield* Effect.forEach(issuers, (issuer) => known(issuer, options)))
  })

/**
 * {@link make} as a layer. It fails where the options cannot be meant: an algorithm that is none, an issuer that is no https
 * address.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<TokenVerifier, AuthError.AuthError, HttpClient.HttpClient> =>
  Layer.effect(TokenVerifier, make(options))

/**
 * {@link makeKeys} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerKeys = (options: KeysOptions): Layer.Layer<TokenVerifier, AuthError.AuthError> =>
  Layer.effect(TokenVerifier, makeKeys(options))

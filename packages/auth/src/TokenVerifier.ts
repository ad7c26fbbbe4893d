/**
 * Who a token belongs to, and whether it is good here: the port that a resource server asks before anything else.
 *
 * @since 0.1.0
 */
import type { Principal } from "@mcpfx/transport/Principal"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import { timingSafeEqual } from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as AuthError from "./AuthError.ts"
import { isFor, wrongAudience } from "./internal/audience.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { isToken } from "./internal/presented.ts"
import { quoted } from "./internal/quoted.ts"
import { scopeFault } from "./internal/scopeRules.ts"

/**
 * The token is no good here. The caller hears `invalid_token` and nothing of the reason, which is for the log.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidToken extends Schema.TaggedError<InvalidToken>("@mcpfx/auth/InvalidToken")("InvalidToken", {
  reason: Schema.Literals([
    "malformed",
    "signature",
    "algorithm",
    "type",
    "issuer",
    "audience",
    "expired",
    "not yet valid",
    "inactive",
    "binding",
    "claims"
  ]),
  /**
   * What was expected and what came, for the log and without the token: the first 500 characters are shown there. Those of
   * this package tell it for issuers, audiences, algorithms and types.
   */
  detail: Schema.optionalKey(Schema.String)
}) {}

/**
 * Nobody can say now whether the token is good: keys or introspection are out of reach. The caller hears 503, never 200.
 *
 * @category errors
 * @since 0.1.0
 */
export class VerifierUnavailable
  extends Schema.TaggedError<VerifierUnavailable>("@mcpfx/auth/VerifierUnavailable")("VerifierUnavailable", {
    detail: Schema.String,
    cause: Schema.optionalKey(Schema.Defect())
  })
{}

/**
 * A good token.
 *
 * @category models
 * @since 0.1.0
 */
export interface Verified {
  readonly principal: Principal
  /** Milliseconds since the epoch after which it is not to be used, even where it was remembered. */
  readonly expiresAt?: number | undefined
  /** The thumbprint of the key it is bound to (`cnf.jkt`, RFC 9449): good with a proof of that key only. */
  readonly boundTo?: string | undefined
}

/**
 * @category services
 * @since 0.1.0
 */
export class TokenVerifier extends Context.Service<TokenVerifier, {
  /**
   * Issuers whose tokens are taken; the protected resource metadata name them. None where nobody can log in for a token:
   * clients are not told of any authorization server then.
   */
  readonly issuers: ReadonlyArray<string>
  /** `audience` are the names under which this server is known: a token has to be for one of them (ARS-07). */
  readonly verify: (
    token: Redacted.Redacted<string>,
    audience: ReadonlyArray<string>
  ) => Effect.Effect<Verified, InvalidToken | VerifierUnavailable>
}>()("@mcpfx/auth/TokenVerifier") {}

/**
 * Who has a token of {@link layerStatic}, and where it is good.
 *
 * @category models
 * @since 0.1.0
 */
export interface StaticToken {
  readonly subject: string
  readonly clientId?: string | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly claims?: Readonly<Record<string, unknown>> | undefined
  /** Who the caller is known by. Default the first of the issuers, or `static` where there is none. */
  readonly issuer?: string | undefined
  /** The servers it is good at. Default every server: the program that lists it is the one that takes it. */
  readonly audience?: ReadonlyArray<string> | undefined
  /** Milliseconds since the epoch. Default never. */
  readonly expiresAt?: number | undefined
  readonly boundTo?: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface StaticOptions {
  /** By what callers send: letters, digits and `-._~+/`, with any `=` at the end (RFC 6750, 2.1). */
  readonly tokens: Readonly<Record<string, StaticToken>>
  /**
   * Where clients are told to log in. Default nowhere, as nobody hands out the tokens of a list: a server has no protected
   * resource metadata then.
   */
  readonly issuers?: ReadonlyArray<string> | undefined
}

const encoder = new TextEncoder()

/** Of callers whose token nobody issued. */
const nobody = "static"

/** Why an entry could never be used. The token is a secret, so its subject is told in its place. */
const entryFault = ([token, { audience, scopes, subject }]: readonly [string, StaticToken]): string | undefined => {
  const whose = `tokens: that of ${quoted(subject)}`
  if (token === "") return `${whose} is empty`
  if (!isToken(token)) {
    return `${whose} cannot be sent: a token has letters, digits and -._~+/ alone, and = at its end`
  }
  if (audience?.length === 0) return `${whose} is good nowhere, as its audience is empty`
  const fault = scopeFault(scopes)
  return fault === undefined ? undefined : `${whose}: ${fault}`
}

/**
 * Takes the tokens of a list, for tests and for a server that only its own machine can reach (SEC-11). How long a token is
 * compared says nothing of what it should be. What no caller could send fails as `Misconfigured`.
 *
 * **Example** (A token that is not on the list)
 *
 * ```ts
 * import { TokenVerifier } from "@mcpfx/auth"
 * import { Effect, Redacted } from "effect"
 *
 * const Live = TokenVerifier.layerStatic({ tokens: { "t-ada": { subject: "ada", scopes: ["notes:read"] } } })
 * const subjectOf = (token: string) =>
 *   Effect.gen(function*() {
 *     const { verify } = yield* TokenVerifier.TokenVerifier
 *     const { principal } = yield* verify(Redacted.make(token), ["https://mcp.example.com"])
 *     return principal.subject
 *   }).pipe(Effect.catch((error) => Effect.succeed(error._tag)), Effect.provide(Live))
 * await Effect.runPromise(subjectOf("t-ada")) // => "ada"
 * await Effect.runPromise(subjectOf("t-bob")) // => "InvalidToken"
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStatic = (options: StaticOptions): Layer.Layer<TokenVerifier, AuthError.AuthError> =>
  Layer.effect(
    TokenVerifier,
    Effect.suspend(() => {
      const detail = Object.entries(options.tokens).map(entryFault).find((fault) => fault !== undefined)
      return detail === undefined ? Effect.succeed(fromList(options)) : misconfigured(detail)
    })
  )

const fromList = ({ issuers = [], tokens }: StaticOptions): TokenVerifier["Service"] => {
  const entries = Object.entries(tokens).map(([token, entry]) => ({
    token: encoder.encode(token),
    audience: entry.audience,
    verified: verifiedOf(entry, issuers[0] ?? nobody)
  }))
  const invalid = (reason: InvalidToken["reason"]) => Effect.fail(new InvalidToken({ reason }))
  return TokenVerifier.of({
    issuers,
    verify: (token, names) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        const bytes = encoder.encode(Redacted.value(token))
        // Each is compared, so that none stands out by where it is found.
        const [found] = entries.filter((entry) => timingSafeEqual(entry.token, bytes))
        if (found === undefined) return invalid("signature")
        const { audience, verified } = found
        if (audience !== undefined && !isFor(audience, names)) {
          return Effect.fail(new InvalidToken({ reason: "audience", detail: wrongAudience(audience, names) }))
        }
        return verified.expiresAt !== undefined && verified.expiresAt <= now
          ? invalid("expired")
          : Effect.succeed(verified)
      })
  })
}

const verifiedOf = (token: StaticToken, issuer: string): Verified => {
  const { boundTo, claims = {}, clientId, expiresAt, scopes = [], subject } = token
  const principal = { issuer: token.issuer ?? issuer, subject, scopes, claims }
  return { principal: clientId === undefined ? principal : { ...principal, clientId }, expiresAt, boundTo }
}

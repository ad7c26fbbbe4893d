/**
 * What a client keeps to get in: tokens and registrations, as they are stored.
 *
 * Tokens belong to an issuer and a resource, registrations to an issuer, and neither is ever used with another (ACL-07,
 * ACL-13, ACL-24).
 *
 * @since 0.1.0
 */
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** Written out in the store, which is the place for it; redacted everywhere else. */
const Secret = Schema.RedactedFromValue(Schema.String)

/**
 * What a token endpoint gave.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Tokens = Schema.Struct({
  accessToken: Secret,
  /** `DPoP` tokens are bound to a key and worth nothing without it (RFC 9449). */
  tokenType: Schema.Literals(["Bearer", "DPoP"]),
  /** Milliseconds since the epoch; absent where the server did not say. */
  expiresAt: Schema.optionalKey(Schema.Finite),
  refreshToken: Schema.optionalKey(Secret),
  /** What was granted; what was asked for where the server did not say (RFC 6749, 5.1). */
  scopes: Schema.Array(Schema.String),
  /** The client the tokens were given to: a refresh is its own only. */
  clientId: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Tokens extends Schema.Schema.Type<typeof Tokens> {}

/**
 * How a client proves to a token endpoint who it is.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AuthenticationMethod = Schema.Literals([
  "none",
  "client_secret_basic",
  "client_secret_post",
  "private_key_jwt"
])

/**
 * @category models
 * @since 0.1.0
 */
export type AuthenticationMethod = typeof AuthenticationMethod.Type

/**
 * A client as one authorization server knows it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Registration = Schema.Struct({
  /** Where the id comes from, in the order of preference (ACL-08). */
  kind: Schema.Literals(["preregistered", "metadata document", "dynamic"]),
  clientId: Schema.String,
  clientSecret: Schema.optionalKey(Secret),
  /** Milliseconds since the epoch at which the secret ends; absent for never. */
  secretExpiresAt: Schema.optionalKey(Schema.Finite),
  authentication: AuthenticationMethod,
  /** The addresses a login may come back to; a dynamic registration fits these only. */
  redirectUris: Schema.Array(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Registration extends Schema.Schema.Type<typeof Registration> {}

/**
 * Whose tokens they are, and for what.
 *
 * @category models
 * @since 0.1.0
 */
export interface TokensKey {
  readonly issuer: string
  readonly resource: string
}

/**
 * Whether tokens are good for at least `margin` milliseconds after `now`. Those without an end are.
 *
 * @category getters
 * @since 0.1.0
 */
export const isFresh = (tokens: Tokens, now: number, margin = 0): boolean =>
  tokens.expiresAt === undefined || now + margin < tokens.expiresAt

/**
 * The value of the header `Authorization` (ACL-23).
 *
 * **Example** (A header)
 *
 * ```ts
 * import { Credentials } from "@mcpfx/auth"
 * import { Redacted } from "effect"
 *
 * Credentials.header({ accessToken: Redacted.make("t"), tokenType: "Bearer", scopes: [] }) // => "Bearer t"
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const header = (tokens: Tokens): string => `${tokens.tokenType} ${Redacted.value(tokens.accessToken)}`

/**
 * Tells an authorization server that tokens are no longer used (RFC 7009).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as AuthError from "./AuthError.ts"
import type { AuthorizationServer } from "./AuthorizationServer.ts"
import type * as Credentials from "./Credentials.ts"
import type { ClientIdentity } from "./Grant.ts"
import type { TokenEndpoint } from "./TokenEndpoint.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly server: AuthorizationServer
  readonly endpoint: TokenEndpoint
  /** Whose tokens they are; none for tokens that were given to nobody in particular. */
  readonly client?: ClientIdentity | undefined
  readonly tokens: Credentials.Tokens
}

/** Servers that keep no list of one kind of token say so, and there is nothing more to do (RFC 7009, 2.2.1). */
const isKindRefusal = ({ reason }: AuthError.AuthError): boolean =>
  reason._tag === "OAuthRefused" && reason.error === "unsupported_token_type"

/**
 * Revokes the refresh token and then the access token. Whether the server was told: `false` where it has no place for it,
 * so that its tokens live until they expire. A token that the server does not know is one that is revoked.
 *
 * **Example** (A server that takes no notice)
 *
 * ```ts
 * import { Revocation, TokenEndpoint } from "@mcpfx/auth"
 * import { Effect, Redacted } from "effect"
 * import { Headers } from "effect/http"
 *
 * const issuer = "https://login.example.com"
 * const told = Revocation.revoke({
 *   server: { issuer, metadata: { issuer }, found: "resource" },
 *   endpoint: TokenEndpoint.make({ send: () => Effect.succeed({ status: 200, headers: Headers.empty, body: "" }) }),
 *   tokens: { accessToken: Redacted.make("t"), tokenType: "Bearer", scopes: [] }
 * })
 * await Effect.runPromise(told) // => false
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const revoke = Effect.fn("Revocation.revoke")(function*(
  { client, endpoint, server: { issuer, metadata }, tokens }: Request
): Effect.fn.Return<boolean, AuthError.AuthError> {
  const url = metadata.revocation_endpoint
  if (url === undefined) return false
  const tell = (token: Redacted.Redacted<string>, hint: "access_token" | "refresh_token") =>
    endpoint.form({
      url,
      issuer,
      endpoint: "revocation",
      parameters: { token, token_type_hint: hint },
      client
    }).pipe(Effect.catchIf(isKindRefusal, () => Effect.void))
  if (tokens.refreshToken !== undefined) yield* tell(tokens.refreshToken, "refresh_token")
  yield* tell(tokens.accessToken, "access_token")
  return true
})

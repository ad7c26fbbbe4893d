/** Assertions that others make, and the grant that takes them (RFC 7523, 2.1). */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as AuthError from "../AuthError.ts"
import type * as Credentials from "../Credentials.ts"
import type { ClientIdentity, Request } from "../Grant.ts"
import { scopeOf, tokenEndpointOf } from "./endpoints.ts"

/** The type of the grant that takes assertions. */
export const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"

/** A token from the outside; what fails there may hold anything, so only an `AuthError` is told on. */
export const fromOutside = <E, R>(
  what: string,
  effect: Effect.Effect<Redacted.Redacted<string>, E, R>
): Effect.Effect<Redacted.Redacted<string>, AuthError.AuthError, R> => {
  const detail = `${what} could not be had`
  const failed = () => new AuthError.AuthError({ reason: new AuthError.Misconfigured({ detail }) })
  return effect.pipe(
    Effect.mapError((error) => error instanceof AuthError.AuthError ? error : failed()),
    Effect.filterOrFail((token) => Redacted.value(token) !== "", failed)
  )
}

/** One request with one assertion. Whatever comes of it, it is not sent again. */
export const exchange = (
  { endpoint, resource, scopes, server }: Request,
  assertion: Redacted.Redacted<string>,
  client: ClientIdentity | undefined
): Effect.Effect<Credentials.Tokens, AuthError.AuthError> =>
  Effect.flatMap(tokenEndpointOf(server), (url) =>
    endpoint.tokens({
      url,
      issuer: server.issuer,
      parameters: {
        grant_type: jwtBearer,
        assertion,
        resource,
        scope: scopeOf(scopes)
      },
      client,
      scopes
    }))

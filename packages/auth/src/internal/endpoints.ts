import * as Effect from "effect/Effect"
import * as AuthError from "../AuthError.ts"
import type { AuthorizationServer } from "../AuthorizationServer.ts"

/** The token endpoint, without which no flow ends. */
export const tokenEndpointOf = (
  { issuer, metadata }: AuthorizationServer
): Effect.Effect<string, AuthError.AuthError> =>
  metadata.token_endpoint === undefined
    ? AuthError.fail(new AuthError.NotSupported({ issuer, what: "a token endpoint" }))
    : Effect.succeed(metadata.token_endpoint)

/** The parameter `scope`, which is left out where there is nothing to say (ACL-26, field AUT-12). */
export const scopeOf = (scopes: ReadonlyArray<string> | undefined): string | undefined =>
  scopes === undefined || scopes.length === 0 ? undefined : scopes.join(" ")

/** A refresh token for tokens: each one once, and one that comes twice ends them all (AAS-01; OAuth 2.1, 4.3). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Answer, refuse, type Refused } from "./answer.ts"
import type { GrantRequest } from "./grantRequest.ts"
import { issue } from "./issue.ts"
import type { RefreshToken } from "./state.ts"

const check = (
  { client, jkt, parameters }: GrantRequest,
  token: RefreshToken,
  now: number
): Effect.Effect<void, Refused> => {
  const no = (description: string) => refuse("invalid_grant", description)
  if (token.family.clientId !== client.clientId) return no("the token was given to another client")
  if (token.family.revoked) return no("the token was revoked")
  if (token.used) {
    token.family.revoked = true
    return no("the token was used before")
  }
  if (token.expiresAt <= now) return no("the token has expired")
  if (token.jkt !== undefined && token.jkt !== jkt) return no("the token is bound to another key")
  if (parameters.scopes.some((scope) => !token.scopes.includes(scope))) {
    return refuse("invalid_scope", "a refresh gives no more scopes than the login did")
  }
  return parameters.all("resource").some((resource) => !token.resources.includes(resource))
    ? refuse("invalid_target", "the resource is not one that was consented to")
    : Effect.void
}

export const refreshGrant = (request: GrantRequest): Effect.Effect<Answer, Refused> =>
  Effect.gen(function*() {
    const { client, jkt, parameters, state } = request
    const token = state.refreshTokens.get(parameters.get("refresh_token") ?? "")
    if (token === undefined) return yield* refuse("invalid_grant", "the token is not known")
    yield* check(request, token, yield* Clock.currentTimeMillis)
    const rotates = state.options.rotation !== false
    if (rotates) token.used = true
    const [scopes, resources] = [parameters.scopes, parameters.all("resource")]
    const granted = {
      client,
      user: token.family.user,
      scopes: scopes.length === 0 ? token.scopes : scopes,
      resources: resources.length === 0 ? token.resources : resources,
      whole: token,
      jkt,
      family: token.family,
      refreshable: true
    }
    return yield* issue(state, granted, !rotates)
  })

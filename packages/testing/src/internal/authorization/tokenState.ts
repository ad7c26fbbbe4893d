/** What tokens are worth now (RFC 7662), and their end before their time (RFC 7009). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Answer, json, refuse } from "./answer.ts"
import { authenticate } from "./clientAuthentication.ts"
import type { Handler } from "./front.ts"
import { seconds } from "./issue.ts"
import type { State } from "./state.ts"

const describe = (state: State, token: string, now: number): Readonly<Record<string, unknown>> => {
  const access = state.accessTokens.get(token)
  if (access !== undefined) {
    const active = !access.ended && !access.family.revoked && now < access.expiresAt
    return active
      ? { active, token_type: access.claims["cnf"] === undefined ? "Bearer" : "DPoP", ...access.claims }
      : { active }
  }
  const refresh = state.refreshTokens.get(token)
  if (refresh === undefined || refresh.used || refresh.family.revoked || refresh.expiresAt <= now) {
    return { active: false }
  }
  return {
    active: true,
    client_id: refresh.family.clientId,
    iss: state.issuer,
    sub: refresh.family.user?.id,
    scope: refresh.scopes.join(" "),
    exp: seconds(refresh.expiresAt)
  }
}

export const introspect = (state: State): Handler => (incoming) =>
  Effect.gen(function*() {
    const client = yield* authenticate(state, incoming)
    if (client.authentication.includes("none")) {
      return yield* refuse("invalid_client", "only clients with credentials may ask about tokens", 401)
    }
    const token = incoming.parameters.get("token")
    if (token === undefined) return yield* refuse("invalid_request", "there is no token")
    return json(describe(state, token, yield* Clock.currentTimeMillis))
  })

/** Ends a token: an access token alone, a refresh token with all that came of its login. */
export const end = (state: State, token: string): void => {
  const access = state.accessTokens.get(token)
  if (access !== undefined) access.ended = true
  const refresh = state.refreshTokens.get(token)
  if (refresh !== undefined) refresh.family.revoked = true
}

export const revoke = (state: State): Handler => (incoming) =>
  Effect.gen(function*() {
    const client = yield* authenticate(state, incoming)
    const token = incoming.parameters.get("token")
    if (token === undefined) return yield* refuse("invalid_request", "there is no token")
    const owner = state.accessTokens.get(token)?.clientId ?? state.refreshTokens.get(token)?.family.clientId
    if (owner !== undefined && owner !== client.clientId) {
      return yield* refuse("invalid_grant", "the token was given to another client")
    }
    end(state, token)
    return Answer.Empty({ status: 200, headers: { "cache-control": "no-store" } })
  })

/** What the token endpoint gives: access tokens, refresh tokens, id tokens. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Answer, json } from "./answer.ts"
import { mayUse } from "./clients.ts"
import * as Keys from "./keys.ts"
import type { Client, User } from "./model.ts"
import type { Family, State } from "./state.ts"

export interface Granted {
  readonly client: Client
  /** Nobody where the client acts for itself. */
  readonly user: User | undefined
  /** Who it is, where that is neither a user nor the client. */
  readonly subject?: string | undefined
  readonly scopes: ReadonlyArray<string>
  readonly resources: ReadonlyArray<string>
  /** What a refresh token is for, where that is more than this access token is. */
  readonly whole?: { readonly scopes: ReadonlyArray<string>; readonly resources: ReadonlyArray<string> } | undefined
  /** The key it is bound to. */
  readonly jkt: string | undefined
  readonly family?: Family | undefined
  readonly nonce?: string | undefined
  /** Whether the grant is one that refresh tokens can come of. */
  readonly refreshable: boolean
  /** Members of the answer that are not the usual ones. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

export const family = (
  state: State,
  { client, user }: Pick<Granted, "client" | "user">
): Effect.Effect<Family> => Effect.map(state.random, (id) => ({ id, clientId: client.clientId, user, revoked: false }))

const audienceOf = ({ issuer, options }: State, resources: ReadonlyArray<string>): string | ReadonlyArray<string> =>
  resources.length === 0 ? options.audience ?? issuer : resources.length === 1 ? resources[0] ?? issuer : resources

export const seconds = (millis: number): number => Math.floor(millis / 1000)

/** The claims of an access token (RFC 9068, 2.2). */
export const accessClaims = (
  state: State,
  { client, jkt, resources, scopes, subject, user }: Omit<Granted, "refreshable">,
  now: number
): Effect.Effect<Record<string, unknown>> =>
  Effect.map(state.random, (jti) => ({
    iss: state.issuer,
    sub: subject ?? user?.id ?? client.clientId,
    aud: audienceOf(state, resources),
    client_id: client.clientId,
    iat: seconds(now),
    exp: seconds(now + state.millis("accessToken")),
    jti,
    scope: scopes.length === 0 ? undefined : scopes.join(" "),
    cnf: jkt === undefined ? undefined : { jkt }
  }))

const refreshes = ({ options }: State, { client, refreshable, scopes }: Granted): boolean => {
  if (!refreshable) return false
  switch (options.refresh ?? "listed") {
    case "always":
      return true
    case "never":
      return false
    case "offline_access":
      return scopes.includes("offline_access")
    case "listed":
      return mayUse(client, "refresh_token")
  }
}

export const idToken = (
  state: State,
  client: string,
  user: User,
  claims: Readonly<Record<string, unknown>>
): Effect.Effect<string> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Keys.sign(state.keys, {
      ...user.claims,
      iss: state.issuer,
      sub: user.id,
      aud: client,
      iat: seconds(now),
      auth_time: seconds(now),
      exp: seconds(now + state.millis("accessToken")),
      ...claims
    }, "JWT"))

const refreshToken = (state: State, granted: Granted, owner: Family, now: number): Effect.Effect<string> =>
  Effect.map(state.random, (token) => {
    const { client, jkt, whole = granted } = granted
    const isPublic = client.authentication.includes("none")
    state.refreshTokens.set(token, {
      token,
      family: owner,
      scopes: whole.scopes,
      resources: whole.resources,
      // A client that proves itself may use another key later (RFC 9449, 5).
      jkt: isPublic ? jkt : undefined,
      expiresAt: now + state.millis("refreshToken"),
      used: false
    })
    return token
  })

/** The answer of the token endpoint (RFC 6749, 5.1). */
export const issue = (state: State, granted: Granted, keptRefreshToken = false): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const owner = granted.family ?? (yield* family(state, granted))
    const claims = yield* accessClaims(state, granted, now)
    const token = state.options.accessTokens === "opaque"
      ? yield* state.random
      : yield* Keys.sign(state.keys, claims, "at+jwt")
    const lifetime = state.millis("accessToken")
    const { client, jkt, scopes, user } = granted
    state.accessTokens.set(token, {
      token,
      claims,
      clientId: client.clientId,
      expiresAt: now + lifetime,
      family: owner,
      ended: false
    })
    const refresh = refreshes(state, granted) && !keptRefreshToken
      ? { refresh_token: yield* refreshToken(state, granted, owner, now) }
      : {}
    const id = scopes.includes("openid") && user !== undefined
      ? { id_token: yield* idToken(state, client.clientId, user, { nonce: granted.nonce }) }
      : {}
    return json({
      access_token: token,
      token_type: jkt === undefined ? "Bearer" : "DPoP",
      expires_in: seconds(lifetime),
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      ...refresh,
      ...id,
      ...granted.extra
    })
  })

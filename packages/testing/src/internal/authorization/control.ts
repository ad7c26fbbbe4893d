/** What a test does to the server from behind: keys, tokens, devices, logins. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { Unexpected } from "../../TestError.ts"
import { fromOptions } from "./clientRecord.ts"
import { decide, isWaiting, waiting } from "./device.ts"
import { accessClaims, family, idToken } from "./issue.ts"
import * as Keys from "./keys.ts"
import type { Consent, TokenSpec, User } from "./model.ts"
import { type State, userOf } from "./state.ts"
import { end } from "./tokenState.ts"

export const rotateKeys = (state: State, keep: boolean): Effect.Effect<void> =>
  Effect.gen(function*() {
    Keys.rotate(state.keys, yield* Keys.generate(state.options.algorithm ?? "ES256", yield* state.random), keep)
  })

const resourcesOf = ({ options }: State, { resource }: TokenSpec): ReadonlyArray<string> => {
  if (resource !== undefined) return typeof resource === "string" ? [resource] : resource
  return options.audience === undefined ? options.resources ?? [] : []
}

/**
 * A token as the endpoint would give to a client of this name, but for what the test wants otherwise. Those who ask about it
 * are told the same, unless it is one with a wrong signature.
 */
export const issueToken = (state: State, spec: TokenSpec): Effect.Effect<string> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const { clientId = "test-client", scopes = state.options.scopes ?? [], sign, user } = spec
    const client = fromOptions({ clientId })
    const usual = {
      client,
      user: user === undefined ? userOf(state, undefined) : { id: user },
      scopes,
      resources: resourcesOf(state, spec),
      jkt: undefined
    }
    const claims = { ...(yield* accessClaims(state, usual, now)), ...spec.claims }
    const opaque = state.options.accessTokens === "opaque" && sign === undefined && spec.header === undefined
    const token = opaque ? yield* state.random : yield* Keys.signAs(state.keys, claims, spec)
    if (sign !== undefined && sign !== "key") return token
    const { exp } = claims
    state.accessTokens.set(token, {
      token,
      claims,
      clientId,
      expiresAt: typeof exp === "number" ? exp * 1000 : now + state.millis("accessToken"),
      family: yield* family(state, usual),
      ended: false
    })
    return token
  })

/** How logins are answered, and by whom. */
export const setConsent = (state: State, consent: Consent, user: string | undefined): Effect.Effect<void, Unexpected> =>
  Effect.map(known(state, user), () => {
    state.consent = consent
    state.chosen = user
  })

const known = (state: State, id: string | undefined): Effect.Effect<User, Unexpected> => {
  const user = userOf(state, id)
  return user === undefined
    ? Effect.fail(new Unexpected({ wanted: `a user ${id ?? ""}`, got: state.users.map((user) => user.id) }))
    : Effect.succeed(user)
}

export const issueIdToken = (
  state: State,
  { claims = {}, clientId, user }: {
    readonly clientId: string
    readonly user?: string | undefined
    readonly claims?: Readonly<Record<string, unknown>> | undefined
  }
): Effect.Effect<string, Unexpected> =>
  Effect.flatMap(known(state, user), (user) => idToken(state, clientId, user, claims))

export const answerDevice = (
  state: State,
  userCode: string,
  decision: { readonly user?: string | undefined } | "denied"
): Effect.Effect<void, Unexpected> =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const device = waiting(state, userCode, now)
    if (device === undefined) {
      const got = [...state.devices.values()].filter((device) => isWaiting(device, now)).map(({ userCode }) => userCode)
      return yield* new Unexpected({ wanted: `a device that shows ${userCode} and waits`, got: got.slice(0, 10) })
    }
    decide(device, decision === "denied" ? decision : yield* known(state, decision.user))
  })

export const expireTokens = (state: State): void => {
  for (const token of state.accessTokens.values()) token.ended = true
}

/** Ends one token, or all of a client. */
export const revoke = (state: State, what: string | { readonly clientId: string }): void => {
  if (typeof what === "string") return end(state, what)
  for (const { clientId, family } of state.accessTokens.values()) if (clientId === what.clientId) family.revoked = true
  for (const { family } of state.refreshTokens.values()) if (family.clientId === what.clientId) family.revoked = true
}

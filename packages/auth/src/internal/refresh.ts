/** Tokens that come without anybody being asked: those that another process left, and those a refresh token gives. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as AuthError from "../AuthError.ts"
import * as Credentials from "../Credentials.ts"
import type { Request } from "../Grant.ts"
import type { Discovered } from "./discover.ts"
import { type Held, isSame, type Keeper } from "./keeper.ts"
import { isOAuth, isUnknownClient } from "./oauthError.ts"
import type { Scopes } from "./scopeChoice.ts"
import type { Binding } from "./vault.ts"

/** What happened: the tokens were refreshed, or obtained from the grant; or they are others by now, from wherever. */
export type Done = "changed" | "refreshed" | "obtained"

type Coming = Effect.Effect<Done | undefined, AuthError.AuthError>

/** What a grant is given. */
export const requestOf = (
  { settings: { endpoint, grant, vault } }: Keeper,
  { resource, server }: Discovered,
  scopes: Scopes | undefined
): Request => ({ server, resource, scopes, endpoint, registrations: vault.registration(server.issuer, grant.name) })

export const bindingOf = ({ named, resource, server: { found, issuer } }: Discovered): Binding => ({
  issuer,
  resource,
  found,
  ...(named === undefined ? undefined : { named })
})

/** Carries what somebody else has put into the store. */
export const adopt = (
  keeper: Keeper,
  found: Discovered,
  stored: Credentials.Tokens
): Effect.Effect<Done, AuthError.AuthError> => Effect.as(keeper.take(stored, bindingOf(found)), "changed")

/** A client that is not known any more cannot refresh, and is registered anew by the login that follows. */
export const unlessUnknown = <A>(
  client: Effect.Effect<A, AuthError.AuthError>
): Effect.Effect<A | undefined, AuthError.AuthError> =>
  Effect.catchIf(
    client,
    ({ reason }) => reason._tag === "RegistrationRequired" || reason._tag === "RegistrationRefused",
    () => Effect.undefined
  )

/** What is in the store, fresh, in the place of tokens that were known. */
const replaced = Effect.fnUntraced(function*(keeper: Keeper, held: Held, known: Credentials.Tokens) {
  const stored = yield* keeper.stored(held)
  const now = yield* Clock.currentTimeMillis
  const isNew = stored !== undefined && !isSame(stored, known)
  return { stored, isFresh: isNew && Credentials.isFresh(stored, now) }
})

/**
 * What another process has put into the store meanwhile, else what the refresh token gives, which is spent once among all
 * processes; `undefined` where there is none to spend, or it is good for nothing.
 *
 * What was begun is finished, even if nobody waits any more: an answer that nobody kept would end the login.
 */
export const refresh = (keeper: Keeper, held: Held, found: Discovered): Coming => {
  const { grant, vault } = keeper.settings
  const isRefreshable = grant.refreshes && held.tokens.refreshToken !== undefined
  const turn = Effect.gen(function*() {
    const { isFresh, stored } = yield* replaced(keeper, held, held.tokens)
    if (stored !== undefined && isFresh) return yield* adopt(keeper, found, stored)
    // What was kept and is gone was given up by another process, which may have spent it before (a logout, a refusal).
    const isGone = stored === undefined && keeper.unkept === undefined
    if (!isRefreshable || isGone) return undefined
    yield* keeper.say({ _tag: "Refreshing", issuer: held.issuer, resource: held.resource })
    const spent = Effect.uninterruptible(spend(keeper, found, held, stored ?? held.tokens))
    // Where it failed with nobody left to hear of it, nothing else says that it is over.
    return yield* Effect.onInterrupt(spent, () => keeper.rest)
  })
  return isRefreshable ? vault.exclusive(held, turn) : turn
}

/** Asks with the refresh token of `spent`, which is what the store has in the place of what is held. */
const spend = Effect.fnUntraced(function*(
  keeper: Keeper,
  found: Discovered,
  held: Held,
  spent: Credentials.Tokens
): Effect.fn.Return<Done | undefined, AuthError.AuthError> {
  const { clientId, refreshToken, scopes } = spent
  const { endpoint, grant } = keeper.settings
  const { resource, server: { issuer, metadata: { token_endpoint: url } } } = found
  if (refreshToken === undefined || url === undefined) return undefined
  const request = requestOf(keeper, found, scopes)
  const client = yield* unlessUnknown(grant.client(request))
  // A refresh token is of use to the client alone that it was given to.
  if (client === undefined || (clientId !== undefined && clientId !== client.registration.clientId)) return undefined
  const parameters = { grant_type: "refresh_token", refresh_token: refreshToken, resource }
  const asked = yield* Effect.result(endpoint.tokens({ url, issuer, parameters, client, scopes }))
  if (Result.isSuccess(asked)) {
    // Without a new one the old one stays good (RFC 6749, 6; field AUT-08).
    yield* keeper.keep({ refreshToken, ...asked.success }, bindingOf(found))
    return "refreshed"
  }
  const error = asked.failure
  const isForgotten = client.registration.kind === "dynamic" && isUnknownClient(error)
  if (isForgotten) yield* request.registrations.remove
  if (!isForgotten && !isOAuth(error, "invalid_grant")) return yield* Effect.fail(error)
  // A store that keeps nobody out may have let another process be faster.
  const { isFresh, stored } = yield* replaced(keeper, held, spent)
  if (stored !== undefined && isFresh) return yield* adopt(keeper, found, stored)
  yield* keeper.drop(held)
  if (spent !== held.tokens) yield* keeper.drop({ ...held, tokens: spent })
  return undefined
})

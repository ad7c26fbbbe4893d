/** How new tokens come: from the store, by refresh, by the grant; one at a time, and once for all who wait (field AUT-06). */
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as AuthError from "../AuthError.ts"
import * as Credentials from "../Credentials.ts"
import * as Revocation from "../Revocation.ts"
import * as Discover from "./discover.ts"
import { type Held, isSame, type Keeper } from "./keeper.ts"
import { isOAuth } from "./oauthError.ts"
import { adopt, bindingOf, type Done, refresh, requestOf, unlessUnknown } from "./refresh.ts"
import * as Scopes from "./scopeChoice.ts"
import { Turns } from "./turns.ts"

/** Why new tokens are wanted. */
export interface Need {
  /** What was carried when the wish came up. */
  readonly used: Held | undefined
  /**
   * - `token`: the server takes none that is held
   * - `scope`: the server wants more than the token is good for
   * - `time`: the token is about to end, or has ended
   */
  readonly why: "token" | "scope" | "time"
  /** What the server asks for. */
  readonly scopes: Scopes.Scopes
  readonly mayRefresh: boolean
  readonly mayObtain: boolean
  /** Whether the request is one that nobody waits for: nobody is asked because of it. */
  readonly isBackground: boolean
}

type Renewing = Effect.Effect<Done, AuthError.AuthError>

/** Parts of a key never run together: scopes have no line breaks. */
const keyOf = ({ isBackground, mayObtain, mayRefresh, scopes, why }: Need): string =>
  [why, mayRefresh, mayObtain, isBackground, ...scopes.toSorted()].join("\n")

/** Under what failures are remembered: those of the background keep nobody else from a login. */
const setbackKey = ({ isBackground, scopes, why }: Need): string =>
  why === "scope" ? ["scope", ...scopes.toSorted()].join("\n") : isBackground ? "background" : "token"

/** The same for a server that wanted other scopes each time: whatever it wants next is not asked for either. */
export const endless = "scopes without end"

/** States of a login that somebody has to do something about. */
const needsSomebody: ReadonlySet<AuthError.Reason["_tag"]> = new Set([
  "LoginRequired",
  "LoginDenied",
  "LoginTimedOut",
  "LoginExpired",
  "CallbackRejected",
  "CallbackUnavailable"
])

/** What a search comes to that found nothing. */
const silences: ReadonlySet<AuthError.Reason["_tag"]> = new Set(["DiscoveryFailed", "Unavailable"])

export class Renewal {
  readonly keeper: Keeper
  readonly turns: Turns<Done, AuthError.AuthError>
  /** Failures of a grant: somebody may have been asked. */
  private readonly inVain = new WeakSet<AuthError.AuthError>()

  constructor(keeper: Keeper, scope: Scope.Scope, context: Context.Context<never>) {
    this.keeper = keeper
    const detail = "the login was given up"
    const givenUp = AuthError.fail(new AuthError.LoginRequired({ resource: keeper.name, detail }))
    this.turns = new Turns(scope, context, givenUp)
  }

  /** Takes what an earlier run left. */
  get load(): Effect.Effect<void, AuthError.AuthError> {
    const { keeper } = this
    return Effect.suspend(() =>
      keeper.loaded
        ? Effect.void
        : this.turns.take("load", Effect.tapError(Effect.as(keeper.load, "changed"), (error) => this.say(error, 0)))
    )
  }

  /** New tokens, if those that were used are still the ones that are held. */
  renew(need: Need): Renewing {
    return this.turns.take(keyOf(need), this.attempt(need))
  }

  /** The same before the end of a token that is still good: nobody waits for it. */
  renewAhead(need: Need): void {
    this.turns.begin(keyOf(need), Effect.catch(this.attempt(need), () => Effect.succeed("changed")))
  }

  /** Somebody asked for a login: earlier failures count no more, and people are asked. */
  login(scopes: Scopes.Scopes): Renewing {
    const { keeper } = this
    const { held } = keeper
    const attempt = Effect.gen({ self: this }, function*() {
      // Somebody was asked already, while this waited for its turn.
      if (keeper.held !== held && Scopes.covers(keeper.held?.tokens.scopes ?? [], scopes)) return "changed" as const
      keeper.setbacks.clear()
      const found = yield* keeper.find(true)
      const done = yield* this.obtain(found, Scopes.union(keeper.wanted.open, scopes))
      return keeper.unkept === undefined ? done : yield* Effect.fail(keeper.unkept)
    })
    const told = Effect.flatMap(keeper.isResting, (isResting) =>
      // Who is logged in stays so; who was asked to log in still is.
      Effect.tapError(attempt, (error) => isResting && keeper.held !== undefined ? keeper.rest : this.say(error, 0)))
    return this.turns.take(["login", ...scopes].join("\n"), told)
  }

  /** Forgets what is held, here and in the store, and revokes it (RFC 7009). A login that is under way is given up. */
  get logout(): Renewing {
    const { keeper } = this
    const attempt = Effect.gen({ self: this }, function*() {
      const loaded = yield* Effect.exit(keeper.load)
      keeper.setbacks.clear()
      keeper.vain = undefined
      keeper.wanted.forget()
      const { held } = keeper
      // A store that cannot be read may have tokens, which are not forgotten then.
      if (held === undefined) return yield* Effect.andThen(keeper.rest, Effect.as(loaded, "changed" as const))
      const cleared = yield* Effect.exit(keeper.clear(held))
      const unbound = yield* Effect.exit(keeper.unbind)
      const revoked = yield* Effect.exit(this.revoke(held))
      // What another process had made of it is not given out any more, and ends too.
      const other = Exit.isSuccess(cleared) ? cleared.value : undefined
      if (other !== undefined) yield* this.revoke({ ...held, tokens: other })
      yield* Effect.andThen(cleared, Effect.andThen(unbound, revoked))
      return "changed" as const
    })
    return Effect.suspend(() => {
      this.turns.interrupt()
      return this.turns.take("logout", attempt)
    })
  }

  private revoke(held: Held): Effect.Effect<void, AuthError.AuthError> {
    const { keeper } = this
    const { endpoint, grant } = keeper.settings
    return Effect.gen({ self: this }, function*() {
      const home = yield* keeper.home(held)
      if (home.server.metadata.revocation_endpoint === undefined) return
      const client = yield* unlessUnknown(grant.client(requestOf(keeper, home, undefined)))
      yield* Revocation.revoke({ server: home.server, endpoint, client, tokens: held.tokens })
    })
  }

  /** Remembers a failure, so that the next request does not try the same at once. */
  setback(need: Need, error: AuthError.AuthError, key = setbackKey(need)): Effect.Effect<void> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { keeper } = this
      const { _tag } = error.reason
      const isInVain = this.inVain.has(error) || _tag === "TokenRejected" || _tag === "ScopeRefused"
      // A login that has expired is followed by one that is asked for.
      if (need.why === "time" && _tag === "LoginExpired") return keeper.rest
      const isUnasked = this.isUnasked(need, error)
      const length = isUnasked
        ? "short"
        : keeper.settings.grant.interactive && isInVain
        ? "long"
        : "growing"
      const retryAt = keeper.setbacks.add(key, error, now, length)
      const { held } = keeper
      // A token that is good for other calls, or for a while, stays what it is.
      const isGood = held !== undefined && need.why !== "token" && Credentials.isFresh(held.tokens, now)
      if (isGood) return keeper.rest
      // Why the last login came to nothing says more than that another one is needed.
      return isUnasked ? keeper.say({ _tag: "NeedsLogin", error: keeper.vain ?? error }) : this.say(error, retryAt)
    })
  }

  private say(error: AuthError.AuthError, retryAt: number): Effect.Effect<void> {
    if (this.inVain.has(error)) this.keeper.vain = error.isFinal ? error : undefined
    return this.keeper.say(
      needsSomebody.has(error.reason._tag) ? { _tag: "NeedsLogin", error } : { _tag: "Failed", error, retryAt }
    )
  }

  private attempt(need: Need): Renewing {
    return Effect.flatMap(Clock.currentTimeMillis, (now): Renewing => {
      const { keeper } = this
      if (keeper.held !== need.used) return Effect.succeed("changed")
      const earlier = keeper.setbacks.get(setbackKey(need), now) ??
        (need.why === "scope" ? keeper.setbacks.get(endless, now) : undefined)
      if (earlier !== undefined) return Effect.fail(earlier)
      const run = need.why === "time"
        ? this.inTime(need)
        : need.why === "scope"
        ? this.stepUp(need)
        : this.anew(need, now)
      return Effect.tapError(run, (error) => this.setback(need, error))
    })
  }

  /** Whether it failed because nobody may be asked: by this, and not by who was asked. */
  private isUnasked(need: Need, { reason }: AuthError.AuthError): boolean {
    return (reason._tag === "LoginRequired" || reason._tag === "LoginExpired") && !this.asks(need)
  }

  /** Whether somebody may be asked now. */
  private asks({ isBackground }: Pick<Need, "isBackground">): boolean {
    const { asksLater, grant } = this.keeper.settings
    return !grant.interactive || (!asksLater && !isBackground)
  }

  /** Before a token ends, or when it has: where it came from, without a word from the server. */
  private inTime(need: Need): Renewing {
    const { keeper } = this
    const { used } = need
    if (used === undefined) return Effect.succeed("changed")
    return Effect.gen({ self: this }, function*() {
      const home = yield* keeper.home(used)
      const done = yield* refresh(keeper, used, home)
      if (done !== undefined) return done
      return keeper.settings.grant.interactive
        ? yield* AuthError.fail(new AuthError.LoginExpired({ resource: used.resource, issuer: used.issuer }))
        : yield* this.obtain(home, [])
    })
  }

  /** The server takes nothing that is held. */
  private anew(need: Need, now: number): Renewing {
    const { keeper } = this
    const { mayObtain, mayRefresh, used } = need
    return Effect.gen({ self: this }, function*() {
      const search = yield* Effect.result(
        keeper.find(used !== undefined && Credentials.isFresh(used.tokens, now))
      )
      if (Result.isFailure(search)) {
        // Where the server says nothing about it now, whoever gave the tokens still may renew them.
        const isSilent = used !== undefined && mayRefresh && silences.has(search.failure.reason._tag)
        const done = isSilent
          ? yield* Effect.flatMap(keeper.home(used), (home) => refresh(keeper, used, home))
          : undefined
        return done ?? (yield* Effect.fail(search.failure))
      }
      const found = search.success
      const key = { issuer: found.server.issuer, resource: found.resource }
      const isHome = used !== undefined && used.issuer === key.issuer && used.resource === key.resource
      // The server has another authorization server now, which nothing of the old one is sent to (ACL-13, field AUT-19).
      if (used !== undefined && !isHome) yield* keeper.forget
      const done = isHome
        ? mayRefresh ? yield* refresh(keeper, used, found) : undefined
        : yield* this.fromStore(found)
      if (done !== undefined) return done
      if (!mayObtain) return yield* this.rejected(found)
      yield* this.mayAsk(need, found, keeper.held ?? used, [])
      return yield* this.obtain(found, need.scopes)
    })
  }

  /** The server wants scopes that the token lacks: the union, and not by refresh, which gives the same (ACL-28, field AUT-11). */
  private stepUp(need: Need): Renewing {
    const { keeper } = this
    return Effect.gen({ self: this }, function*() {
      const found = yield* keeper.find(false)
      const stored = yield* keeper.stored({ issuer: found.server.issuer, resource: found.resource })
      const { used } = need
      // Another process may have got them by now.
      const isMore = stored !== undefined && used !== undefined && !isSame(stored, used.tokens) &&
        Scopes.covers(stored.scopes, Scopes.union(need.scopes, used.tokens.scopes))
      if (isMore) return yield* adopt(keeper, found, stored)
      yield* this.mayAsk(need, found, used, need.scopes)
      return yield* this.obtain(found, need.scopes)
    })
  }

  private rejected({ resource, server }: Discover.Discovered) {
    return AuthError.fail(new AuthError.TokenRejected({ resource, issuer: server.issuer }))
  }

  /** Fails where somebody would have to be asked, and may not be. */
  private mayAsk(
    need: Need,
    { resource, server: { issuer } }: Discover.Discovered,
    had: Held | undefined,
    lacking: Scopes.Scopes
  ): Effect.Effect<void, AuthError.AuthError> {
    if (this.asks(need)) return Effect.void
    if (had !== undefined && lacking.length === 0) {
      return AuthError.fail(new AuthError.LoginExpired({ resource, issuer }))
    }
    const scopes = lacking.length === 0 ? undefined : { scopes: lacking }
    return Effect.andThen(
      lacking.length === 0 ? Effect.void : this.keeper.lack(lacking),
      AuthError.fail(new AuthError.LoginRequired({ resource, issuer, ...scopes, detail: "log in to go on" }))
    )
  }

  /** What another process, or an earlier login, left for this issuer and resource. */
  private fromStore(found: Discover.Discovered): Effect.Effect<Done | undefined, AuthError.AuthError> {
    const { keeper } = this
    return Effect.gen({ self: this }, function*() {
      const stored = yield* keeper.stored({ issuer: found.server.issuer, resource: found.resource })
      if (stored === undefined) return undefined
      const done = yield* adopt(keeper, found, stored)
      const { held } = keeper
      const now = yield* Clock.currentTimeMillis
      if (held === undefined || Credentials.isFresh(stored, now)) return done
      return yield* refresh(keeper, held, found)
    })
  }

  /** Runs the grant. */
  private obtain(found: Discover.Discovered, challenged: Scopes.Scopes): Renewing {
    const { keeper } = this
    const { grant, offlineAccess, scopes: configured } = keeper.settings
    const { resource, server: { issuer, metadata } } = found
    const wanted = Scopes.wanted({
      challenged,
      configured,
      supported: found.scopes,
      earlier: keeper.earlier({ issuer, resource })
    })
    const scopes = offlineAccess && grant.refreshes ? Scopes.offline(wanted, metadata.scopes_supported) : wanted
    return Effect.gen({ self: this }, function*() {
      keeper.wanted.ask(issuer, scopes ?? [])
      yield* keeper.say({ _tag: "LoggingIn", issuer, resource, scopes: scopes ?? [] })
      const tokens = yield* Effect.mapError(grant.obtain(requestOf(keeper, found, scopes)), (error) => {
        const told = Discover.guessed(found, error)
        this.inVain.add(told)
        // Asked for again, they would keep everybody from every later login.
        if (isOAuth(told, "invalid_scope")) keeper.wanted.forget()
        return told
      })
      yield* Effect.uninterruptible(keeper.keep(tokens, bindingOf(found)))
      return "obtained" as const
    }).pipe(Effect.onInterrupt(() => keeper.rest))
  }
}

/** The tokens of one client for one server: what is known of them, in memory and in the store. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as SubscriptionRef from "effect/SubscriptionRef"
import * as AuthError from "../AuthError.ts"
import type { Challenge } from "../Challenge.ts"
import type * as Credentials from "../Credentials.ts"
import * as Discovery from "../Discovery.ts"
import type { Dpop } from "../Dpop.ts"
import type { Grant } from "../Grant.ts"
import type { LoginStatus } from "../LoginStatus.ts"
import type { TokenEndpoint } from "../TokenEndpoint.ts"
import * as Discover from "./discover.ts"
import { parse, type Scopes, union } from "./scopeChoice.ts"
import { Setbacks } from "./setbacks.ts"
import type { Binding, Vault } from "./vault.ts"
import { WantedScopes } from "./wantedScopes.ts"

/** Options with their defaults; times in milliseconds. */
export interface Settings {
  readonly url: URL
  readonly grant: Grant
  readonly scopes: Scopes | undefined
  readonly offlineAccess: boolean
  /** Whether nobody is asked but by `login`. */
  readonly asksLater: boolean
  readonly maxStepUps: number
  readonly refreshAhead: number
  readonly discoveryLife: number
  readonly backoff: { readonly first: number; readonly longest: number }
  readonly vault: Vault
  readonly discovery: Discover.Options
  readonly endpoint: TokenEndpoint
  readonly dpop: Dpop | undefined
}

/** Tokens that requests carry. The object itself stands for them: a new one is made whenever they change. */
export interface Held {
  readonly tokens: Credentials.Tokens
  readonly issuer: string
  readonly resource: string
  readonly found: Binding["found"]
  readonly named: string | undefined
  /** From when on, in milliseconds since the epoch, new ones are asked for. */
  readonly refreshAt: number
}

/** One time that something went wrong; the object itself stands for it. */
export type Trouble = object

export const isSame = (a: Credentials.Tokens, b: Credentials.Tokens): boolean =>
  Redacted.value(a.accessToken) === Redacted.value(b.accessToken)

const hasSameRefresh = (a: Credentials.Tokens, b: Credentials.Tokens): boolean =>
  a.refreshToken !== undefined && b.refreshToken !== undefined &&
  Redacted.value(a.refreshToken) === Redacted.value(b.refreshToken)

const isNewer = (a: Credentials.Tokens, b: Credentials.Tokens): boolean =>
  a.expiresAt !== undefined && b.expiresAt !== undefined && a.expiresAt > b.expiresAt

const bindingOf = ({ found, issuer, named, resource }: Held): Binding => ({
  issuer,
  resource,
  found,
  ...(named === undefined ? undefined : { named })
})

/** The part of a token's life, at its end, in which it is renewed at the most: short lives are not used up by it. */
const part = 0.1

export class Keeper {
  readonly settings: Settings
  readonly setbacks: Setbacks
  readonly status: SubscriptionRef.SubscriptionRef<LoginStatus>
  /** What requests carry. */
  held: Held | undefined = undefined
  /** Why the last login came to nothing, while nobody is logged in. */
  vain: AuthError.AuthError | undefined = undefined
  /** What is wrong now. */
  trouble: Trouble | undefined = undefined
  /** Whether the store was looked at. */
  loaded = false
  /** What the last challenge said, for a login that is asked for later. */
  hint: Discover.Hint = {}
  readonly wanted = new WantedScopes()
  private discovered: {
    readonly found: Discover.Discovered
    readonly named: string | undefined
    readonly until: number
  } | undefined = undefined
  private unsaved: { readonly error: AuthError.AuthError; readonly retryAt: number } | undefined = undefined

  constructor(settings: Settings, status: SubscriptionRef.SubscriptionRef<LoginStatus>) {
    this.settings = settings
    this.setbacks = new Setbacks(settings.backoff)
    this.status = status
  }

  /** How the server is called in errors. */
  get name(): string {
    const { url } = this.settings
    return url.origin + url.pathname
  }

  /** Tells it, unless it is told already. */
  say(status: LoginStatus): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.trouble = status._tag === "Failed" || status._tag === "NeedsLogin" ? {} : undefined
      return SubscriptionRef.updateSome(
        this.status,
        (told) => Equal.equals(told, status) ? Option.none() : Option.some(status)
      )
    })
  }

  /** A request was served after something went wrong, with what is held: it was the server that was not ready. */
  healed(held: Held, trouble: Trouble): Effect.Effect<void> {
    return Effect.suspend(() => this.trouble === trouble && this.held === held ? this.rest : Effect.void)
  }

  /** Whether nobody has to do anything, and nothing is under way. */
  get isResting(): Effect.Effect<boolean> {
    return Effect.map(SubscriptionRef.get(this.status), ({ _tag }) => _tag === "LoggedIn" || _tag === "Anonymous")
  }

  /** What is so when nothing is under way. */
  get rest(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { held, unsaved, wanted } = this
      return this.say(
        held === undefined ? { _tag: "Anonymous" } : {
          _tag: "LoggedIn",
          issuer: held.issuer,
          resource: held.resource,
          scopes: held.tokens.scopes,
          expiresAt: held.tokens.expiresAt,
          missing: wanted.lacking,
          unsaved: unsaved?.error
        }
      )
    })
  }

  /** Whether tokens can be used here: what is bound to a key is worth nothing without it. */
  isUsable({ tokenType }: Credentials.Tokens): boolean {
    return tokenType === "Bearer" || this.settings.dpop !== undefined
  }

  /** Whether new tokens can be had without asking anybody. */
  isRenewable({ tokens }: Held): boolean {
    const { grant } = this.settings
    return (grant.refreshes && tokens.refreshToken !== undefined) || !grant.interactive
  }

  /** Takes what the store has from an earlier run. */
  get load(): Effect.Effect<void, AuthError.AuthError> {
    return Effect.suspend(() => {
      if (this.loaded) return Effect.void
      const { settings: { url, vault } } = this
      return Effect.gen({ self: this }, function*() {
        const binding = yield* vault.binding(this.name).get
        const tokens = binding !== undefined && Discovery.covers(binding.resource, url)
          ? yield* vault.tokens(binding).get
          : undefined
        if (binding !== undefined && tokens !== undefined) yield* this.take(tokens, binding)
        this.loaded = true
      })
    })
  }

  /** What the store has for an issuer and a resource, if it may be used and is not what is held or was just replaced. */
  stored(key: Credentials.TokensKey): Effect.Effect<Credentials.Tokens | undefined, AuthError.AuthError> {
    if (this.unsaved !== undefined) return Effect.undefined
    return Effect.map(
      this.settings.vault.tokens(key).get,
      (tokens) => tokens !== undefined && this.isUsable(tokens) ? tokens : undefined
    )
  }

  /** From now on requests carry these. */
  take(tokens: Credentials.Tokens, { found, issuer, named, resource }: Binding): Effect.Effect<Held | undefined> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (!this.isUsable(tokens)) return Effect.undefined
      const { expiresAt } = tokens
      const ahead = expiresAt === undefined ? 0 : Math.min(this.settings.refreshAhead, (expiresAt - now) * part)
      const held: Held = {
        tokens,
        issuer,
        resource,
        found,
        named,
        refreshAt: expiresAt === undefined ? Number.POSITIVE_INFINITY : expiresAt - Math.max(ahead, 0)
      }
      this.held = held
      this.loaded = true
      this.wanted.met()
      this.vain = undefined
      this.setbacks.relent()
      return Effect.as(this.rest, held)
    })
  }

  /** The same for new ones, which are kept in the store too; where that fails they stay here, and it is told. */
  keep(tokens: Credentials.Tokens, binding: Binding): Effect.Effect<void> {
    return Effect.andThen(this.take(tokens, binding), this.save)
  }

  private get save(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function*() {
      const { held, settings: { backoff, vault } } = this
      if (held === undefined) return
      const { resource, tokens } = held
      const saving = Effect.andThen(vault.tokens(held).set(tokens), vault.binding(this.name).set(bindingOf(held)))
      const error = yield* Effect.match(saving, { onFailure: (error) => error, onSuccess: () => undefined })
      const now = yield* Clock.currentTimeMillis
      if (this.held === held) this.unsaved = error === undefined ? undefined : { error, retryAt: now + backoff.longest }
      if (error !== undefined) yield* Effect.logWarning(`Tokens for ${resource} are not kept: ${error.message}`)
      yield* this.rest
    })
  }

  /** What a request can carry without more ado. */
  ready(clock: Clock.Clock): Held | undefined {
    const { held } = this
    if (held === undefined || this.unsaved !== undefined) return undefined
    const { refreshAt } = held
    return refreshAt === Number.POSITIVE_INFINITY || clock.currentTimeMillisUnsafe() < refreshAt ? held : undefined
  }

  /** Why the tokens are not in the store. */
  get unkept(): AuthError.AuthError | undefined {
    return this.unsaved?.error
  }

  /** Tries again to keep what could not be kept, now and then, unless another process has got newer ones meanwhile. */
  saveLater(now: number): Effect.Effect<void> {
    const { held, settings: { backoff, vault }, unsaved } = this
    if (held === undefined || unsaved === undefined || now < unsaved.retryAt) return Effect.void
    this.unsaved = { ...unsaved, retryAt: now + backoff.longest }
    const again = Effect.gen({ self: this }, function*() {
      const stored = yield* vault.tokens(held).get
      if (this.held !== held) return
      if (stored === undefined || !isNewer(stored, held.tokens)) return yield* this.save
      this.unsaved = undefined
      yield* this.take(stored, bindingOf(held))
    })
    // A store that cannot be locked or read is no place to write to; that nothing is kept is told already.
    return Effect.ignore(vault.exclusive(held, again))
  }

  /** Nothing is carried any more; the store keeps what it has. */
  get forget(): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.held = undefined
      this.wanted.met()
      this.unsaved = undefined
      return this.rest
    })
  }

  /** The tokens are worth nothing: they leave the store too, unless others are there by now. */
  drop(held: Held): Effect.Effect<void, AuthError.AuthError> {
    const entry = this.settings.vault.tokens(held)
    return Effect.gen({ self: this }, function*() {
      if (this.held === held) yield* this.forget
      this.wanted.ask(held.issuer, held.tokens.scopes)
      const kept = yield* entry.get
      if (kept !== undefined && (isSame(kept, held.tokens) || hasSameRefresh(kept, held.tokens))) yield* entry.remove
    })
  }

  /**
   * Whatever is kept in the place of these tokens leaves the store; gives it where it is others, which somebody else who
   * shares the store has put there.
   */
  clear(held: Held): Effect.Effect<Credentials.Tokens | undefined, AuthError.AuthError> {
    const { vault } = this.settings
    const entry = vault.tokens(held)
    const cleared = Effect.gen({ self: this }, function*() {
      if (this.held === held) yield* this.forget
      // What cannot be read can be removed all the same.
      const kept = yield* Effect.orElseSucceed(entry.get, () => undefined)
      yield* entry.remove
      return kept === undefined || isSame(kept, held.tokens) ? undefined : kept
    })
    return vault.exclusive(held, cleared)
  }

  /** A later start does not know any more where the server was logged in at. */
  get unbind(): Effect.Effect<void, AuthError.AuthError> {
    return this.settings.vault.binding(this.name).remove
  }

  /** Somebody is shown a page. */
  visit(url: string): Effect.Effect<void> {
    return SubscriptionRef.updateSome(
      this.status,
      (status) => status._tag === "LoggingIn" ? Option.some({ ...status, url }) : Option.none()
    )
  }

  // Scopes.

  /** What was granted or asked for before at this issuer, for this resource. */
  earlier({ issuer, resource }: Credentials.TokensKey): Scopes {
    const { held, wanted } = this
    return union(
      held?.issuer === issuer && held.resource === resource ? held.tokens.scopes : undefined,
      wanted.askedAt(issuer)
    )
  }

  /** What a challenge says about how to log in is good for later logins too. */
  heed({ parameters }: Challenge, protocolVersion: string | undefined): void {
    const resourceMetadata = parameters.get("resource_metadata") ?? this.hint.resourceMetadata
    this.hint = { resourceMetadata, protocolVersion: protocolVersion ?? this.hint.protocolVersion }
    this.wanted.challenge(parse(parameters.get("scope")))
  }

  /** A call needs these, and nobody is to be asked now. */
  lack(scopes: Scopes): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.wanted.lack(scopes)
      return this.rest
    })
  }

  // Discovery.

  /** How to log in; looked up anew where the server moved, or after a while. */
  find(isAnew: boolean): Effect.Effect<Discover.Discovered, AuthError.AuthError> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { discovered, hint, settings } = this
      const named = hint.resourceMetadata
      if (!isAnew && discovered !== undefined && discovered.named === named && now < discovered.until) {
        return Effect.succeed(discovered.found)
      }
      this.discovered = undefined
      return Effect.tap(Discover.discover(settings.discovery, hint), (found) =>
        Effect.sync(() => {
          this.discovered = { found, named, until: now + settings.discoveryLife }
        }))
    })
  }

  /** The authorization server that gave the tokens, without a look at where the server is now. */
  home(held: Held): Effect.Effect<Discover.Discovered, AuthError.AuthError> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { discovered, settings } = this
      const known = discovered?.found
      if (
        known !== undefined && now < (discovered?.until ?? 0) && known.server.issuer === held.issuer &&
        known.resource === held.resource
      ) return Effect.succeed(known)
      const { named, resource } = held
      const common = { resource, named, scopes: undefined, metadataUrl: undefined, attempts: [] }
      if (held.found === "defaults") {
        const metadata = Discovery.defaultMetadata(held.issuer)
        return Effect.succeed({ ...common, server: { issuer: held.issuer, metadata, found: held.found } })
      }
      return Effect.flatMap(
        Discover.byIssuer(settings.discovery, named ?? held.issuer),
        (server) =>
          server.issuer === held.issuer
            ? Effect.succeed({ ...common, server: { ...server, found: held.found } })
            // Its name stands for another one now, to whom these tokens are nobody's (ACL-13).
            : AuthError.fail(new AuthError.LoginExpired({ resource, issuer: held.issuer }))
      )
    })
  }
}

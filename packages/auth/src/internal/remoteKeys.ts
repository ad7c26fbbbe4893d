/** The keys of an issuer as it publishes them: fetched when needed, once for all who wait, and never as often as asked. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { AuthError } from "../AuthError.ts"
import { VerifierUnavailable } from "../TokenVerifier.ts"
import { type PublicKey, select } from "./keySet.ts"
import { Together } from "./together.ts"

/** Where keys come from. An empty answer says that nobody has signed with such a key. */
export interface KeySource {
  readonly find: (
    alg: string,
    kid: string | undefined
  ) => Effect.Effect<ReadonlyArray<PublicKey>, VerifierUnavailable>
}

export interface RemoteOptions {
  readonly issuer: string
  readonly load: Effect.Effect<ReadonlyArray<PublicKey>, AuthError>
  /** All in milliseconds. After `keyLife` keys are fetched anew. */
  readonly keyLife: number
  /** For how long after that they are used where they cannot be. */
  readonly keyGrace: number
  /** Between two fetches, whatever asks for them; at most 5 seconds where there are no keys at all. */
  readonly cooldown: number
  readonly scope: Scope.Scope
}

type Keys = ReadonlyArray<PublicKey>

/** Longest wait after a failure where nothing can be checked without keys. */
const retry = 5000

export class RemoteKeys implements KeySource {
  private readonly options: RemoteOptions
  private readonly fetches: Together<void, never>
  private keys: Keys | undefined
  private loadedAt = 0
  /** When the last fetch ended, and how. */
  private triedAt = Number.NEGATIVE_INFINITY
  private failure: AuthError | undefined

  constructor(options: RemoteOptions) {
    this.options = options
    this.fetches = new Together(options.scope)
  }

  find(alg: string, kid: string | undefined): Effect.Effect<Keys, VerifierUnavailable> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const fresh = this.isFresh(now)
      const found = this.keys === undefined ? [] : select(this.keys, alg, kid)
      if (fresh && found.length > 0) return Effect.succeed(found)
      // A key id that nobody knows is worth one fetch now and then: anybody can make them up.
      return this.mayFetch(now) || this.fetches.has("")
        ? Effect.flatMap(this.fetch, () => this.settle(alg, kid, true))
        : this.settle(alg, kid, false)
    })
  }

  private isFresh(now: number): boolean {
    return this.keys !== undefined && now - this.loadedAt < this.options.keyLife
  }

  private mayFetch(now: number): boolean {
    const { cooldown } = this.options
    return now - this.triedAt >= (this.keys === undefined ? Math.min(cooldown, retry) : cooldown)
  }

  /** Keys that were fetched just now are all there are, however short `keyLife` is. */
  private settle(alg: string, kid: string | undefined, fetched: boolean): Effect.Effect<Keys, VerifierUnavailable> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const usable = now - this.loadedAt < this.options.keyLife + this.options.keyGrace
      const found = this.keys === undefined || !usable ? [] : select(this.keys, alg, kid)
      if (found.length > 0 || (this.failure === undefined && (fetched || this.isFresh(now)))) {
        return Effect.succeed(found)
      }
      return Effect.fail(
        new VerifierUnavailable({
          detail: `the keys of ${this.options.issuer} cannot be had`,
          ...(this.failure === undefined ? undefined : { cause: this.failure })
        })
      )
    })
  }

  private get fetch(): Effect.Effect<void> {
    return this.fetches.run(
      "",
      this.options.load.pipe(
        Effect.flatMap((keys) => Effect.map(Clock.currentTimeMillis, (now) => this.loaded(keys, now))),
        Effect.catch((error) => Effect.flatMap(Clock.currentTimeMillis, (now) => this.failed(error, now)))
      )
    )
  }

  private loaded(keys: Keys, now: number): void {
    this.keys = keys
    this.loadedAt = now
    this.triedAt = now
    this.failure = undefined
  }

  private failed(error: AuthError, now: number): Effect.Effect<void> {
    this.triedAt = now
    this.failure = error
    return Effect.logWarning(`The keys of ${this.options.issuer} could not be fetched: ${error.message}`)
  }
}

/** Keys that the program knows by itself. */
export const given = (keys: Keys): KeySource => ({ find: (alg, kid) => Effect.succeed(select(keys, alg, kid)) })

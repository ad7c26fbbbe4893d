/** Checks signed tokens of the issuers that are trusted, and remembers for a while which were good. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { InvalidToken, type Verified, type VerifierUnavailable } from "../TokenVerifier.ts"
import { type Claims, forNames, type Good, judge, type ToPrincipal, wrongIssuer } from "./claims.ts"
import * as jwt from "./jwt.ts"
import { member } from "./members.ts"
import { quoted, quotedAll } from "./quoted.ts"
import { Remembered } from "./remembered.ts"
import type { KeySource } from "./remoteKeys.ts"
import { sha256 } from "./sha256.ts"

/** An issuer, with what its tokens are signed with: public keys, or a secret. */
export interface Trusted {
  readonly issuer: string
  readonly algorithms: ReadonlySet<string>
  readonly keys: KeySource | Uint8Array
}

export interface JwtOptions {
  readonly trusted: ReadonlyMap<string, Trusted>
  readonly audience: ReadonlyArray<string>
  readonly skew: number
  readonly typeRequired: boolean
  readonly requiredClaims: ReadonlyArray<string>
  readonly principal: ToPrincipal | undefined
  readonly cacheLife: number
  readonly cacheSize: number
}

const invalid = (reason: InvalidToken["reason"], detail?: string) =>
  Effect.fail(new InvalidToken(detail === undefined ? { reason } : { reason, detail }))

export class JwtVerifier {
  private readonly options: JwtOptions
  private readonly good: Remembered<Good>

  constructor(options: JwtOptions) {
    this.options = options
    this.good = new Remembered(options.cacheLife === 0 ? 0 : options.cacheSize)
  }

  verify(token: string, names: ReadonlyArray<string>): Effect.Effect<Verified, InvalidToken | VerifierUnavailable> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { cacheLife } = this.options
      const key = cacheLife === 0 ? "" : sha256(token)
      const known = cacheLife === 0 ? undefined : this.good.get(key, now)
      if (known !== undefined) return forNames(known, names, this.options.audience)
      return Effect.flatMap(this.check(token, now), (good) => {
        const until = Math.min(now + cacheLife, good.verified.expiresAt ?? Number.POSITIVE_INFINITY)
        this.good.set(key, good, until, now)
        return forNames(good, names, this.options.audience)
      })
    })
  }

  private check(token: string, now: number): Effect.Effect<Good, InvalidToken | VerifierUnavailable> {
    const read = jwt.read(token)
    if (read._tag === "Failure") return Effect.fail(read.failure)
    const { alg, claims, type } = read.success
    const issuer = member(claims, "iss")
    const trusted = typeof issuer === "string" ? this.options.trusted.get(issuer) : undefined
    if (trusted === undefined) return Effect.fail(wrongIssuer(issuer, [...this.options.trusted.keys()]))
    if (!trusted.algorithms.has(alg)) {
      return invalid("algorithm", `it is ${quoted(alg)}, and taken are ${quotedAll([...trusted.algorithms])}`)
    }
    if (!jwt.isAccessToken(type, this.options.typeRequired)) {
      return invalid("type", `it is ${type === undefined ? "of no type" : quoted(type)}, and no access token`)
    }
    return Effect.flatMap(this.signature(token, read.success, trusted), () => this.claims(claims, trusted.issuer, now))
  }

  private signature(
    token: string,
    { alg, kid }: jwt.Unverified,
    { keys }: Trusted
  ): Effect.Effect<void, InvalidToken | VerifierUnavailable> {
    if (keys instanceof Uint8Array) return jwt.checkSignature(token, keys, alg)
    return Effect.flatMap(keys.find(alg, kid), (candidates) => {
      const [first, ...others] = candidates.map((candidate) =>
        candidate.forAlgorithm(alg).pipe(
          Effect.mapError(() => new InvalidToken({ reason: "signature" })),
          Effect.flatMap((key) => jwt.checkSignature(token, key, alg))
        )
      )
      if (first === undefined) return invalid("signature")
      return others.reduce((tried, next) => Effect.catch(tried, () => next), first)
    })
  }

  private claims(claims: Claims, issuer: string, now: number): Effect.Effect<Good, InvalidToken> {
    const { principal, requiredClaims, skew } = this.options
    if (!requiredClaims.every((name) => jwt.isPresent(claims, name))) return invalid("claims")
    const good = judge(claims, { issuer, principal, now, skew, endRequired: true })
    return typeof good === "string" ? invalid(good) : Effect.succeed(good)
  }
}

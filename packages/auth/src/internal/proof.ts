/** Proofs that whoever presents a token has the key it is bound to (RFC 9449, 4.3), as the server checks them. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { decodeProtectedHeader } from "jose/decode/protected_header"
import type { ProofReplay } from "../ProofReplay.ts"
import type { VerifierUnavailable } from "../TokenVerifier.ts"
import { canonical } from "./audience.ts"
import { checkSignature, read } from "./jwt.ts"
import { isPrivate, type PublicKey, readKey } from "./keySet.ts"
import { member } from "./members.ts"
import type { Nonces } from "./nonces.ts"
import { Remembered } from "./remembered.ts"
import { sameText } from "./sameText.ts"
import { sha256 } from "./sha256.ts"

/** What a proof has to be for. */
export interface Use {
  readonly method: string
  /** The addresses that the request may have been sent to. */
  readonly urls: ReadonlyArray<string>
  readonly token: string
  /** The thumbprint of the key that the token is bound to. */
  readonly boundTo: string
}

export interface ProofOptions {
  readonly algorithms: ReadonlyArray<string>
  /** Milliseconds that a proof is good for, and that clocks may be apart. */
  readonly maxAge: number
  readonly skew: number
  readonly replay: ProofReplay["Service"]
  readonly nonces: Nonces | undefined
}

/** `nonce`: all else may be right, but the server wants one of its own nonces in it. */
export type Fault = "invalid" | "nonce"

const maxLength = 8192
/** Keys that are kept imported. */
const maxKeys = 1000
const keyLife = 10 * 60_000

/** The members that a thumbprint is made of, in its order (RFC 7638, 3.2). */
const identity: ReadonlyMap<unknown, ReadonlyArray<string>> = new Map([
  ["RSA", ["e", "kty", "n"]],
  ["EC", ["crv", "kty", "x", "y"]],
  ["OKP", ["crv", "kty", "x"]]
])

const thumbprint = (jwk: object): string | undefined => {
  const names = identity.get(Reflect.get(jwk, "kty"))
  return names === undefined
    ? undefined
    : sha256(JSON.stringify(Object.fromEntries(names.map((name) => [name, Reflect.get(jwk, name)]))))
}

const withoutQuery = (url: string): string => url.replace(/[?#].*$/s, "")

const invalid = Effect.fail<Fault>("invalid")

/** The key that a proof brings along. */
const keyOf = (proof: string): object | undefined => {
  const header = Result.getOrUndefined(Result.try(() => decodeProtectedHeader(proof)))
  const jwk: unknown = header === undefined ? undefined : header.jwk
  return Predicate.isObject(jwk) && !isPrivate(jwk) ? jwk : undefined
}

export class Proofs {
  private readonly options: ProofOptions
  private readonly keys = new Remembered<PublicKey>(maxKeys)

  constructor(options: ProofOptions) {
    this.options = options
  }

  check(proof: string | undefined, use: Use): Effect.Effect<void, Fault | VerifierUnavailable> {
    if (proof === undefined || proof.length > maxLength) return invalid
    const parts = Result.getOrUndefined(read(proof))
    const jwk = parts === undefined ? undefined : keyOf(proof)
    if (parts === undefined || jwk === undefined) return invalid
    const { alg, claims, type } = parts
    if (type !== "dpop+jwt" || !this.options.algorithms.includes(alg)) return invalid
    const known = thumbprint(jwk)
    if (known === undefined || !sameText(known, use.boundTo)) return invalid
    const id = member(claims, "jti")
    const target = member(claims, "htu")
    if (typeof id !== "string" || id === "" || member(claims, "htm") !== use.method) return invalid
    if (typeof target !== "string" || !this.isFor(target, use.urls)) return invalid
    const hash = member(claims, "ath")
    if (typeof hash !== "string" || !sameText(hash, sha256(use.token))) return invalid
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const { maxAge, replay, skew } = this.options
      const issued = member(claims, "iat")
      const age = typeof issued === "number" ? now - issued * 1000 : Number.NaN
      if (!(age >= -skew && age <= maxAge + skew)) return invalid
      const key = this.keys.get(known, now) ?? readKey(jwk)
      if (key === undefined) return invalid
      this.keys.set(known, key, now + keyLife, now)
      return key.forAlgorithm(alg).pipe(
        Effect.flatMap((key) => checkSignature(proof, key, alg)),
        Effect.catch(() => invalid),
        Effect.andThen(this.nonce(member(claims, "nonce"), now)),
        // Last, so that nobody fills the table but who has the key and a token for it.
        Effect.andThen(replay.claim(sha256(`${known} ${id}`), maxAge + 2 * skew)),
        Effect.flatMap((first) => first ? Effect.void : invalid)
      )
    })
  }

  private isFor(target: string, urls: ReadonlyArray<string>): boolean {
    const wanted = canonical(withoutQuery(target))
    return urls.some((url) => canonical(withoutQuery(url)) === wanted)
  }

  private nonce(nonce: unknown, now: number): Effect.Effect<void, Fault> {
    const { nonces } = this.options
    if (nonces === undefined) return Effect.void
    return Effect.flatMap(nonces.isGood(nonce, now), (good) => good ? Effect.void : Effect.fail<Fault>("nonce"))
  }
}

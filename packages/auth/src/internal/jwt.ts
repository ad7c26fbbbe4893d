/** A signed token, taken apart and checked against what is pinned. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import { decodeProtectedHeader } from "jose/decode/protected_header"
import * as errors from "jose/errors"
import { compactVerify } from "jose/jws/compact/verify"
import { decodeJwt } from "jose/jwt/decode"
import { InvalidToken } from "../TokenVerifier.ts"
import type { Claims } from "./claims.ts"

/** What a token says about itself, before anything of it is believed. */
export interface Unverified {
  readonly alg: string
  readonly kid: string | undefined
  /** In lower case, without `application/`. */
  readonly type: string | undefined
  readonly claims: Claims
}

const malformed = (): InvalidToken => new InvalidToken({ reason: "malformed" })

const shape = /^[\w-]+\.[\w-]+\.[\w-]*$/

/** Header and claims of a token in the compact form; fails for what is none, such as an opaque or an encrypted one. */
export const read = (token: string): Result.Result<Unverified, InvalidToken> => {
  if (!shape.test(token)) return Result.fail(malformed())
  const read = Result.try({
    try: (): Unverified | undefined => {
      const { alg, crit, kid, typ } = decodeProtectedHeader(token)
      // No extension is understood here, so none may be critical (RFC 7515, 4.1.11); one changes what is signed.
      if (crit !== undefined) return undefined
      const claims: Claims = decodeJwt(token)
      return {
        alg: typeof alg === "string" ? alg : "",
        kid: typeof kid === "string" ? kid : undefined,
        type: typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : undefined,
        claims
      }
    },
    catch: malformed
  })
  return Result.flatMap(read, (token) => token === undefined ? Result.fail(malformed()) : Result.succeed(token))
}

const failure = (error: unknown): InvalidToken =>
  new InvalidToken({
    reason: error instanceof errors.JWSInvalid
      ? "malformed"
      : error instanceof errors.JOSEAlgNotAllowed
      ? "algorithm"
      // Also where the key is too weak to say anything.
      : "signature"
  })

/** Succeeds where the key has signed the token, with this algorithm and no other. */
export const checkSignature = (
  token: string,
  key: CryptoKey | Uint8Array,
  algorithm: string
): Effect.Effect<void, InvalidToken> =>
  Effect.asVoid(
    Effect.tryPromise({ try: () => compactVerify(token, key, { algorithms: [algorithm] }), catch: failure })
  )

/** Types of tokens that are access tokens, or do not say what they are (RFC 9068, 2.1; RFC 8725, 3.11). */
export const isAccessToken = (type: string | undefined, demanded: boolean): boolean =>
  type === "at+jwt" || (!demanded && (type === undefined || type === "jwt"))

/** Whether a value is there that says something. */
export const isPresent = (claims: Claims, name: string): boolean =>
  Object.hasOwn(claims, name) && Predicate.isNotNullish(claims[name])

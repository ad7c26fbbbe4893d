/** The signing keys of the server: a current one, and earlier ones while they are still published. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Jose from "jose"
import type { SigningKey, TokenSpec } from "./model.ts"

export interface KeyRing {
  current: SigningKey
  /** The one before, whether it is published or not. */
  previous: SigningKey | undefined
  published: ReadonlyArray<SigningKey>
}

export const generate = (alg: string, kid: string): Effect.Effect<SigningKey> =>
  Effect.gen(function*() {
    const { privateKey, publicKey } = yield* Effect.promise(() => Jose.generateKeyPair(alg, { extractable: true }))
    const jwk = yield* Effect.promise(() => Jose.exportJWK(publicKey))
    return { kid, alg, privateKey, publicKey, jwk: { ...jwk, kid, alg, use: "sig" } }
  })

export const jwks = (ring: KeyRing): Jose.JSONWebKeySet => ({ keys: ring.published.map(({ jwk }) => jwk) })

/** How many earlier keys stay published. */
const kept = 8

export const rotate = (ring: KeyRing, key: SigningKey, keep: boolean): void => {
  ring.previous = ring.current
  ring.current = key
  ring.published = keep ? [key, ...ring.published].slice(0, kept) : [key]
}

const defined = (record: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined))

/** Signs claims with the current key. */
export const sign = (
  ring: KeyRing,
  claims: Readonly<Record<string, unknown>>,
  typ: string
): Effect.Effect<string> =>
  Effect.promise(() =>
    new Jose.SignJWT(defined(claims))
      .setProtectedHeader({ alg: ring.current.alg, kid: ring.current.kid, typ })
      .sign(ring.current.privateKey)
  )

const encode = (value: unknown): string => Jose.base64url.encode(JSON.stringify(value))

/** Signs claims in the way that a test wants, which may be a wrong one. */
export const signAs = (
  ring: KeyRing,
  claims: Readonly<Record<string, unknown>>,
  { header = {}, sign: how = "key" }: TokenSpec
): Effect.Effect<string> =>
  Effect.gen(function*() {
    const payload = defined(claims)
    const { alg, kid } = ring.current
    const head = (usual: Record<string, unknown>) => defined({ typ: "at+jwt", kid, ...usual, ...header })
    if (how === "none") return `${encode(head({ alg: "none" }))}.${encode(payload)}.`
    if (how === "public key as secret") {
      const secret = yield* Effect.promise(() => Jose.exportSPKI(ring.current.publicKey))
      const bytes = new TextEncoder().encode(secret)
      return yield* Effect.promise(() =>
        new Jose.SignJWT(payload).setProtectedHeader({ ...head({}), alg: "HS256" }).sign(bytes)
      )
    }
    const key = how === "previous"
      ? ring.previous ?? ring.current
      : how === "stranger"
      ? { ...(yield* generate(alg, kid)), kid }
      : ring.current
    return yield* Effect.promise(() =>
      new Jose.SignJWT(payload).setProtectedHeader({ ...head({ kid: key.kid }), alg: key.alg }).sign(key.privateKey)
    )
  })

/** Algorithms of signatures that are taken from others: asymmetric ones only. */
export const algorithms = [
  "ES256",
  "ES384",
  "ES512",
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "Ed25519",
  "EdDSA"
]

/** A JWT of somebody else, checked at the time of the clock; fails with what is wrong with it. */
export const verify = (
  token: string,
  keys: Jose.JSONWebKeySet,
  options: Jose.JWTVerifyOptions
): Effect.Effect<Jose.JWTVerifyResult, string> =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    Effect.tryPromise({
      try: () =>
        Jose.jwtVerify(token, Jose.createLocalJWKSet(keys), { algorithms, currentDate: new Date(now), ...options }),
      catch: (error) => error instanceof Error ? error.message : "not a JWT"
    }))

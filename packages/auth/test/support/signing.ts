/** Keys and tokens of an issuer that exists in tests only. Times are those of the test's clock, which begins at 0. */
import { Effect, Redacted } from "effect"
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from "jose"

export const issuer = "https://login.example.com"
export const resource = "https://mcp.example.com/mcp"

export interface Key {
  readonly kid: string
  readonly alg: string
  readonly secret: CryptoKey
  readonly jwk: Readonly<Record<string, unknown>>
  readonly pem: string
}

export const makeKey = async (kid: string, alg = "ES256"): Promise<Key> => {
  const pair = await generateKeyPair(alg, { extractable: true })
  const jwk = { ...await exportJWK(pair.publicKey), kid, alg, use: "sig" }
  return { kid, alg, secret: pair.privateKey, jwk, pem: await exportSPKI(pair.publicKey) }
}

export interface Signing {
  readonly header?: Readonly<Record<string, unknown>>
  readonly secret?: CryptoKey | Uint8Array
}

/** What every token has; `undefined` takes a claim out. */
export const sign = (key: Key, claims: Readonly<Record<string, unknown>> = {}, signing: Signing = {}) =>
  Effect.promise(() => {
    const all = {
      iss: issuer,
      sub: "ada",
      aud: resource,
      client_id: "editor",
      scope: "a b",
      iat: 0,
      exp: 3600,
      ...claims
    }
    const payload: JWTPayload = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
    return new SignJWT(payload)
      .setProtectedHeader({ alg: key.alg, kid: key.kid, typ: "at+jwt", ...signing.header })
      .sign(signing.secret ?? key.secret)
  })

export const redacted = (token: string) => Redacted.make(token)

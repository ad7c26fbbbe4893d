/** Sets of public keys (RFC 7517), as they are met: with keys for other ends, twice, or of no use at all. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as jose from "jose/key/import"
import { isMembers, member, parseJson } from "./members.ts"

/** Algorithms that are checked with a public key: what each needs of one. */
const families: ReadonlyMap<string, { readonly kty: string; readonly crv?: string }> = new Map([
  ["RS256", { kty: "RSA" }],
  ["RS384", { kty: "RSA" }],
  ["RS512", { kty: "RSA" }],
  ["PS256", { kty: "RSA" }],
  ["PS384", { kty: "RSA" }],
  ["PS512", { kty: "RSA" }],
  ["ES256", { kty: "EC", crv: "P-256" }],
  ["ES384", { kty: "EC", crv: "P-384" }],
  ["ES512", { kty: "EC", crv: "P-521" }],
  ["EdDSA", { kty: "OKP", crv: "Ed25519" }],
  ["Ed25519", { kty: "OKP", crv: "Ed25519" }]
])

/** Every algorithm of public keys that there is. */
export const asymmetric: ReadonlyArray<string> = [...families.keys()]

/** What makes a key a private one or a secret (RFC 7518, 6; RFC 9964). */
const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"]

/** The members that a public key is made of; nothing else of one is looked at. */
const publicMembers = ["kty", "crv", "n", "e", "x", "y"] as const

type Material = { readonly [name in (typeof publicMembers)[number]]?: string }

const textMember = (jwk: object, name: string): string | undefined => {
  const value: unknown = Object.hasOwn(jwk, name) ? Reflect.get(jwk, name) : undefined
  return typeof value === "string" ? value : undefined
}

export const isPrivate = (jwk: object): boolean => secretMembers.some((name) => Object.hasOwn(jwk, name))

/** A public key, imported once for each algorithm it is used with. */
export class PublicKey {
  readonly kid: string | undefined
  private readonly alg: string | undefined
  private readonly material: Material
  private readonly imported = new Map<string, CryptoKey>()

  constructor(material: Material, kid: string | undefined, alg: string | undefined) {
    this.material = material
    this.kid = kid
    this.alg = alg
  }

  fits(alg: string): boolean {
    const family = families.get(alg)
    return family !== undefined && family.kty === this.material.kty && (this.alg === undefined || this.alg === alg) &&
      (family.crv === undefined || family.crv === this.material.crv)
  }

  /** Fails where it is no key after all. */
  forAlgorithm(alg: string): Effect.Effect<CryptoKey, "unfit"> {
    const known = this.imported.get(alg)
    if (known !== undefined) return Effect.succeed(known)
    return Effect.tryPromise({ try: () => jose.importJWK({ ...this.material }, alg), catch: () => "unfit" as const })
      .pipe(
        Effect.flatMap((key) => key instanceof Uint8Array ? Effect.fail("unfit" as const) : Effect.succeed(key)),
        Effect.tap((key) => Effect.sync(() => this.imported.set(alg, key)))
      )
  }
}

const mayVerify = (jwk: object): boolean => {
  const use = textMember(jwk, "use")
  const operations: unknown = Object.hasOwn(jwk, "key_ops") ? Reflect.get(jwk, "key_ops") : undefined
  return (use === undefined || use === "sig") &&
    (operations === undefined || (Array.isArray(operations) && operations.includes("verify")))
}

/** A key of a set; `undefined` for what cannot check signatures, or should not be in a set at all. */
export const readKey = (jwk: unknown): PublicKey | undefined => {
  if (!Predicate.isObject(jwk) || isPrivate(jwk) || !mayVerify(jwk)) return undefined
  const material: { -readonly [name in keyof Material]: string } = {}
  for (const name of publicMembers) {
    const value = textMember(jwk, name)
    if (value !== undefined) material[name] = value
  }
  const key = new PublicKey(material, textMember(jwk, "kid"), textMember(jwk, "alg"))
  return asymmetric.some((alg) => key.fits(alg)) ? key : undefined
}

/** Keys of a set that are looked at. */
const maxKeys = 256

/** The fit keys of a set; `undefined` for what is none. */
export const parseKeys = (text: string): ReadonlyArray<PublicKey> | undefined => {
  const set = parseJson(text)
  const keys = isMembers(set) ? member(set, "keys") : undefined
  return Array.isArray(keys)
    ? keys.slice(0, maxKeys).map(readKey).filter((key) => key !== undefined)
    : undefined
}

/** Keys that one token is tried with. */
const maxTries = 4

/**
 * The keys that a token may be signed with: those of its key id. Where it names none, or the set names none, those of its
 * algorithm.
 */
export const select = (
  keys: ReadonlyArray<PublicKey>,
  alg: string,
  kid: string | undefined
): ReadonlyArray<PublicKey> => {
  const fit = keys.filter((key) => key.fits(alg))
  const named = kid === undefined ? fit : fit.filter((key) => key.kid === kid)
  return (named.length > 0 ? named : fit.filter((key) => key.kid === undefined)).slice(0, maxTries)
}

/** Private keys in their three forms, each with the one algorithm that it is used with. */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type { CryptoKey, JWK } from "jose"
import { importJWK, importPKCS8 } from "jose/key/import"
import * as AuthError from "../AuthError.ts"
import type { ClientKey } from "../ClientKey.ts"
import { parseJson } from "./members.ts"
import { misconfigured } from "./misconfigured.ts"

export interface SigningKey {
  readonly key: CryptoKey
  readonly algorithm: string
  readonly keyId: string | undefined
  /** The key as JWK, private parts included, where it came as one. */
  readonly jwk: JWK | undefined
}

type Keyed<A> = Effect.Effect<A, AuthError.AuthError>

const unreadable = (): AuthError.AuthError =>
  new AuthError.AuthError({
    reason: new AuthError.Misconfigured({
      detail: "the key of the client cannot be read: it is neither PKCS #8 nor a JWK"
    })
  })

/** Algorithms that one kind of key can sign with; the first is taken where nobody says more. */
type Family = ReadonlyArray<string>

const rsa: Family = ["RS256", "PS256", "RS384", "PS384", "RS512", "PS512"]
const edwards: Family = ["EdDSA", "Ed25519"]
const curves: ReadonlyMap<string, Family> = new Map([
  ["P-256", ["ES256"]],
  ["P-384", ["ES384"]],
  ["P-521", ["ES512"]],
  ["Ed25519", edwards]
])
const families: ReadonlyArray<Family> = [...new Set(curves.values()), rsa]

/** The algorithm: what is pinned, or what the server takes, never one of another kind of key. */
const choose = (
  family: Family,
  pinned: string | undefined,
  supported: ReadonlyArray<string> | undefined
): Keyed<string> => {
  const able = pinned === undefined ? family : family.filter((algorithm) => algorithm === pinned)
  const [first] = able
  if (first === undefined) return misconfigured("the key of the client does not fit its algorithm")
  const chosen = supported === undefined || supported.length === 0
    ? first
    : able.find((algorithm) => supported.includes(algorithm))
  return chosen === undefined
    ? misconfigured(`the authorization server takes no signatures of the client's key, which are ${able.join(" or ")}`)
    : Effect.succeed(chosen)
}

const isPrivate = (jwk: JWK): boolean => typeof jwk.d === "string" && jwk.kty !== "oct"

const familyOfJwk = ({ crv, kty }: JWK): Family | undefined => kty === "RSA" ? rsa : curves.get(crv ?? "")

const fromJwk = Effect.fnUntraced(function*(
  jwk: JWK,
  { algorithm, keyId }: ClientKey,
  supported: ReadonlyArray<string> | undefined
) {
  const family = familyOfJwk(jwk)
  if (family === undefined || !isPrivate(jwk)) return yield* misconfigured("the key of the client is no private key")
  const chosen = yield* choose(family, algorithm ?? jwk.alg, supported)
  const key = yield* Effect.tryPromise({
    try: () => importJWK({ ...jwk, alg: chosen }, chosen),
    catch: unreadable
  })
  if (key instanceof Uint8Array) return yield* Effect.fail(unreadable())
  return { key, algorithm: chosen, keyId: keyId ?? jwk.kid, jwk }
})

const importPem = (pem: string, algorithm: string) =>
  Effect.tryPromise({ try: () => importPKCS8(pem, algorithm), catch: unreadable })

/** PEM does not say what kind of key is in it: the runtime takes it as one kind only. */
const fromPem = Effect.fnUntraced(function*(
  pem: string,
  { algorithm, keyId }: ClientKey,
  supported: ReadonlyArray<string> | undefined
) {
  const [family] = yield* Effect.filter(families, ([first = ""]) => Effect.isSuccess(importPem(pem, first)))
  if (family === undefined) return yield* Effect.fail(unreadable())
  const chosen = yield* choose(family, algorithm, supported)
  const key = yield* importPem(pem, chosen)
  return { key, algorithm: chosen, keyId, jwk: undefined }
})

const familyOfKey = (key: CryptoKey): Family | undefined => {
  const { hash, name, namedCurve }: { name: string; hash?: unknown; namedCurve?: unknown } = key.algorithm
  const bits = Predicate.hasProperty(hash, "name") ? String(hash.name).slice(-3) : ""
  switch (name) {
    case "RSASSA-PKCS1-v1_5":
      return [`RS${bits}`]
    case "RSA-PSS":
      return [`PS${bits}`]
    case "ECDSA":
      return curves.get(String(namedCurve))
    default:
      return curves.get(name)
  }
}

const fromKey = Effect.fnUntraced(function*(
  key: CryptoKey,
  { algorithm, keyId }: ClientKey,
  supported: ReadonlyArray<string> | undefined
) {
  const family = familyOfKey(key)
  if (family === undefined || key.type !== "private") {
    return yield* misconfigured("the key of the client is no private key")
  }
  return { key, algorithm: yield* choose(family, algorithm, supported), keyId, jwk: undefined }
})

const isJwk = (value: unknown): value is JWK =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "kty")

/** Reads a key. `supported` are the algorithms that the server takes; it takes all where it does not say. */
export const importKey = (
  client: ClientKey,
  supported: ReadonlyArray<string> | undefined
): Keyed<SigningKey> => {
  const given = Redacted.value(client.key)
  const value = typeof given === "string" && given.trimStart().startsWith("{") ? parseJson(given) : given
  if (typeof value === "string") return fromPem(value.trim(), client, supported)
  if (isJwk(value)) return fromJwk(value, client, supported)
  return value instanceof CryptoKey ? fromKey(value, client, supported) : Effect.fail(unreadable())
}

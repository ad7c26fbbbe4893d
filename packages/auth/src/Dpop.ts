/**
 * Tokens that are bound to a key (DPoP, RFC 9449), on the client's side: each request shows by a proof that whoever sends it
 * has the key, so that a token alone is worth nothing to a thief.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { CryptoKey, JWK } from "jose"
import { calculateJwkThumbprint } from "jose/jwk/thumbprint"
import { SignJWT } from "jose/jwt/sign"
import { exportJWK } from "jose/key/export"
import { generateKeyPair } from "jose/key/generate/keypair"
import * as AuthError from "./AuthError.ts"
import type { AuthorizationServer } from "./AuthorizationServer.ts"
import { token } from "./internal/random.ts"
import { sha256 } from "./internal/sha256.ts"
import { importKey } from "./internal/signingKey.ts"

/**
 * The header that carries a proof.
 *
 * @category constants
 * @since 0.1.0
 */
export const header = "DPoP"

/** The header that carries the nonce a server wants to see in the next proof (RFC 9449, 8.2). */
const nonceHeader = "dpop-nonce"

/**
 * What a proof is for.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProofRequest {
  readonly method: string
  /** Query and fragment are left out of the proof. */
  readonly url: string
  /** The token that goes along, for requests to a resource server; none at an authorization server. */
  readonly accessToken?: Redacted.Redacted<string> | undefined
}

/**
 * One key, and what servers said about proofs of it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Dpop {
  readonly algorithm: string
  /** The thumbprint of the key (RFC 7638), which tokens are bound to. */
  readonly thumbprint: string
  /** Whether tokens that are not bound to the key are refused. */
  readonly required: boolean
  /** A fresh proof for one request, with the nonce that the server last gave, if it did; the value of the header `DPoP`. */
  readonly proof: (request: ProofRequest) => Effect.Effect<string, AuthError.AuthError>
  /**
   * Remembers the nonce in the headers of an answer. Whether it is another one than before, so that the request is worth
   * sending again where it was refused for want of it.
   */
  readonly remember: (request: ProofRequest, headers: Headers.Headers) => boolean
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * The private key as `generateKey` gives it, for a key that outlives the process: refresh tokens of a public client are
   * bound to it. By default a key is made that never leaves the crypto of the runtime, and ends with the process.
   */
  readonly key?: Redacted.Redacted<string> | undefined
  /** The algorithm of a key that is made here: `ES256` by default. */
  readonly algorithm?: string | undefined
  /** Whether tokens that are not bound to the key are refused; they are by default. */
  readonly required?: boolean | undefined
  /** How many origins' nonces are remembered: 64 by default, the one used last longest. */
  readonly maxNonces?: number | undefined
}

const defaultAlgorithm = "ES256"

const noKey = (): AuthError.AuthError =>
  new AuthError.AuthError({
    reason: new AuthError.Misconfigured({ detail: "the key for DPoP cannot be made or used" })
  })

const generate = (algorithm: string, extractable: boolean) =>
  Effect.tryPromise({ try: () => generateKeyPair(algorithm, { extractable }), catch: noKey })

const jwkOf = (key: CryptoKey) => Effect.tryPromise({ try: () => exportJWK(key), catch: noKey })

/**
 * Makes a key to be kept where secrets are: the text of a private JWK.
 *
 * @category constructors
 * @since 0.1.0
 */
export const generateKey = (
  algorithm: string = defaultAlgorithm
): Effect.Effect<Redacted.Redacted<string>, AuthError.AuthError> =>
  generate(algorithm, true).pipe(
    Effect.flatMap(({ privateKey }) => jwkOf(privateKey)),
    Effect.map((jwk) => Redacted.make(JSON.stringify({ ...jwk, alg: algorithm })))
  )

/** What of a key everybody may see, in a proof. */
const publicOf = ({ crv, e, kty, n, x, y }: JWK): JWK =>
  Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined))

interface Key {
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly jwk: JWK
}

const made = (algorithm: string): Effect.Effect<Key, AuthError.AuthError> =>
  Effect.flatMap(
    generate(algorithm, false),
    ({ privateKey, publicKey }) =>
      Effect.map(jwkOf(publicKey), (jwk) => ({ algorithm, privateKey, jwk: publicOf(jwk) }))
  )

const kept = (key: Redacted.Redacted<string>): Effect.Effect<Key, AuthError.AuthError> =>
  Effect.flatMap(importKey({ key }, undefined), ({ algorithm, jwk, key: privateKey }) =>
    jwk === undefined
      ? Effect.fail(noKey())
      : Effect.succeed({ algorithm, privateKey, jwk: publicOf(jwk) }))

/** What a nonce may be made of (RFC 9449, 8.1), and how long one may be to be kept. */
const nonceText = /^[\x21\x23-\x5b\x5d-\x7e]{1,512}$/

/** The origin, and which of its two roles: one host may be both servers, with nonces of their own. */
const placeOf = ({ accessToken, url }: ProofRequest): string =>
  `${accessToken === undefined ? "authorization" : "resource"} ${URL.parse(url)?.origin ?? ""}`

const target = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed === null ? url : parsed.origin + parsed.pathname
}

/**
 * Makes a key, or takes the one that was kept.
 *
 * **Example** (A proof for one request)
 *
 * ```ts
 * import { Dpop } from "@mcpfx/auth"
 * import { Effect } from "effect"
 * import { decodeJwt } from "jose"
 *
 * const program = Effect.gen(function*() {
 *   const dpop = yield* Dpop.make()
 *   return yield* dpop.proof({ method: "POST", url: "https://login.example.com/token?tenant=1" })
 * })
 * decodeJwt(await Effect.runPromise(program)).htu // => "https://login.example.com/token"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fn("Dpop.make")(
  function*(options: Options = {}): Effect.fn.Return<Dpop, AuthError.AuthError> {
    const { algorithm, jwk, privateKey } = yield* options.key === undefined
      ? made(options.algorithm ?? defaultAlgorithm)
      : kept(options.key)
    const thumbprint = yield* Effect.tryPromise({ try: () => calculateJwkThumbprint(jwk), catch: noKey })
    const maxNonces = options.maxNonces ?? 64
    const nonces = new Map<string, string>()

    const proof = Effect.fnUntraced(function*(request: ProofRequest) {
      const now = yield* Clock.currentTimeMillis
      const jti = yield* token(16)
      const ath = request.accessToken === undefined ? undefined : sha256(Redacted.value(request.accessToken))
      const nonce = nonces.get(placeOf(request))
      const claims = {
        htm: request.method,
        htu: target(request.url),
        jti,
        ...(ath === undefined ? {} : { ath }),
        ...(nonce === undefined ? {} : { nonce })
      }
      return yield* Effect.tryPromise({
        try: () =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: algorithm, typ: "dpop+jwt", jwk })
            .setIssuedAt(Math.floor(now / 1000))
            .sign(privateKey),
        catch: noKey
      })
    })

    const remember = (request: ProofRequest, headers: Headers.Headers): boolean => {
      const nonce = Option.getOrUndefined(Headers.get(headers, nonceHeader))
      if (nonce === undefined || !nonceText.test(nonce)) return false
      const place = placeOf(request)
      const before = nonces.get(place)
      // Put in anew, so that the first of the map is the one that was used longest ago.
      nonces.delete(place)
      nonces.set(place, nonce)
      if (nonces.size > maxNonces) {
        for (const oldest of nonces.keys()) if (nonces.size > maxNonces) nonces.delete(oldest)
      }
      return before !== nonce
    }

    return { algorithm, thumbprint, required: options.required ?? true, proof, remember }
  }
)

/**
 * Whether an authorization server says that it takes proofs with this key (RFC 9449, 5.1).
 *
 * @category getters
 * @since 0.1.0
 */
export const isSupported = ({ metadata }: AuthorizationServer, { algorithm }: Pick<Dpop, "algorithm">): boolean =>
  metadata.dpop_signing_alg_values_supported?.includes(algorithm) === true

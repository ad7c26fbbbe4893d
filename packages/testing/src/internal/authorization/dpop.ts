/** Proofs of possession at the token endpoint (RFC 9449): whose key tokens are to be bound to. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Jose from "jose"
import { refuse, type Refused } from "./answer.ts"
import type { Incoming } from "./incoming.ts"
import { algorithms } from "./keys.ts"
import type { State } from "./state.ts"

/** How far the clock of a client may be off, in seconds. */
const skew = 300

const no = (description: string): Effect.Effect<never, Refused> => refuse("invalid_dpop_proof", description)

const verify = (
  proof: string,
  now: number
): Effect.Effect<Jose.JWTVerifyResult & { readonly jwk: Jose.JWK }, Refused> =>
  Effect.gen(function*() {
    const header = yield* Effect.try({
      try: () => Jose.decodeProtectedHeader(proof),
      catch: () => undefined
    }).pipe(Effect.catch(() => no("the proof is no JWT")))
    const { jwk } = header
    if (jwk === undefined || "d" in jwk || "k" in jwk) return yield* no("the proof has no public key")
    const options = {
      algorithms,
      typ: "dpop+jwt",
      currentDate: new Date(now),
      maxTokenAge: skew,
      clockTolerance: skew,
      requiredClaims: ["jti", "htm", "htu", "iat"]
    }
    const verified = yield* Effect.tryPromise({
      try: () => Jose.jwtVerify(proof, Jose.EmbeddedJWK, options),
      catch: (error) => error instanceof Error ? error.message : "not a JWT"
    }).pipe(Effect.catch((why) => no(`the proof is no good: ${why}`)))
    return { ...verified, jwk }
  })

/** Without query and fragment, in the form that URLs have (RFC 9449, 4.3). */
const target = (uri: unknown): string | undefined => {
  const url = typeof uri === "string" ? URL.parse(uri) : null
  return url === null ? undefined : `${url.origin}${url.pathname}`
}

/** The thumbprint of the key of a request's proof; `undefined` where it has none and needs none. */
export const proofOf = (
  state: State,
  { headers, method, url }: Incoming
): Effect.Effect<string | undefined, Refused> =>
  Effect.gen(function*() {
    const proof = headers["dpop"]
    const wanted = state.options.dpop ?? "accepted"
    const askNonce = refuse("use_dpop_nonce", "the proof has to have the nonce of this server", 400, {
      "dpop-nonce": state.nonce
    })
    if (proof === undefined) {
      if (wanted === "nonce") return yield* askNonce
      return wanted === "required" ? yield* no("there is no proof") : undefined
    }
    const { jwk, payload } = yield* verify(proof, yield* Clock.currentTimeMillis)
    if (payload["htm"] !== method) return yield* no("the proof is for another method")
    if (target(payload["htu"]) !== `${url.origin}${url.pathname}`) return yield* no("the proof is for another address")
    if (wanted === "nonce" && payload["nonce"] !== state.nonce) return yield* askNonce
    const jkt = yield* Effect.promise(() => Jose.calculateJwkThumbprint(jwk))
    const id = `proof ${jkt} ${payload.jti}`
    if (state.jtis.has(id)) return yield* no("the proof was used before")
    state.jtis.set(id, true)
    return jkt
  })

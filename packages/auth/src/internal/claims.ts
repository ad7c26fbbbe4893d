/** What verifiers read out of claims, whether they come signed (RFC 9068) or by introspection (RFC 7662). */
import type { Principal } from "@mcpfx/transport/Principal"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { InvalidToken, type Verified } from "../TokenVerifier.ts"
import { audienceOf, isFor, wrongAudience } from "./audience.ts"
import { member, type Members, textOf } from "./members.ts"
import { quoted, quotedAll } from "./quoted.ts"

export type Claims = Members

const words = (text: string): ReadonlyArray<string> => text.split(" ").filter((word) => word !== "")

/** `scope` as a text (RFC 9068, 2.2.3), or what others write: an array, or `scp` as either. */
const scopesOf = (claims: Claims): ReadonlyArray<string> => {
  const value = member(claims, "scope") ?? member(claims, "scp")
  const list = typeof value === "string" ? words(value) : Array.isArray(value)
    ? value.flatMap((word: unknown) => typeof word === "string" ? words(word) : [])
    : []
  return [...new Set(list)]
}

/**
 * Who it is: the subject, or the client itself where it acts for nobody; `undefined` where the claims name neither.
 */
const principalOf = (claims: Claims, issuer: string): Principal | undefined => {
  const clientId = textOf(claims, "client_id") ?? textOf(claims, "azp")
  const subject = textOf(claims, "sub") ?? clientId
  if (subject === undefined) return undefined
  const principal = { issuer, subject, scopes: scopesOf(claims), claims }
  return clientId === undefined ? principal : { ...principal, clientId }
}

/**
 * The thumbprint of the key that a token is bound to. A token that is bound in a way that is not known here cannot be
 * checked: `"unknown"`.
 */
const bindingOf = (claims: Claims): { readonly boundTo?: string } | "unknown" => {
  const confirmation = member(claims, "cnf")
  if (confirmation === undefined || confirmation === null) return {}
  if (!Predicate.isObject(confirmation)) return "unknown"
  const thumbprint = Object.hasOwn(confirmation, "jkt") ? Reflect.get(confirmation, "jkt") : undefined
  return typeof thumbprint === "string" && Object.keys(confirmation).length === 1
    ? { boundTo: thumbprint }
    : "unknown"
}

interface Times {
  /** Milliseconds since the epoch. */
  readonly now: number
  readonly skew: number
  /** Whether a token without an end is none. */
  readonly endRequired: boolean
}

const isDate = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value)

/** What is wrong with the dates, or the end of the token. */
const checkTimes = (
  claims: Claims,
  { endRequired, now, skew }: Times
): "expired" | "not yet valid" | "claims" | { readonly expiresAt?: number } => {
  const exp = member(claims, "exp")
  for (const name of ["nbf", "iat"]) {
    const from = member(claims, name)
    if (from === undefined) continue
    if (!isDate(from)) return "claims"
    if (from * 1000 > now + skew) return "not yet valid"
  }
  if (exp === undefined) return endRequired ? "claims" : {}
  if (!isDate(exp)) return "claims"
  return exp * 1000 <= now - skew ? "expired" : { expiresAt: exp * 1000 }
}

/** A good token: who it belongs to, and where it is good. */
export interface Good {
  readonly verified: Verified
  readonly audience: ReadonlyArray<string>
}

/** Makes the caller of claims and of what is usually made of them; nothing refuses the token. */
export type ToPrincipal = (claims: Claims, usual: Principal) => Principal | undefined

interface Judging extends Times {
  readonly issuer: string
  readonly principal: ToPrincipal | undefined
}

/** What claims come to whose source is known to be the issuer, or what is wrong with them. */
export const judge = (
  claims: Claims,
  { issuer, principal: toPrincipal, ...now }: Judging
): Good | InvalidToken["reason"] => {
  const times = checkTimes(claims, now)
  if (typeof times === "string") return times
  const usual = principalOf(claims, issuer)
  if (usual === undefined) return "claims"
  const binding = bindingOf(claims)
  if (binding === "unknown") return "binding"
  const principal = toPrincipal === undefined ? usual : toPrincipal(claims, usual)
  return principal === undefined
    ? "claims"
    : { verified: { principal, ...times, ...binding }, audience: audienceOf(member(claims, "aud")) }
}

/** Who a token says it is of, and whose are taken. */
export const wrongIssuer = (issuer: unknown, taken: ReadonlyArray<string>): InvalidToken =>
  new InvalidToken({
    reason: "issuer",
    detail: `it is of ${typeof issuer === "string" ? quoted(issuer) : "nobody"}, and taken are those of ${
      quotedAll(taken)
    }`
  })

/** The token, if it is for this server: by one of its names, or one more that the verifier knows (ARS-07). */
export const forNames = (
  { audience, verified }: Good,
  ...names: ReadonlyArray<ReadonlyArray<string>>
): Effect.Effect<Verified, InvalidToken> =>
  names.some((known) => isFor(audience, known))
    ? Effect.succeed(verified)
    : Effect.fail(new InvalidToken({ reason: "audience", detail: wrongAudience(audience, names.flat()) }))

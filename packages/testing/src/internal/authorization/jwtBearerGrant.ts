/**
 * An assertion of somebody trusted for tokens (RFC 7523): an ID-JAG of an identity provider for a user of its own (EMA-02),
 * or the JWT of a workload.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Jose from "jose"
import { type Answer, refuse, type Refused } from "./answer.ts"
import { checkTarget } from "./authorize.ts"
import { fromOptions } from "./clientRecord.ts"
import type { GrantRequest } from "./grantRequest.ts"
import type { Incoming } from "./incoming.ts"
import { issue } from "./issue.ts"
import * as Keys from "./keys.ts"
import { jwtBearer } from "./metadata.ts"
import type { Client, TrustedIssuer } from "./model.ts"
import { at } from "./paths.ts"
import type { State } from "./state.ts"

export const idJagType = "oauth-id-jag+jwt"

const no = (description: string): Effect.Effect<never, Refused> => refuse("invalid_grant", description)

const claimsOf = (assertion: string | undefined): Jose.JWTPayload | undefined => {
  const claims = Result.try(() => Jose.decodeJwt(assertion ?? ""))
  return Result.isSuccess(claims) ? claims.success : undefined
}

const issuerOf = (state: State, assertion: string | undefined): TrustedIssuer | undefined => {
  const claims = claimsOf(assertion)
  return state.options.trust?.find(({ issuer }) => issuer === claims?.iss)
}

/**
 * A workload needs no client id of its own: its assertion says who it is. Where the request names no client, that is the
 * client.
 */
export const workloadClient = (
  state: State,
  { headers, parameters }: Incoming
): Effect.Effect<Client | undefined> =>
  Effect.sync(() => {
    const shows = headers["authorization"] !== undefined ||
      ["client_id", "client_secret", "client_assertion"].some((name) => parameters.get(name) !== undefined)
    if (shows || parameters.get("grant_type") !== jwtBearer) return undefined
    const assertion = parameters.get("assertion")
    const subject = claimsOf(assertion)?.sub
    return issuerOf(state, assertion)?.kind === "workload" && subject !== undefined
      ? fromOptions({ clientId: subject })
      : undefined
  })

const verified = (
  state: State,
  trusted: TrustedIssuer,
  assertion: string
): Effect.Effect<Jose.JWTPayload, Refused> =>
  Effect.gen(function*() {
    const keys = Effect.isEffect(trusted.keys) ? yield* trusted.keys : trusted.keys
    const jag = trusted.kind === "identity provider"
    const { payload, protectedHeader } = yield* Keys.verify(assertion, keys, {
      issuer: trusted.issuer,
      audience: jag ? state.issuer : [state.issuer, at(state, "token")],
      requiredClaims: jag ? ["sub", "exp", "iat", "jti", "client_id"] : ["sub", "exp"],
      ...(jag ? { typ: idJagType } : {})
    }).pipe(Effect.catch((why) => no(`the assertion is no good: ${why}`)))
    if (!jag && protectedHeader.typ === idJagType) return yield* no("the issuer vouches for no users")
    // An assertion for more than one audience could be used by any of them at the others.
    if (jag && Array.isArray(payload.aud) && payload.aud.length !== 1) {
      return yield* no("the assertion has more than one audience")
    }
    if (payload.jti !== undefined) {
      const id = `assertion ${trusted.issuer} ${payload.jti}`
      if (state.jtis.has(id)) return yield* no("the assertion was used before")
      state.jtis.set(id, true)
    }
    return payload
  })

const textsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return value === "" ? [] : [value]
  return Array.isArray(value) ? value.filter(Predicate.isString) : []
}

/** What is wanted of what the assertion allows; all of it where nothing is. */
const within = (allowed: ReadonlyArray<string>, wanted: ReadonlyArray<string>): ReadonlyArray<string> | undefined => {
  if (wanted.length === 0) return allowed
  return allowed.length === 0 || wanted.every((item) => allowed.includes(item)) ? wanted : undefined
}

export const jwtBearerGrant = ({ client, jkt, parameters, state }: GrantRequest): Effect.Effect<Answer, Refused> =>
  Effect.gen(function*() {
    const assertion = parameters.get("assertion")
    if (assertion === undefined) return yield* refuse("invalid_request", "there is no assertion")
    const trusted = issuerOf(state, assertion)
    if (trusted === undefined) return yield* no("the issuer of the assertion is not trusted")
    if (trusted.kind === "identity provider" && client.authentication.includes("none")) {
      return yield* refuse("invalid_client", "the client has to prove itself", 401)
    }
    const payload = yield* verified(state, trusted, assertion)
    if (trusted.kind === "identity provider" && payload["client_id"] !== client.clientId) {
      return yield* no("the assertion was given to another client")
    }
    const scopes = within(textsOf(payload["scope"]).flatMap((scope) => scope.split(" ")), parameters.scopes)
    if (scopes === undefined) return yield* refuse("invalid_scope", "the assertion does not allow these scopes")
    const resources = within(textsOf(payload["resource"]), parameters.all("resource"))
    if (resources === undefined) return yield* refuse("invalid_target", "the assertion is not for this resource")
    const told = checkTarget(state, client, scopes, resources)
    if (told !== undefined) return yield* refuse(told.error, told.description)
    return yield* issue(state, {
      client,
      user: undefined,
      subject: payload.sub,
      scopes,
      resources,
      jkt,
      refreshable: false
    })
  })

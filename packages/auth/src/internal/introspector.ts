/** Asks an issuer about tokens (RFC 7662), once for all who wait for the same one, and keeps what it said for a while. */
import type { Principal } from "@mcpfx/transport/Principal"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { AuthError } from "../AuthError.ts"
import { InvalidToken, type Verified, VerifierUnavailable } from "../TokenVerifier.ts"
import type { Client } from "../TokenVerifierIntrospection.ts"
import { audienceOf, isFor } from "./audience.ts"
import { bindingOf, checkTimes, type Claims, principalOf } from "./claims.ts"
import { member, numberOf, parseJson } from "./oauthAnswer.ts"
import type { Outbound } from "./outbound.ts"
import { Remembered } from "./remembered.ts"
import { sha256 } from "./sha256.ts"
import { Together } from "./together.ts"

export interface IntrospectorOptions {
  readonly issuer: string
  readonly out: Outbound
  readonly find: Effect.Effect<string, AuthError>
  readonly client: Client
  readonly audience: ReadonlyArray<string>
  readonly skew: number
  readonly maxAge: number
  readonly maxAgeInactive: number
  readonly remembered: number
  readonly concurrency: number
  readonly principal: ((claims: Claims, usual: Principal) => Principal | undefined) | undefined
  readonly scope: Scope.Scope
}

/** What is known of a token: who it belongs to and where it is good, or what is wrong with it. */
type Known = { readonly verified: Verified; readonly audience: ReadonlyArray<string> } | InvalidToken

/** The form that RFC 6749, 2.3.1 wants of what goes into the header. */
const formEncoded = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

const withClient = (
  request: HttpClientRequest.HttpClientRequest,
  client: Client,
  token: string
): HttpClientRequest.HttpClientRequest => {
  const parameters: Record<string, string> = { token, token_type_hint: "access_token" }
  if (client.method === "post") {
    parameters["client_id"] = client.id
    parameters["client_secret"] = Redacted.value(client.secret)
  }
  const asking = HttpClientRequest.bodyUrlParams(request, parameters)
  if (client.method === "bearer") {
    return HttpClientRequest.setHeader(asking, "authorization", `Bearer ${Redacted.value(client.token)}`)
  }
  if (client.method === "post") return asking
  const pair = `${formEncoded(client.id)}:${formEncoded(Redacted.value(client.secret))}`
  return HttpClientRequest.setHeader(asking, "authorization", `Basic ${Base64.encode(pair)}`)
}

/** Dates of an answer that are texts are read as numbers: some servers write them so. */
const withDates = (claims: Claims): Claims => {
  const dates = ["exp", "iat", "nbf"].flatMap((name) => {
    const value = typeof member(claims, name) === "string" ? numberOf(claims, name) : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return dates.length === 0 ? claims : { ...claims, ...Object.fromEntries(dates) }
}

const isObject = (value: unknown): value is Claims =>
  typeof value === "object" && value !== null && !Array.isArray(value)

export class Introspector {
  private readonly options: IntrospectorOptions
  private readonly known: Remembered<Known>
  private readonly questions: Together<Known, VerifierUnavailable>
  private readonly discovery: Together<string, AuthError>
  private endpoint: string | undefined

  constructor(options: IntrospectorOptions) {
    this.options = options
    this.known = new Remembered(options.remembered)
    this.questions = new Together(options.scope)
    this.discovery = new Together(options.scope)
  }

  verify(token: string, names: ReadonlyArray<string>): Effect.Effect<Verified, InvalidToken | VerifierUnavailable> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const key = sha256(token)
      const known = this.known.get(key, now)
      if (known !== undefined) return this.forUs(known, names)
      if (!this.questions.has(key) && this.questions.size >= this.options.concurrency) {
        return this.unavailable("too many tokens are being asked about")
      }
      return Effect.flatMap(this.questions.run(key, this.ask(token, key)), (known) => this.forUs(known, names))
    })
  }

  private forUs(known: Known, names: ReadonlyArray<string>): Effect.Effect<Verified, InvalidToken> {
    if (known instanceof InvalidToken) return Effect.fail(known)
    return isFor(known.audience, names) || isFor(known.audience, this.options.audience)
      ? Effect.succeed(known.verified)
      : Effect.fail(new InvalidToken({ reason: "audience" }))
  }

  private unavailable(detail: string, cause?: AuthError): Effect.Effect<never, VerifierUnavailable> {
    const fault = `${this.options.issuer} cannot be asked: ${detail}`
    return Effect.fail(new VerifierUnavailable(cause === undefined ? { detail: fault } : { detail: fault, cause }))
  }

  private ask(token: string, key: string): Effect.Effect<Known, VerifierUnavailable> {
    return this.where.pipe(
      Effect.flatMap((endpoint) => {
        const request = HttpClientRequest.post(endpoint, { acceptJson: true })
        return this.options.out.send(withClient(request, this.options.client, token))
      }),
      Effect.catch((error) => this.unavailable(error.message, error)),
      Effect.flatMap(({ body, status }) => {
        const answer = status === 200 ? parseJson(body) : undefined
        return isObject(answer) && typeof member(answer, "active") === "boolean"
          ? Effect.succeed(withDates(answer))
          : this.unavailable(`status ${status}${status === 200 ? " and no answer" : ""}`)
      }),
      Effect.flatMap((claims) => Effect.map(Clock.currentTimeMillis, (now) => this.keep(claims, key, now)))
    )
  }

  private get where(): Effect.Effect<string, AuthError> {
    return Effect.suspend(() =>
      this.endpoint !== undefined ? Effect.succeed(this.endpoint) : Effect.tap(
        this.discovery.run("", this.options.find),
        (endpoint) =>
          Effect.sync(() => {
            this.endpoint = endpoint
          })
      )
    )
  }

  private keep(claims: Claims, key: string, now: number): Known {
    const { maxAge, maxAgeInactive } = this.options
    const known = this.judge(claims, now)
    const until = known instanceof InvalidToken
      ? now + maxAgeInactive
      : Math.min(now + maxAge, known.verified.expiresAt ?? Number.POSITIVE_INFINITY)
    this.known.set(key, known, until, now)
    return known
  }

  private judge(claims: Claims, now: number): Known {
    const { issuer, principal: toPrincipal, skew } = this.options
    if (member(claims, "active") !== true) return new InvalidToken({ reason: "inactive" })
    const said = member(claims, "iss")
    if (said !== undefined && said !== issuer) return new InvalidToken({ reason: "issuer" })
    const times = checkTimes(claims, { now, skew, endRequired: false })
    if (typeof times === "string") return new InvalidToken({ reason: times })
    const binding = bindingOf(claims)
    if (binding === "unknown") return new InvalidToken({ reason: "binding" })
    const usual = principalOf(claims, issuer)
    const principal = usual === undefined || toPrincipal === undefined ? usual : toPrincipal(claims, usual)
    if (principal === undefined) return new InvalidToken({ reason: "claims" })
    return { verified: { principal, ...times, ...binding }, audience: audienceOf(member(claims, "aud")) }
  }
}

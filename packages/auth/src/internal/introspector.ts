/** Asks an issuer about tokens (RFC 7662), once for all who wait for the same one, and keeps what it said for a while. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import type { AuthError } from "../AuthError.ts"
import { InvalidToken, type Verified, VerifierUnavailable } from "../TokenVerifier.ts"
import type { Client } from "../TokenVerifierIntrospection.ts"
import { type Claims, forNames, type Good, judge, type ToPrincipal, wrongIssuer } from "./claims.ts"
import { basic } from "./clientAuthentication.ts"
import { isMembers, member, numberOf, parseJson } from "./members.ts"
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
  readonly cacheLife: number
  readonly cacheLifeInactive: number
  readonly cacheSize: number
  readonly concurrency: number
  readonly principal: ToPrincipal | undefined
  readonly scope: Scope.Scope
}

/** What is known of a token: who it belongs to and where it is good, or what is wrong with it. */
type Known = Good | InvalidToken

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
  return HttpClientRequest.setHeader(asking, "authorization", basic(client.id, Redacted.value(client.secret)))
}

/** Dates of an answer that are texts are read as numbers: some servers write them so. */
const withDates = (claims: Claims): Claims => {
  const dates = ["exp", "iat", "nbf"].flatMap((name) => {
    const value = typeof member(claims, name) === "string" ? numberOf(claims, name) : undefined
    return value === undefined ? [] : [[name, value] as const]
  })
  return dates.length === 0 ? claims : { ...claims, ...Object.fromEntries(dates) }
}

export class Introspector {
  private readonly options: IntrospectorOptions
  private readonly known: Remembered<Known>
  private readonly questions: Together<Known, VerifierUnavailable>
  private readonly discovery: Together<string, AuthError>
  private endpoint: string | undefined

  constructor(options: IntrospectorOptions) {
    this.options = options
    this.known = new Remembered(options.cacheSize)
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
    return known instanceof InvalidToken ? Effect.fail(known) : forNames(known, names, this.options.audience)
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
        return isMembers(answer) && typeof member(answer, "active") === "boolean"
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
    const { cacheLife, cacheLifeInactive } = this.options
    const known = this.judge(claims, now)
    const until = known instanceof InvalidToken
      ? now + cacheLifeInactive
      : Math.min(now + cacheLife, known.verified.expiresAt ?? Number.POSITIVE_INFINITY)
    this.known.set(key, known, until, now)
    return known
  }

  private judge(claims: Claims, now: number): Known {
    const { issuer, principal, skew } = this.options
    if (member(claims, "active") !== true) return new InvalidToken({ reason: "inactive" })
    const said = member(claims, "iss")
    if (said !== undefined && said !== issuer) return wrongIssuer(said, [issuer])
    const good = judge(claims, { issuer, principal, now, skew, endRequired: false })
    return typeof good === "string" ? new InvalidToken({ reason: good }) : good
  }
}

/** The HTTP client that carries tokens, and answers what servers say about them. */
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Headers from "effect/http/Headers"
import type * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as AuthError from "../AuthError.ts"
import * as Challenge from "../Challenge.ts"
import * as Credentials from "../Credentials.ts"
import * as Dpop from "../Dpop.ts"
import type { Held, Keeper, Trouble } from "./keeper.ts"
import { readBody } from "./readBody.ts"
import { endless, type Need, type Renewal } from "./renewal.ts"
import * as Scopes from "./scopeChoice.ts"
import { tidy } from "./serverText.ts"

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse
type Answering = Effect.Effect<Response, HttpClientError.HttpClientError>

/** How often one request is sent at the most, whatever servers say and other requests do. */
const maxSendings = 10

/** Sendings that only show a nonce (RFC 9449, 9). */
const maxNonces = 2

/** What one request has cost so far. */
interface Spent {
  readonly sent: number
  readonly nonces: number
  readonly refreshed: boolean
  readonly obtained: boolean
  readonly stepUps: number
  /** What step-ups have asked for. */
  readonly steppedTo: Scopes.Scopes
}

/** How a request went out. */
interface Sent {
  readonly held: Held | undefined
  readonly spent: Spent
  /** What was wrong with the login then. */
  readonly trouble: Trouble | undefined
  /** Whether the answer gave a nonce. */
  readonly hasNonce: boolean
}

const nothingSpent: Spent = { sent: 0, nonces: 0, refreshed: false, obtained: false, stepUps: 0, steppedTo: [] }

/** Whether a body can be sent a second time. */
const isReplayable = (body: HttpBody.HttpBody): boolean =>
  body._tag !== "Stream" && (body._tag !== "Raw" || Predicate.isString(body.body) || body.body instanceof Uint8Array)

/** What belongs to a session and not to a call: the end of it, and the stream that is kept open beside the calls. */
const isBackground = ({ headers, method }: Request): boolean =>
  method === "DELETE" || (method === "GET" && background.some((name) => Headers.has(headers, name)))

const background = [McpHeaders.names.sessionId, McpHeaders.names.protocolVersion, McpHeaders.names.lastEventId]

/** Characters after which the host of a URL is over. */
const afterHost: ReadonlySet<string | undefined> = new Set([undefined, "/", "?", "#"])

const proofHeader = Dpop.header.toLowerCase()
/** Whose values no span shows, whatever else is told of headers. */
const secretHeaders = ["authorization", proofHeader]

export class Attachment {
  readonly client: HttpClient.HttpClient
  private readonly inner: HttpClient.HttpClient
  private readonly keeper: Keeper
  private readonly renewal: Renewal
  private readonly origin: string
  private readonly closing = new Set<Fiber.Fiber<void>>()

  constructor(inner: HttpClient.HttpClient, renewal: Renewal) {
    this.inner = inner
    this.renewal = renewal
    this.keeper = renewal.keeper
    this.origin = renewal.keeper.settings.url.origin
    this.client = HttpClient.makeWith(
      (request) => Effect.flatMap(request, (request) => this.execute(request)),
      inner.preprocess
    )
  }

  private execute(request: Request): Answering {
    if (!this.isOurs(request) || Headers.has(request.headers, "authorization")) return this.pass(request)
    return Effect.withFiber((fiber) => {
      const held = this.keeper.ready(fiber.getRef(Clock.Clock))
      return held === undefined ? this.prepared(request) : this.send(request, held, nothingSpent)
    })
  }

  /** To whom tokens go: the origin that the program named, and nobody else (ACL-24). */
  private isOurs({ url }: Request): boolean {
    const { origin } = this
    if (url.startsWith(origin) && afterHost.has(url[origin.length])) return true
    return URL.parse(url)?.origin === origin
  }

  private pass(request: Request): Answering {
    return this.inner.postprocess(Effect.succeed(request))
  }

  /** With tokens from the store, and new ones for those that have ended. */
  private prepared(request: Request): Answering {
    const { keeper, renewal } = this
    const ready = Effect.gen({ self: this }, function*() {
      if (!keeper.loaded) yield* renewal.load
      const now = yield* Clock.currentTimeMillis
      yield* keeper.saveLater(now)
      const { held } = keeper
      if (held === undefined || now < held.refreshAt || !keeper.isRenewable(held)) return
      const need = needOf(request, { used: held, why: "time", scopes: [] }, nothingSpent)
      if (Credentials.isFresh(held.tokens, now)) return renewal.renewAhead(need)
      // A login that has expired is one to be asked for: the server says how.
      yield* Effect.catch(
        renewal.renew(need),
        (error) => error.reason._tag === "LoginExpired" ? Effect.void : Effect.fail(error)
      )
    })
    return ready.pipe(
      Effect.mapError((error) => refused(request, error)),
      Effect.andThen(Effect.suspend(() => this.send(request, keeper.held, nothingSpent)))
    )
  }

  private send(request: Request, held: Held | undefined, spent: Spent): Answering {
    const { trouble } = this.keeper
    if (held?.tokens.tokenType === "DPoP") return this.proved(request, held, spent, trouble)
    const sent = held === undefined
      ? this.pass(request)
      : this.guarded(HttpClientRequest.setHeader(request, "authorization", Credentials.header(held.tokens)))
    return Effect.flatMap(sent, (response) => this.judged(request, response, { held, spent, trouble, hasNonce: false }))
  }

  private judged(
    request: Request,
    response: Response,
    { hasNonce, held, spent, trouble }: Sent
  ): Answering {
    const { status } = response
    if (status === 401 || status === 403) {
      return this.challenged(request, response, held, { ...spent, sent: spent.sent + 1 }, hasNonce)
    }
    return trouble === undefined || held === undefined || status >= 400
      ? Effect.succeed(response)
      : Effect.as(this.keeper.healed(held, trouble), response)
  }

  /** A program that names the headers to be hidden may have forgotten these. */
  private guarded(request: Request): Answering {
    return Effect.withFiber((fiber) => {
      const names = fiber.getRef(Headers.CurrentRedactedNames)
      return names.includes("authorization") && !Headers.has(request.headers, proofHeader)
        ? this.pass(request)
        : Effect.provideService(this.pass(request), Headers.CurrentRedactedNames, [...names, ...secretHeaders])
    })
  }

  /** With a proof of the key; servers may give the nonce for the next one with any answer (RFC 9449, 8.2). */
  private proved(request: Request, held: Held, spent: Spent, trouble: Trouble | undefined): Answering {
    const { dpop } = this.keeper.settings
    if (dpop === undefined) return this.pass(request)
    const { method, url } = request
    const proof = { method, url, accessToken: held.tokens.accessToken }
    return Effect.mapError(dpop.proof(proof), (error) => refused(request, error)).pipe(
      Effect.flatMap((value) => {
        const headers = { authorization: Credentials.header(held.tokens), [proofHeader]: value }
        return this.guarded(HttpClientRequest.setHeaders(request, headers))
      }),
      Effect.flatMap((response) => {
        const hasNonce = dpop.remember(proof, response.headers)
        return this.judged(request, response, { held, spent, trouble, hasNonce })
      })
    )
  }

  private challenged(
    request: Request,
    response: Response,
    held: Held | undefined,
    spent: Spent,
    hasNonce: boolean
  ): Answering {
    const challenges = Challenge.parse(response.headers["www-authenticate"])
    const mine = held?.tokens.tokenType === "DPoP" ? "dpop" : "bearer"
    const challenge = challenges.find(({ scheme }) => scheme === mine) ??
      challenges.find(({ scheme }) => scheme === "bearer" || scheme === "dpop")
    const error = challenge?.parameters.get("error")
    const isScope = response.status === 403
    // Other schemes, and other refusals, are for somebody else.
    const isForeign = isScope ? error !== "insufficient_scope" : challenge === undefined && challenges.length > 0
    // A client that follows redirects may have been led to somebody else, who says nothing about this server.
    const strayed = (URL.parse(response.url)?.origin ?? this.origin) !== this.origin
    if (strayed || isForeign || !isReplayable(request.body)) return Effect.succeed(response)
    const next = Effect.gen({ self: this }, function*() {
      yield* this.discard(response)
      const { keeper } = this
      if (hasNonce && error === "use_dpop_nonce" && spent.nonces < maxNonces) {
        return { held, spent: { ...spent, nonces: spent.nonces + 1 } }
      }
      if (challenge !== undefined) keeper.heed(challenge, request.headers[McpHeaders.names.protocolVersion])
      if (keeper.held !== held && keeper.held !== undefined && spent.sent < maxSendings) {
        return { held: keeper.held, spent }
      }
      const scopes = Scopes.parse(challenge?.parameters.get("scope"))
      return yield* isScope && held !== undefined
        ? this.stepUp(request, held, scopes, spent)
        : this.renew(request, held, challenge, scopes, spent)
    })
    return Effect.mapError(next, (error) => refused(request, error)).pipe(
      Effect.flatMap(({ held, spent }) => this.send(request, held, spent))
    )
  }

  /** The token is not taken: once another by refresh, once by a login, and then no more (field AUT-10). */
  private renew(
    request: Request,
    held: Held | undefined,
    challenge: Challenge.Challenge | undefined,
    scopes: Scopes.Scopes,
    spent: Spent
  ) {
    const { renewal } = this
    const need = needOf(request, { used: held, why: "token", scopes }, spent)
    return Effect.gen({ self: this }, function*() {
      if (held !== undefined && (spent.obtained || spent.sent >= maxSendings)) {
        return yield* this.rejected(need, held, challenge)
      }
      const done = yield* renewal.renew(need)
      const now = this.keeper.held
      return {
        held: now,
        spent: {
          ...spent,
          refreshed: spent.refreshed || done !== "changed",
          obtained: spent.obtained || done === "obtained"
        }
      }
    })
  }

  private rejected(need: Need, held: Held, challenge: Challenge.Challenge | undefined) {
    const secrets = [Redacted.value(held.tokens.accessToken)]
    const error = tidy(challenge?.parameters.get("error"), secrets)
    const description = tidy(challenge?.parameters.get("error_description"), secrets)
    const reason = new AuthError.TokenRejected({
      resource: held.resource,
      issuer: held.issuer,
      ...(error === undefined ? undefined : { error }),
      ...(description === undefined ? undefined : { description })
    })
    const failure = new AuthError.AuthError({ reason })
    return Effect.andThen(this.renewal.setback(need, failure), Effect.fail(failure))
  }

  /** The token is taken and not enough: more scopes, a few times at the most, and never the same ones twice (ACL-28). */
  private stepUp(request: Request, held: Held, scopes: Scopes.Scopes, spent: Spent) {
    const { keeper, renewal } = this
    const need = needOf(request, { used: held, why: "scope", scopes }, spent)
    return Effect.gen({ self: this }, function*() {
      const isRepeated = spent.stepUps > 0 && Scopes.covers(spent.steppedTo, scopes)
      const isEndless = !isRepeated && spent.stepUps > 0 && spent.stepUps >= keeper.settings.maxStepUps
      if (isRepeated || spent.stepUps >= keeper.settings.maxStepUps || spent.sent >= maxSendings) {
        const { resource, tokens } = held
        const reason = new AuthError.ScopeRefused({ resource, required: scopes, granted: tokens.scopes })
        const failure = new AuthError.AuthError({ reason })
        yield* renewal.setback(need, failure, isEndless ? endless : undefined)
        return yield* Effect.fail(failure)
      }
      yield* renewal.renew(need)
      return {
        held: keeper.held,
        spent: { ...spent, stepUps: spent.stepUps + 1, steppedTo: Scopes.union(spent.steppedTo, scopes) }
      }
    })
  }

  private discard(response: Response): Effect.Effect<void> {
    return Effect.ignore(readBody(response, 0, this.closing))
  }
}

const needOf = (request: Request, why: Pick<Need, "scopes" | "used" | "why">, spent: Spent): Need => ({
  ...why,
  mayRefresh: !spent.refreshed,
  mayObtain: !spent.obtained,
  isBackground: isBackground(request)
})

/** The failure of the request, as it was before anything secret was put into it. */
const refused = (request: Request, cause: AuthError.AuthError): HttpClientError.HttpClientError =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause, description: cause.message })
  })

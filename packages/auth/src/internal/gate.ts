/** The way of one request past the check of its token. */
import type { Principal } from "@mcpfx/transport/Principal"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Attempts } from "../ResourceServer.ts"
import { InvalidToken, type TokenVerifier, type Verified, type VerifierUnavailable } from "../TokenVerifier.ts"
import { type Asked, type ChallengeOptions, Challenges } from "./challenges.ts"
import type { Nonces } from "./nonces.ts"
import { Notice } from "./notice.ts"
import { isRepeated, type Presented, read } from "./presented.ts"
import type { Fault, Proofs } from "./proof.ts"
import * as Refusal from "./refusal.ts"
import * as Resource from "./resource.ts"
import { expand, type Implies } from "./scopeRules.ts"
import { tidy } from "./serverText.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type Token = Extract<Presented, { readonly _tag: "Token" }>

export interface GateOptions extends ChallengeOptions {
  readonly verifier: TokenVerifier["Service"]
  readonly locate: (request: Request) => Resource.Resource | undefined
  readonly implies: Implies | undefined
  readonly optional: boolean
  readonly attempts: Attempts | undefined
  readonly proofs: Proofs | undefined
  readonly nonces: Nonces | undefined
  readonly maxTokenLength: number
  /** Milliseconds. */
  readonly retryAfter: number
}

/** What a request comes to: a caller, or the answer that turns it away. */
type Outcome = { readonly _tag: "Caller"; readonly principal: Principal } | {
  readonly _tag: "Refused"
  readonly response: Response
  /** Whether it counts as an attempt that failed. */
  readonly counts: boolean
}

const refused = (response: Response, counts = false): Outcome => ({ _tag: "Refused", response, counts })

/** Browsers ask before they send, without a token (Fetch, 4.8). */
const isPreflight = ({ headers, method }: Request): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined

/** The request as handlers see it: what it got in with is not theirs to have (ARS-08). */
const stripped = (request: Request): Request =>
  request.modify({ headers: Headers.removeMany(request.headers, ["authorization", "dpop"]) })

const addressOf = (request: Request, resource: Resource.Resource): ReadonlyArray<string> => {
  const path = request.url.replace(/[?#].*$/s, "")
  return path === Resource.pathOf(resource.url) ? [resource.url] : [resource.url, new URL(resource.url).origin + path]
}

const misbound = Effect.suspend(() => Effect.fail(new InvalidToken({ reason: "binding" })))

export class Gate {
  private readonly options: GateOptions
  private readonly challenges: Challenges
  /** With all that its scopes stand for; verifiers that remember give the same object again. */
  private readonly expanded = new WeakMap<Verified, Principal>()
  private readonly strangers = new Notice()
  private saidMisplaced = false
  private fitting: string | undefined

  constructor(options: GateOptions) {
    this.options = options
    this.challenges = new Challenges(options)
  }

  protect<E, R>(app: Effect.Effect<Response, E, R>): Effect.Effect<Response, E, R | Request> {
    return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
      if (isPreflight(request)) return app
      const resource = this.options.locate(request)
      if (resource === undefined) {
        return Effect.as(this.strangers.say(Resource.unknownHost(request)), Refusal.unknownHost())
      }
      const answered = this.answer(app, request, resource)
      const warning = this.misplaced(request, resource)
      return warning === undefined ? answered : Effect.andThen(Effect.logWarning(warning), answered)
    })
  }

  private answer<E, R>(
    app: Effect.Effect<Response, E, R>,
    request: Request,
    resource: Resource.Resource
  ): Effect.Effect<Response, E, R> {
    const presented = this.presented(request)
    if (presented._tag === "Nothing") return this.anonymous(app, resource)
    const asked: Asked = { resource, scheme: presented._tag === "Token" ? presented.scheme : "bearer" }
    const { attempts } = this.options
    const decided = this.decide(request, presented, asked)
    const outcome = attempts === undefined ? decided : this.limited(attempts, request, decided)
    const answered = Effect.flatMap(outcome, (outcome) =>
      outcome._tag === "Refused"
        ? Effect.succeed(outcome.response)
        : this.enter(app, request, outcome.principal, asked))
    return asked.scheme === "dpop" ? this.withNonce(answered) : answered
  }

  /** What to say of a path that is not the resource's, once. */
  private misplaced(request: Request, resource: Resource.Resource): string | undefined {
    // The same path comes over and over.
    if (this.saidMisplaced || request.originalUrl === this.fitting) return undefined
    const warning = Resource.misplaced(request, resource)
    this.saidMisplaced = warning !== undefined
    if (warning === undefined) this.fitting = request.originalUrl
    return warning
  }

  private presented(request: Request): Presented {
    const presented = read(request.headers, request.url, this.options.maxTokenLength)
    return presented._tag === "Token" && isRepeated(request.source) ? { _tag: "Several" } : presented
  }

  private enter<E, R>(
    app: Effect.Effect<Response, E, R>,
    request: Request,
    principal: Principal,
    asked: Asked
  ): Effect.Effect<Response, E, R> {
    const known = Effect.updateContext(app, (context: Context.Context<R>) =>
      context.pipe(
        Context.add(CurrentPrincipal, Option.some(principal)),
        Context.add(HttpServerRequest.HttpServerRequest, stripped(request))
      ))
    return Effect.map(
      known,
      (response) => response.status === 403 ? this.challenges.complete(response, asked) : response
    )
  }

  private anonymous<E, R>(
    app: Effect.Effect<Response, E, R>,
    resource: Resource.Resource
  ): Effect.Effect<Response, E, R> {
    if (!this.options.optional) {
      return Effect.succeed(Refusal.unauthorized(this.challenges.welcome({ resource }), "An access token is needed"))
    }
    return Effect.map(
      app,
      (response) => response.status === 403 ? this.challenges.invite(response, { resource }) : response
    )
  }

  private decide(request: Request, presented: Presented, asked: Asked): Effect.Effect<Outcome> {
    switch (presented._tag) {
      case "Several":
        return Effect.succeed(refused(Refusal.badRequest(this.challenges.error(asked, "invalid_request")), true))
      case "Token":
        return this.options.mode === "off" && presented.scheme === "dpop"
          ? Effect.succeed(refused(this.unwelcome(asked.resource)))
          : this.verify(request, presented, asked)
      default:
        return Effect.succeed(this.invalid(asked))
    }
  }

  /** A scheme that is not spoken here is as good as nothing. */
  private unwelcome(resource: Resource.Resource): Response {
    return Refusal.unauthorized(this.challenges.welcome({ resource }), "An access token is needed")
  }

  private invalid(asked: Asked, error = "invalid_token"): Outcome {
    return refused(Refusal.unauthorized(this.challenges.error(asked, error), "The access token is not valid"), true)
  }

  private unavailable(request: Request): Outcome {
    return refused(Refusal.unavailable(request.headers, this.options.retryAfter))
  }

  private verify(request: Request, presented: Token, asked: Asked): Effect.Effect<Outcome> {
    const { verifier } = this.options
    return Effect.suspend(() => verifier.verify(Redacted.make(presented.token), asked.resource.names)).pipe(
      Effect.flatMap((verified) => this.bound(request, presented, asked, verified)),
      // A verifier that throws must not let anybody in, nor end as an error of the server (field AUT-20).
      Effect.catchCause((cause) => this.failed(request, presented, asked, cause))
    )
  }

  private failed(
    request: Request,
    { token }: Token,
    asked: Asked,
    cause: Cause.Cause<InvalidToken | VerifierUnavailable>
  ): Effect.Effect<Outcome> {
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    if (error instanceof InvalidToken) {
      // The detail is of the verifier, which may be the program's own, and holds what the token says.
      const detail = tidy(error.detail, [token], 500)
      const why = detail === undefined ? error.reason : `${error.reason}: ${detail}`
      return Effect.as(Effect.logDebug(`A token was refused: ${why}`), this.invalid(asked))
    }
    const unavailable = this.unavailable(request)
    if (error !== undefined) {
      const detail = tidy(error.detail, [token], 500) ?? "the verifier does not say why"
      return Effect.as(Effect.logWarning(`Tokens cannot be verified: ${detail}`), unavailable)
    }
    return Cause.hasInterruptsOnly(cause)
      ? Effect.succeed(unavailable)
      : Effect.as(Effect.logError("The verifier of tokens failed", cause), unavailable)
  }

  /** Whether the caller has the key that the token is bound to, if it is bound to one. */
  private bound(
    request: Request,
    { scheme, token }: Token,
    asked: Asked,
    verified: Verified
  ): Effect.Effect<Outcome, InvalidToken | VerifierUnavailable> {
    const { mode, proofs } = this.options
    const { boundTo } = verified
    // A bound token without a proof is a stolen one for all that can be known (RFC 9449, 7.2).
    if (scheme === "bearer") {
      return boundTo !== undefined || mode === "require" ? misbound : this.allowed(verified, asked)
    }
    if (boundTo === undefined || proofs === undefined) return misbound
    const use = { method: request.method, urls: addressOf(request, asked.resource), token, boundTo }
    return proofs.check(request.headers["dpop"], use).pipe(
      Effect.flatMap(() => this.allowed(verified, asked)),
      Effect.catchIf(
        (error): error is Fault => error === "invalid" || error === "nonce",
        (fault) =>
          Effect.succeed(
            fault === "invalid"
              ? this.invalid(asked, "invalid_dpop_proof")
              // Not the caller's fault: it could not know the nonce.
              : { ...this.invalid(asked, "use_dpop_nonce"), counts: false }
          )
      )
    )
  }

  private allowed(verified: Verified, asked: Asked): Effect.Effect<Outcome> {
    const principal = this.principalOf(verified)
    const lacks = this.options.scopes.some((scope) => !principal.scopes.includes(scope))
    return Effect.succeed(
      lacks
        ? refused(Refusal.forbidden(this.challenges.error(asked, "insufficient_scope")))
        : { _tag: "Caller", principal }
    )
  }

  private principalOf(verified: Verified): Principal {
    const { implies } = this.options
    if (implies === undefined) return verified.principal
    const known = this.expanded.get(verified)
    if (known !== undefined) return known
    const principal = { ...verified.principal, scopes: expand(verified.principal.scopes, implies) }
    this.expanded.set(verified, principal)
    return principal
  }

  private limited(attempts: Attempts, request: Request, decided: Effect.Effect<Outcome>): Effect.Effect<Outcome> {
    const tooMany = (wait: number): Outcome => refused(Refusal.tooMany(request.headers, wait))
    return Effect.flatMap(attempts.wait(request), (wait) => {
      if (wait > 0) return Effect.succeed(tooMany(wait))
      return Effect.flatMap(decided, (outcome) =>
        outcome._tag === "Caller" || !outcome.counts
          ? Effect.succeed(outcome)
          : Effect.map(attempts.failed(request), (wait) => wait > 0 ? tooMany(wait) : outcome))
    })
  }

  /** Each answer tells the nonce to use next, so that the next proof has it (RFC 9449, 8.2). */
  private withNonce<E, R>(answered: Effect.Effect<Response, E, R>): Effect.Effect<Response, E, R> {
    const { nonces } = this.options
    if (nonces === undefined) return answered
    return Effect.flatMap(answered, (response) =>
      Effect.map(
        Effect.flatMap(Clock.currentTimeMillis, (now) => nonces.current(now)),
        (nonce) => HttpServerResponse.setHeader(response, "dpop-nonce", nonce)
      ))
  }
}

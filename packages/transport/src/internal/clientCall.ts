import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Headers from "effect/http/Headers"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import * as McpHeaders from "../McpHeaders.ts"
import { HttpFailure } from "../TransportError.ts"
import { isExit } from "./exit.ts"
import * as media from "./media.ts"
import { notFollowed } from "./notFollowed.ts"
import { discard } from "./responseBody.ts"
import { onlyWhereSeen } from "./spans.ts"

/** Names the transport writes itself, or not at all; the user's own values for them would break the protocol. */
const reserved = new Set<string>([
  "accept",
  "content-type",
  "content-length",
  McpHeaders.names.lastEventId,
  McpHeaders.names.method,
  McpHeaders.names.name,
  McpHeaders.names.protocolVersion,
  McpHeaders.names.sessionId
])

/** The user's headers, in whatever form, without those that are the transport's. */
export const userHeaders = (input: Headers.Input | undefined): Headers.Headers => {
  if (input === undefined) return Headers.empty
  return Headers.removeMany(Headers.fromInput(input), reserved)
}

/** The user's headers for one request. */
export const headersOf = (
  headers: Headers.Input | Effect.Effect<Headers.Input> | undefined
): Effect.Effect<Headers.Headers> =>
  Effect.isEffect(headers) ? Effect.map(headers, userHeaders) : Effect.succeed(userHeaders(headers))

export interface CallOptions {
  readonly method: "POST" | "GET" | "DELETE"
  /** The transport's own headers; with a body the type of it among them. */
  readonly headers: Headers.Headers
  readonly body?: string | undefined
}

export interface CallerOptions {
  readonly client: HttpClient.HttpClient
  readonly url: URL
  readonly headers: Effect.Effect<Headers.Headers>
  /** The scope in which bodies that nobody wants are let go of. */
  readonly owner: Scope.Scope
  readonly context: Context.Context<never>
}

type Response = HttpClientResponse.HttpClientResponse

const maxRedirects = 5

const longestAddress = 300

/** A server's address, without what may be secret in a URL. */
export const addressOf = (url: URL): string => url.origin + url.pathname

/** The failure of whatever is sent to what was given for the server's address and is none. */
export const unreachable = (url: string | URL): HttpFailure => {
  const shown = String(url).replace(/[?#].*$/s, "").replace(/^.*@/s, "").slice(0, longestAddress)
  return new HttpFailure({ detail: `The server's address is not a URL: ${JSON.stringify(shown)}` })
}

/** Failures of what sits between here and the server, such as of a login, which tell what is to be done about them. */
const isFinal = (cause: unknown): boolean | undefined =>
  Predicate.hasProperty(cause, "isFinal") && typeof cause.isFinal === "boolean" ? cause.isFinal : undefined

/** What went wrong below HTTP. The request is left out: its headers are nobody's business. */
export const transportFailure = (
  error: HttpClientError.HttpClientError,
  detail: string,
  status?: number
): HttpFailure => {
  const { reason } = error
  const cause = "cause" in reason ? reason.cause : undefined
  const final = isFinal(cause)
  return new HttpFailure({
    detail: final === undefined ? detail : reason.description ?? detail,
    ...(status === undefined ? undefined : { status }),
    ...(final === true ? { final } : undefined),
    ...(cause === undefined ? undefined : { cause })
  })
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Where a redirect leads if it may be followed: to the same origin, and with the same method and body (RFC 9110, 15.4). */
const follow = (response: Response, from: URL, method: CallOptions["method"]): Result.Result<URL, HttpFailure> => {
  const refuse = (detail: string) => Result.fail(new HttpFailure({ status: response.status, detail }))
  const location = response.headers["location"]
  if (location === undefined) return refuse("Redirected without saying where to")
  const target = Result.try(() => new URL(location, from))
  if (Result.isFailure(target)) return refuse("Redirected to what is no URL")
  const url = target.success
  const keeps = response.status === 307 || response.status === 308 || method === "GET"
  return keeps && url.origin === from.origin
    ? Result.succeed(url)
    : refuse(`Redirected to ${addressOf(url)}, which is not followed`)
}

/** Where requests go: the parts of the address that every one of them repeats. */
interface Target {
  readonly url: URL
  readonly parts: HttpClientRequest.HttpClientRequest
}

const targetOf = (url: URL): Target => ({ url, parts: HttpClientRequest.get(url) })

/** The request as the constructors of `HttpClientRequest` make it, without taking the address apart again. */
const requestTo = (
  { parts }: Target,
  method: CallOptions["method"],
  headers: Headers.Headers,
  text: string | undefined
): HttpClientRequest.HttpClientRequest => {
  if (text === undefined) {
    return HttpClientRequest.makeWith(method, parts.url, parts.urlParams, parts.hash, headers, HttpBody.empty)
  }
  const body = HttpBody.text(text, media.json)
  const complete = Headers.set(headers, "content-length", String(body.contentLength))
  return HttpClientRequest.makeWith(method, parts.url, parts.urlParams, parts.hash, complete, body)
}

/** Sends HTTP requests to one server. Never retries: a request may have had its effect although its answer was lost. */
export class Caller {
  readonly owner: Scope.Scope
  private readonly user: Effect.Effect<Headers.Headers>
  private readonly target: Target
  private readonly client: HttpClient.HttpClient

  constructor(options: CallerOptions) {
    this.owner = options.owner
    this.user = options.headers
    this.target = targetOf(options.url)
    const init = Context.getOrUndefined(options.context, FetchHttpClient.RequestInit)
    this.client = notFollowed(options.client, init ?? {}, onlyWhereSeen)
  }

  call(options: CallOptions): Effect.Effect<Response, HttpFailure> {
    const { user } = this
    return isExit(user) && Exit.isSuccess(user)
      ? this.with(user.value, options)
      : Effect.flatMap(user, (headers) => this.with(headers, options))
  }

  private with(user: Headers.Headers, options: CallOptions): Effect.Effect<Response, HttpFailure> {
    const headers = user === Headers.empty ? options.headers : Headers.merge(user, options.headers)
    return this.send(options, headers, this.target, maxRedirects)
  }

  private send(
    options: CallOptions,
    headers: Headers.Headers,
    target: Target,
    left: number
  ): Effect.Effect<Response, HttpFailure> {
    return Effect.matchEffect(this.client.execute(requestTo(target, options.method, headers, options.body)), {
      onFailure: (error) => Effect.fail(transportFailure(error, `No answer from ${addressOf(target.url)}`)),
      onSuccess: (response) =>
        redirects.has(response.status) || response.status === 0
          ? this.redirected(response, options, headers, target.url, left)
          : Effect.succeed(response)
    })
  }

  private redirected(
    response: Response,
    options: CallOptions,
    headers: Headers.Headers,
    url: URL,
    left: number
  ): Effect.Effect<Response, HttpFailure> {
    // Browsers hide where a redirect leads.
    if (response.status === 0) return Effect.fail(new HttpFailure({ detail: "Redirected, nobody can say where to" }))
    const target = left === 0
      ? Result.fail(new HttpFailure({ status: response.status, detail: "Redirected too often" }))
      : follow(response, url, options.method)
    return Effect.andThen(
      discard(response, this.owner),
      Result.isFailure(target)
        ? Effect.fail(target.failure)
        : this.send(options, headers, targetOf(target.success), left - 1)
    )
  }
}

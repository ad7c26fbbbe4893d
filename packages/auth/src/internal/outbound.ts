/** The one way to addresses that others name: guarded, bounded in size and time, without redirects to other origins. */
import * as Redirects from "@mcpfx/transport/Redirects"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import type * as Headers from "effect/http/Headers"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as AuthError from "../AuthError.ts"
import type { OutboundGuard, Policy } from "../OutboundGuard.ts"
import { readBody } from "./readBody.ts"
import { isSecure } from "./secureUrl.ts"
import { bareUrl } from "./serverText.ts"
import { spokenTime } from "./spokenTime.ts"

/** An answer, read whole. */
export interface Answer {
  readonly status: number
  readonly headers: Headers.Headers
  readonly body: string
}

export interface Outbound {
  /**
   * Fails with reason `Unavailable` where nothing answers in time, `BadAnswer` where what answers is too large or redirects
   * in a way that cannot be followed, `InsecureServer` where the address is not to be fetched. Every other status is an
   * answer. Nothing is sent a second time but where a redirect says so.
   */
  readonly send: (request: HttpClientRequest.HttpClientRequest) => Effect.Effect<Answer, AuthError.AuthError>
}

export interface Options {
  readonly client: HttpClient.HttpClient
  readonly guard: OutboundGuard
  readonly policy: Policy
  /** Bytes of an answer, out of its coding; 512 KiB by default. */
  readonly maxBytes?: number | undefined
  /** From the first byte sent to the last one read, over all redirects; 10 seconds by default. */
  readonly timeout?: Duration.Input | undefined
}

type Request = HttpClientRequest.HttpClientRequest
type Response = HttpClientResponse.HttpClientResponse
type Sent<A> = Effect.Effect<A, AuthError.AuthError>

const maxRedirects = 3
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

const badAnswer = (url: URL, detail: string, status: number) =>
  AuthError.fail(new AuthError.BadAnswer({ url: bareUrl(url.href), status, detail }))

const insecure = (url: URL, why: "scheme" | "redirect", detail: string) =>
  AuthError.fail(new AuthError.InsecureServer({ url: bareUrl(url.href), why, detail }))

const unavailable = (url: URL, detail: string) =>
  AuthError.fail(new AuthError.Unavailable({ url: bareUrl(url.href), detail }))

/** The error of the guard as it is; anything else says that nobody answers, and nothing of the request. */
const failed = (url: URL, detail: string) => (error: HttpClientError.HttpClientError): Sent<never> =>
  Option.match(AuthError.find(error), { onNone: () => unavailable(url, detail), onSome: Effect.fail })

/** What concerns one MCP server, or one browser, and nobody else. */
const isForeign = (name: string): boolean =>
  name === "cookie" || name === "last-event-id" || (name.startsWith("mcp-") && name !== "mcp-protocol-version")

const withoutForeign = (request: Request): Request =>
  Object.keys(request.headers).filter(isForeign).reduce(HttpClientRequest.removeHeader, request)

const checkUrl = (url: URL, policy: Policy): Sent<void> => {
  if (url.username !== "" || url.password !== "") return insecure(url, "scheme", "it holds a user name or a password")
  return url.protocol === "https:" || (policy.loopback && isSecure(url))
    ? Effect.void
    : insecure(url, "scheme", "it is not https")
}

/** Where a redirect leads, if it may be followed: to the same origin, with the same method and body (RFC 9110, 15.4). */
const target = (response: Response, request: Request, from: URL): Sent<URL> => {
  const { status } = response
  const location = response.headers["location"]
  if (location === undefined) return badAnswer(from, "it redirects without saying where to", status)
  const to = URL.parse(location, from)
  if (to === null) return badAnswer(from, "it redirects to what is no URL", status)
  if (to.origin !== from.origin) return insecure(from, "redirect", `it redirects to ${to.origin}`)
  return status === 307 || status === 308 || request.method === "GET"
    ? Effect.succeed(to)
    : badAnswer(from, `it redirects a ${request.method}`, status)
}

/** A client that follows redirects on its own account has been where nobody checked; a browser hides where it was sent. */
const strayed = (response: Response, url: URL): string | undefined => {
  if (response.status === 0) return "nobody can say where it redirects to"
  const answered = URL.parse(response.url)
  return answered === null || answered.origin === url.origin ? undefined : `it redirected to ${answered.origin}`
}

class Sender {
  private readonly client: HttpClient.HttpClient
  private readonly policy: Policy
  private readonly maxBytes: number
  /** Bodies that are being let go of. */
  private readonly closing = new Set<Fiber.Fiber<void>>()

  constructor(options: Options, maxBytes: number) {
    this.client = options.guard.guard(Redirects.notFollowed(options.client, { credentials: "omit" }), options.policy)
    this.policy = options.policy
    this.maxBytes = maxBytes
  }

  exchange(request: Request, url: URL, left: number): Sent<Answer> {
    return checkUrl(url, this.policy).pipe(
      Effect.andThen(this.client.execute(request).pipe(Effect.catch(failed(url, "it does not answer")))),
      Effect.flatMap((response) => {
        const detail = strayed(response, url)
        if (detail !== undefined) return insecure(url, "redirect", detail)
        return redirects.has(response.status)
          ? this.follow(response, request, url, left)
          : this.read(response, url)
      })
    )
  }

  private read(response: Response, url: URL): Sent<Answer> {
    const { headers, status } = response
    return readBody(response, this.maxBytes, this.closing).pipe(
      Effect.catch(failed(url, "its answer broke off")),
      Effect.flatMap((body) =>
        body === undefined
          ? badAnswer(url, `it is larger than ${this.maxBytes} bytes`, status)
          : Effect.succeed({ status, headers, body })
      )
    )
  }

  private follow(response: Response, request: Request, url: URL, left: number): Sent<Answer> {
    return readBody(response, 0, this.closing).pipe(
      Effect.ignore,
      Effect.andThen(
        left === 0 ? badAnswer(url, "it redirects too often", response.status) : target(response, request, url)
      ),
      Effect.flatMap((to) => {
        const { body, headers, method } = request
        const next = HttpClientRequest.makeWith(method, to.href, UrlParams.empty, Option.none(), headers, body)
        return this.exchange(next, to, left - 1)
      })
    )
  }
}

/** Makes the way out under one policy. */
export const make = (options: Options): Outbound => {
  const timeout = Duration.fromInputUnsafe(options.timeout ?? "10 seconds")
  const sender = new Sender(options, options.maxBytes ?? 512 * 1024)
  const send = (request: Request, url: URL): Sent<Answer> =>
    sender.exchange(withoutForeign(request), url, maxRedirects).pipe(
      Effect.timeoutOrElse({
        duration: timeout,
        orElse: () => unavailable(url, `it does not answer within ${spokenTime(Duration.toMillis(timeout))}`)
      }),
      // The client's own spans would tell queries and headers, and the trace to everybody who is asked.
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.tap((answer) => Effect.annotateCurrentSpan("http.response.status_code", answer.status)),
      // A span keeps what it ends with, which may be tokens.
      Effect.map((answer) => () => answer),
      Effect.withSpan("mcpfx.auth.request", {
        kind: "client",
        attributes: { "http.request.method": request.method, "url.full": bareUrl(url.href) }
      }),
      Effect.map((answer) => answer())
    )
  return {
    send: (request) =>
      Option.match(HttpClientRequest.toUrl(request), {
        onNone: () => AuthError.fail(new AuthError.BadAnswer({ url: "", detail: "there is no URL to ask" })),
        onSome: (url) => send(request, url)
      })
  }
}

/** The browser of a test: follows the redirects of a login, answers the consent page, and stops where the client listens. */
import * as AuthError from "@mcpfx/auth/AuthError"
import type { UserAgent, Visit } from "@mcpfx/auth/UserAgent"
import * as Redirects from "@mcpfx/transport/Redirects"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { UserAgentOptions } from "./model.ts"

/** Redirects and pages that are followed at most. */
const maxHops = 20

/** How long a login may take, in milliseconds. */
const patience = 600_000

const entities: ReadonlyMap<string, string> = new Map([
  ["&amp;", "&"],
  ["&lt;", "<"],
  ["&gt;", ">"],
  ["&quot;", "\""],
  ["&#39;", "'"]
])

const unescape = (text: string): string =>
  text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities.get(entity) ?? "")

const attribute = (tag: string, name: string): string | undefined => {
  const value = new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1]
  return value === undefined ? undefined : unescape(value)
}

interface Form {
  readonly action: string
  readonly fields: Readonly<Record<string, string>>
}

/** The first form of a page, with what it hides. */
export const formOf = (html: string): Form | undefined => {
  const form = /<form\s[^>]*>([\s\S]*?)<\/form>/.exec(html)
  const action = form === null ? undefined : attribute(form[0], "action")
  if (form === null || action === undefined) return undefined
  const hidden = [...(form[1] ?? "").matchAll(/<input\s[^>]*>/g)].map(([tag]) => tag)
    .filter((tag) => attribute(tag, "type") === "hidden")
    .map((tag) => [attribute(tag, "name") ?? "", attribute(tag, "value") ?? ""] as const)
  return { action, fields: Object.fromEntries(hidden) }
}

/** What a page says is wrong. */
const alertOf = (html: string): string | undefined => {
  const text = /<p role="alert">([\s\S]*?)<\/p>/.exec(html)?.[1]
  return text === undefined ? undefined : unescape(text)
}

interface Journey {
  readonly client: HttpClient.HttpClient
  readonly options: UserAgentOptions
  readonly redirectUri: URL
  readonly issuer: string
  /** Those of each origin, by name: no server sees those of another. */
  readonly cookies: Map<string, Map<string, string>>
}

const isArrival = (url: URL, { redirectUri }: Journey): boolean =>
  url.protocol === redirectUri.protocol && url.host === redirectUri.host && url.pathname === redirectUri.pathname

const unavailable = (url: URL, detail: string, status?: number): Effect.Effect<never, AuthError.AuthError> =>
  AuthError.fail(
    new AuthError.Unavailable({
      url: `${url.origin}${url.pathname}`,
      detail,
      ...(status === undefined ? {} : { status })
    })
  )

const keepCookies = ({ cookies }: Journey, { origin }: URL, response: HttpClientResponse.HttpClientResponse): void => {
  const own = cookies.get(origin) ?? new Map<string, string>()
  for (const [name, { value }] of Object.entries(response.cookies.cookies)) own.set(name, value)
  cookies.set(origin, own)
}

/** An address that a page leads to. */
const leads = (url: URL, to: string): Effect.Effect<URL, AuthError.AuthError> => {
  const next = URL.parse(to, url)
  return next === null ? unavailable(url, "it leads to what is no address") : Effect.succeed(next)
}

const send = (
  journey: Journey,
  url: URL,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<HttpClientResponse.HttpClientResponse, AuthError.AuthError> => {
  const cookies = journey.cookies.get(url.origin) ?? new Map<string, string>()
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ")
  const sent = cookie === "" ? request : HttpClientRequest.setHeader(request, "cookie", cookie)
  return Effect.catch(journey.client.execute(sent), (error) => unavailable(url, error.message))
}

/** The request that a page leads to: its form with the decision, sent. */
const answerPage = (
  { issuer, options }: Journey,
  url: URL,
  html: string,
  status: number
): Effect.Effect<HttpClientRequest.HttpClientRequest, AuthError.AuthError> => {
  const form = formOf(html)
  if (form === undefined) {
    const description = alertOf(html)
    return description === undefined
      ? unavailable(url, "the page has no form", status)
      : AuthError.fail(new AuthError.LoginDenied({ issuer, error: "invalid_request", description }))
  }
  const { decision = "allow", user } = options
  const fields = { ...form.fields, decision, ...(user === undefined ? {} : { user }) }
  return Effect.map(
    leads(url, form.action),
    (action) =>
      HttpClientRequest.post(action, { headers: { origin: url.origin } }).pipe(HttpClientRequest.bodyUrlParams(fields))
  )
}

const travel = (journey: Journey, from: URL): Effect.Effect<URL, AuthError.AuthError> =>
  Effect.gen(function*() {
    let url = from
    let request = HttpClientRequest.get(url)
    for (let hop = 0; hop < maxHops; hop++) {
      const response = yield* send(journey, url, request)
      keepCookies(journey, url, response)
      const location = response.headers["location"]
      if (response.status >= 300 && response.status < 400 && location !== undefined) {
        url = yield* leads(url, location)
        if (isArrival(url, journey)) return url
        request = HttpClientRequest.get(url)
        continue
      }
      const html = yield* response.text.pipe(Effect.catch((error) => unavailable(url, error.message)))
      request = yield* answerPage(journey, url, html, response.status)
      url = new URL(request.url)
    }
    return yield* unavailable(url, "the login leads in circles")
  })

const choose = (own: string, registered: ReadonlyArray<string> | undefined): string =>
  registered === undefined || registered.includes(own) ? own : registered[0] ?? own

export const make = (client: HttpClient.HttpClient, options: UserAgentOptions = {}): UserAgent["Service"] => {
  // Where the client is that of `fetch`, it would follow redirects by itself, past the cookies and the place to stop at.
  const walking = Redirects.notFollowed(options.client ?? client)
  const own = options.redirectUri ?? "http://127.0.0.1:8976/callback"
  const visitOf = (redirectUri: string, arrival: URL): Visit => ({
    redirectUri,
    open: (url, { issuer }) =>
      travel(
        { client: walking, options, redirectUri: arrival, issuer, cookies: new Map() },
        url
      ).pipe(
        Effect.timeoutOrElse({
          duration: patience,
          orElse: () => AuthError.fail(new AuthError.LoginTimedOut({ issuer, millis: patience }))
        })
      )
  })
  const visit: UserAgent["Service"]["visit"] = (registered) => {
    const address = choose(own, registered)
    const arrival = URL.parse(address)
    return arrival === null
      ? AuthError.fail(new AuthError.CallbackUnavailable({ address, detail: "it is no address" }))
      : Effect.succeed(visitOf(address, arrival))
  }
  return { redirectUris: [own], visit }
}

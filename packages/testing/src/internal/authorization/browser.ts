/** The browser of a test: follows the redirects of a login, answers the consent page, and stops where the client listens. */
import * as AuthError from "@mcpfx/auth/AuthError"
import type { UserAgent, Visit } from "@mcpfx/auth/UserAgent"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import type { UserAgentOptions } from "./model.ts"

/** Redirects and pages that are followed at most. */
const maxHops = 20

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
const alertOf = (html: string): string => {
  const text = /<p role="alert">([\s\S]*?)<\/p>/.exec(html)?.[1]
  return text === undefined ? "the page has no form" : unescape(text)
}

interface Journey {
  readonly client: HttpClient.HttpClient
  readonly options: UserAgentOptions
  readonly redirectUri: URL
  readonly issuer: string
  readonly cookies: Map<string, string>
}

const isArrival = (url: URL, { redirectUri }: Journey): boolean =>
  url.protocol === redirectUri.protocol && url.host === redirectUri.host && url.pathname === redirectUri.pathname

const unavailable = (url: URL, detail: string): Effect.Effect<never, AuthError.AuthError> =>
  AuthError.fail(new AuthError.Unavailable({ url: `${url.origin}${url.pathname}`, detail }))

const keepCookies = ({ cookies }: Journey, response: HttpClientResponse.HttpClientResponse): void => {
  for (const [name, { value }] of Object.entries(response.cookies.cookies)) cookies.set(name, value)
}

const send = (
  journey: Journey,
  url: URL,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<HttpClientResponse.HttpClientResponse, AuthError.AuthError> => {
  const cookie = [...journey.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
  const sent = cookie === "" ? request : HttpClientRequest.setHeader(request, "cookie", cookie)
  return journey.client.execute(sent).pipe(Effect.catch((error) => unavailable(url, error.message)))
}

/** The request that a page leads to: its form with the decision, sent. */
const answerPage = (
  { issuer, options }: Journey,
  url: URL,
  html: string
): Effect.Effect<HttpClientRequest.HttpClientRequest, AuthError.AuthError> => {
  const form = formOf(html)
  if (form === undefined) {
    return AuthError.fail(new AuthError.LoginDenied({ issuer, error: "invalid_request", description: alertOf(html) }))
  }
  const { decision = "allow", user } = options
  const fields = { ...form.fields, decision, ...(user === undefined ? {} : { user }) }
  return Effect.succeed(
    HttpClientRequest.post(new URL(form.action, url), { headers: { origin: url.origin } }).pipe(
      HttpClientRequest.bodyUrlParams(fields)
    )
  )
}

const travel = (journey: Journey, from: URL): Effect.Effect<URL, AuthError.AuthError> =>
  Effect.gen(function*() {
    let url = from
    let request = HttpClientRequest.get(url)
    for (let hop = 0; hop < maxHops; hop++) {
      const response = yield* send(journey, url, request)
      keepCookies(journey, response)
      const location = response.headers["location"]
      if (response.status >= 300 && response.status < 400 && location !== undefined) {
        url = new URL(location, url)
        if (isArrival(url, journey)) return url
        request = HttpClientRequest.get(url)
        continue
      }
      const html = yield* response.text.pipe(Effect.catch((error) => unavailable(url, error.message)))
      request = yield* answerPage(journey, url, html)
      url = new URL(request.url)
    }
    return yield* unavailable(url, "the login leads in circles")
  })

const choose = (own: string, registered: ReadonlyArray<string> | undefined): string =>
  registered === undefined || registered.includes(own) ? own : registered[0] ?? own

export const make = (client: HttpClient.HttpClient, options: UserAgentOptions = {}): UserAgent["Service"] => {
  const own = options.redirectUri ?? "http://127.0.0.1:8976/callback"
  const visit = (redirectUri: string): Visit => ({
    redirectUri,
    open: (url, { issuer }) =>
      travel(
        { client: options.client ?? client, options, redirectUri: new URL(redirectUri), issuer, cookies: new Map() },
        url
      )
  })
  return { redirectUris: [own], visit: (registered) => Effect.succeed(visit(choose(own, registered))) }
}

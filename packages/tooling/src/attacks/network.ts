/** A network without ports that is watched: which requests went where, and which of them took a secret where it does not belong. */
import { TestNetwork } from "@mcpfx/testing"
import { Effect, Result } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { type Secret, Secrets } from "./secrets.ts"

export interface Seen {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly form: URLSearchParams
  /** 0 while there is no answer. */
  status: number
}

/** An answer in place of the real one; `undefined` is a connection that breaks, `"real"` lets the request pass. */
export type Answer = Response | "real" | undefined
export type Route = (seen: Seen) => Answer | Effect.Effect<Answer>

export interface Options {
  /** Origins of the servers that access tokens are for. */
  readonly resources: ReadonlyArray<string>
  /** Origins of the authorization servers that may be trusted. */
  issuers: ReadonlyArray<string>
}

const bodyOf = ({ body }: HttpClientRequest.HttpClientRequest): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

const broken = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, description: "the connection broke" })
  })

/** Where a secret may go: tokens to whom they are from and for whom they are, all else to whoever gives tokens. */
const isHome = (secret: Secret, { headers, method, url }: Seen, { issuers, resources }: Options): boolean => {
  const isEndpoint = issuers.includes(url.origin) && url.origin === secret.origin && method === "POST"
  if (secret.kind === "access token") {
    const inHeader = headers["authorization"]?.includes(secret.value) === true && !url.href.includes(secret.value)
    return (resources.includes(url.origin) && inHeader) || (isEndpoint && url.pathname.endsWith("/revoke"))
  }
  return isEndpoint && !url.href.includes(secret.value) && secret.kind !== "private key"
}

export class Network {
  readonly seen: Array<Seen> = []
  readonly secrets = new Secrets()
  readonly options: Options
  private readonly hosts: Record<string, HttpClient.HttpClient> = {}
  private readonly routes = new Map<string, Route>()

  constructor(options: Options) {
    this.options = options
  }

  /** A real server behind an origin. */
  host(origin: string, client: HttpClient.HttpClient): this {
    this.hosts[origin] = client
    return this
  }

  /** Another answer for an address without query, for a method and an address, or for a whole origin. */
  on(at: string, route: Route | object | number): this {
    this.routes.set(
      at,
      typeof route === "function"
        ? (seen) => Reflect.apply(route, undefined, [seen])
        : typeof route === "number"
        ? () => new Response("nothing", { status: route })
        : () => json(route)
    )
    return this
  }

  /** Takes an answer back. */
  off(at: string): this {
    this.routes.delete(at)
    return this
  }

  /** Forgets what was asked, and not what is secret. */
  forget(): void {
    this.seen.length = 0
  }

  /** The requests to an address without query, or to an origin. */
  at(address: string): ReadonlyArray<Seen> {
    return this.seen.filter(({ url }) => url.origin === address || url.origin + url.pathname === address)
  }

  /** The requests to any server that is not one of the good ones, by address. */
  get strangers(): ReadonlyArray<string> {
    const known = [...this.options.issuers, ...this.options.resources]
    return this.seen.filter(({ url }) => !known.includes(url.origin)).map(({ url }) => url.origin + url.pathname)
  }

  /** Secrets that went where they do not belong: their kind and the address. */
  get strays(): ReadonlyArray<string> {
    return this.seen.flatMap((seen) => {
      const text = [seen.url.href, ...Object.values(seen.headers), seen.body].join("\n")
      return this.secrets.within(text)
        .filter((secret) => !isHome(secret, seen, this.options))
        .map(({ kind }) => `${kind} to ${seen.url.origin}${seen.url.pathname}`)
    })
  }

  readonly client: HttpClient.HttpClient = HttpClient.make((request, url) => {
    const body = bodyOf(request)
    const seen: Seen = {
      method: request.method,
      url: new URL(url),
      headers: { ...request.headers },
      body,
      form: new URLSearchParams(body),
      status: 0
    }
    this.seen.push(seen)
    const isAsked = request.method === "POST" && !this.options.resources.includes(url.origin)
    if (isAsked) this.secrets.asked(url.origin, seen.form, request.headers["authorization"])
    const answer = this.scripted(seen)
    return (Effect.isEffect(answer) ? answer : Effect.succeed(answer)).pipe(
      Effect.flatMap((answer) =>
        answer === undefined
          ? Effect.fail(broken(request))
          : answer === "real"
          ? this.real(request, seen, isAsked)
          : Effect.succeed(HttpClientResponse.fromWeb(request, answer))
      ),
      Effect.tap((response) => Effect.sync(() => void (seen.status = response.status)))
    )
  })

  private scripted(seen: Seen): Answer | Effect.Effect<Answer> {
    const address = seen.url.origin + seen.url.pathname
    for (const at of [`${seen.method} ${address}`, address, seen.url.origin]) {
      const route = this.routes.get(at)
      if (route !== undefined) return route(seen)
    }
    return "real"
  }

  /** The real answer; what an authorization server gives is read for its secrets on the way. */
  private real(request: HttpClientRequest.HttpClientRequest, { url }: Seen, isAsked: boolean) {
    const executed = TestNetwork.client(this.hosts).execute(request)
    if (!isAsked) return executed
    return Effect.gen({ self: this }, function*() {
      const response = yield* executed
      const text = yield* response.text
      const body = Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
      if (typeof body === "object" && body !== null) this.secrets.told(url.origin, body)
      const { headers, status } = response
      const isEmpty = status === 204 || status === 304
      return HttpClientResponse.fromWeb(
        request,
        new Response(isEmpty ? null : text, { status, headers: { ...headers } })
      )
    })
  }
}

export const json = (body: object, status = 200, headers: Readonly<Record<string, string>> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })

export const redirect = (location: string, status = 307): Response =>
  new Response(null, { status, headers: { location } })

export const challenge = (parameters: string, status = 401): Response =>
  new Response("{}", { status, headers: { "www-authenticate": `Bearer ${parameters}` } })

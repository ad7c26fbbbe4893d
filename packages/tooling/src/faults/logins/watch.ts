/** Sees all that clients send, and what must never be among it. */
import { Effect } from "effect"
import { type HttpBody, HttpClient, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { at, parse } from "../wire.ts"

/** What must be asked of whom. */
type Endpoint = "token" | "register" | "authorize" | "resource"

const textOf = (body: HttpBody.HttpBody): string =>
  body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : ""

const bearer = (request: HttpClientRequest.HttpClientRequest): string | undefined =>
  /^Bearer (.*)$/.exec(request.headers["authorization"] ?? "")?.[1]

/** Who spends a refresh token; it may be spent again where nobody has heard what came of it. */
interface Spent {
  readonly by: string
  state: "under way" | "heard" | "not heard"
}

export class Watch {
  readonly server: string
  readonly issuers: ReadonlyArray<string>
  readonly wrong: Array<string> = []
  /** Who gave a token or the id of a client. */
  private readonly givenBy = new Map<string, string>()
  private readonly spent = new Map<string, Spent>()
  /** By endpoint. */
  readonly counts = new Map<Endpoint, number>()
  /** The token that each client has shown the server last. */
  readonly shown = new Map<string, string | undefined>()

  constructor(server: string, issuers: ReadonlyArray<string>) {
    this.server = server
    this.issuers = issuers
  }

  count(endpoint: Endpoint): number {
    return this.counts.get(endpoint) ?? 0
  }

  add(endpoint: Endpoint): void {
    this.counts.set(endpoint, this.count(endpoint) + 1)
  }

  /** What was to be kept is not: another process may spend what this one has spent. */
  lost(): void {
    for (const spent of this.spent.values()) spent.state = "not heard"
  }

  /** The way out of one client. */
  client(who: string, network: HttpClient.HttpClient): HttpClient.HttpClient {
    return HttpClient.make((request, url) =>
      Effect.suspend(() => {
        this.look(who, request, url)
        const sent = network.execute(request)
        return this.issuers.includes(url.origin) && request.method === "POST"
          ? Effect.ensuring(
            Effect.flatMap(sent, (response) => this.heard(request, url, response)),
            Effect.sync(() => this.over(request))
          )
          : sent
      })
    )
  }

  private look(who: string, request: HttpClientRequest.HttpClientRequest, url: URL): void {
    const token = bearer(request)
    if (url.href.startsWith(`${this.server}`)) {
      this.add("resource")
      this.shown.set(who, token)
      if (token !== undefined && !this.givenBy.has(token)) this.wrong.push(`${who} shows a token that nobody gave`)
    } else if (token !== undefined) {
      this.wrong.push(`${who} sends a token to ${url.href}`)
    }
    for (const [name, issuer] of this.givenBy) {
      if (url.href.includes(name)) this.wrong.push(`${who} writes what ${issuer} gave into ${url.origin}`)
    }
    if (this.issuers.includes(url.origin) && request.method === "POST") this.form(who, request, url)
  }

  private form(who: string, request: HttpClientRequest.HttpClientRequest, url: URL): void {
    const form = new URLSearchParams(textOf(request.body))
    for (const [name, value] of form) {
      const issuer = this.givenBy.get(value)
      if (issuer !== undefined && issuer !== url.origin) {
        this.wrong.push(`${who} sends ${name} of ${issuer} to ${url.origin}`)
      }
    }
    if (url.pathname === "/register") this.add("register")
    if (url.pathname !== "/token") return
    this.add("token")
    const refresh = form.get("refresh_token")
    if (refresh === null) return
    const before = this.spent.get(refresh)
    if (before !== undefined && before.state !== "not heard") {
      this.wrong.push(`${who} spends a refresh token that ${before.by} has spent: ${before.state}`)
    }
    this.spent.set(refresh, { by: who, state: "under way" })
  }

  private heard(
    request: HttpClientRequest.HttpClientRequest,
    url: URL,
    response: HttpClientResponse.HttpClientResponse
  ) {
    return Effect.map(response.text, (text) => {
      const answer = parse(text)
      for (const name of ["access_token", "refresh_token", "client_id"]) {
        const value = at(answer, name)
        if (typeof value === "string") this.givenBy.set(value, url.origin)
      }
      const spent = this.spentBy(request)
      // Without another the same one stays good.
      if (spent !== undefined && typeof at(answer, "refresh_token") === "string") spent.state = "heard"
      const { headers, status } = response
      return HttpClientResponse.fromWeb(request, new Response(text === "" ? null : text, { status, headers }))
    })
  }

  private over(request: HttpClientRequest.HttpClientRequest): void {
    const spent = this.spentBy(request)
    if (spent?.state === "under way") spent.state = "not heard"
  }

  private spentBy(request: HttpClientRequest.HttpClientRequest): Spent | undefined {
    return this.spent.get(new URLSearchParams(textOf(request.body)).get("refresh_token") ?? "")
  }
}

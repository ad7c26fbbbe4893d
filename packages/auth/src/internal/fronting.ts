/** The endpoints of an authorization server at the origin of another server: they lead to the real ones and nowhere else. */
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as ByteSize from "effect/ByteSize"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Scope from "effect/Scope"
import type { AuthError } from "../AuthError.ts"
import type { Metadata } from "../AuthorizationServer.ts"
import { isAddress } from "./issuerMetadata.ts"
import { mediaType } from "./oauthAnswer.ts"
import type { Answer, Outbound } from "./outbound.ts"
import { Together } from "./together.ts"

export interface FrontingOptions {
  readonly resource: string
  readonly out: Outbound
  readonly find: Effect.Effect<Metadata, AuthError>
  readonly paths: { readonly authorize: string; readonly token: string; readonly register: string }
  readonly maxBodyBytes: number
  readonly timeout: Duration.Input
  readonly scope: Scope.Scope
}

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type App = Effect.Effect<Response, never, Request>

/** Clients in pages have to read the answers; no cookie is ever looked at. */
const open = { "access-control-allow-origin": "*", "cache-control": "no-store" }

const json = (status: number, body: unknown): Response =>
  HttpServerResponse.text(JSON.stringify(body), { status, contentType: "application/json", headers: open })

const oauthError = (status: number, error: string): Response => json(status, { error })
const unavailable = oauthError(503, "temporarily_unavailable")
const notFound = oauthError(404, "not_supported")

const preflight = (allow: string): Response =>
  HttpServerResponse.empty({
    status: 204,
    headers: {
      ...open,
      allow,
      "access-control-allow-methods": allow,
      "access-control-allow-headers": `authorization, content-type, ${McpHeaders.names.protocolVersion}`
    }
  })

/** Serves one method, and preflights. */
const only = (method: "GET" | "POST", serve: (request: Request) => Effect.Effect<Response>): App =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    const allow = `${method}, OPTIONS`
    if (request.method === "OPTIONS") return Effect.succeed(preflight(allow))
    return request.method === method
      ? serve(request)
      : Effect.succeed(HttpServerResponse.empty({ status: 405, headers: { ...open, allow } }))
  })

/** Longest query that is passed on. */
const maxQuery = 8192
/** How long metadata are kept, milliseconds. */
const metadataLife = 60 * 60_000

/** What of a request is for the authorization server, and what of its answer is for the client. */
const requestHeaders = ["accept", "authorization", "content-type"]
const answerHeaders = ["content-type", "www-authenticate", "retry-after"]

const form = "application/x-www-form-urlencoded"

const queryOf = (url: string): string => {
  const at = url.indexOf("?")
  return at < 0 ? "" : url.slice(at + 1)
}

const responseOf = ({ body, headers, status }: Answer): Response => {
  const kept = answerHeaders.flatMap((name) => {
    const value = headers[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return HttpServerResponse.text(body, { status, headers: { ...open, ...Object.fromEntries(kept) } })
}

export class Fronting {
  readonly metadata: App
  readonly authorize: App
  readonly token: App
  readonly register: App
  private readonly options: FrontingOptions
  private readonly searches: Together<Metadata, AuthError>
  private known: Metadata | undefined
  private knownUntil = 0

  constructor(options: FrontingOptions) {
    this.options = options
    this.searches = new Together(options.scope)
    this.metadata = only(
      "GET",
      () => this.withMetadata((metadata) => Effect.succeed(json(200, this.document(metadata))))
    )
    this.authorize = only(
      "GET",
      (request) => this.withMetadata((metadata) => Effect.succeed(this.redirect(metadata, request)))
    )
    this.token = only("POST", (request) =>
      mediaType(request.headers) === form
        ? this.withMetadata(({ token_endpoint }) => this.pass(request, token_endpoint, (body) => this.addressed(body)))
        : Effect.succeed(oauthError(415, "invalid_request")))
    this.register = only("POST", (request) =>
      mediaType(request.headers) === "application/json"
        ? this.withMetadata(({ registration_endpoint }) => this.pass(request, registration_endpoint, (body) => body))
        : Effect.succeed(oauthError(415, "invalid_request")))
  }

  private withMetadata(use: (metadata: Metadata) => Effect.Effect<Response>): Effect.Effect<Response> {
    return Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const found = this.known !== undefined && now < this.knownUntil
        ? Effect.succeed(this.known)
        : this.searches.run(
          "",
          Effect.tap(this.options.find, (metadata) =>
            Effect.sync(() => {
              this.known = metadata
              this.knownUntil = now + metadataLife
            }))
        )
      return Effect.matchEffect(found, {
        onSuccess: use,
        onFailure: (error) =>
          Effect.as(Effect.logWarning(`An authorization server cannot be fronted: ${error.message}`), unavailable)
      })
    })
  }

  /** The metadata as those of this origin: what the real server has, at the addresses that are here. */
  private document(metadata: Metadata): Readonly<Record<string, unknown>> {
    const { paths, resource } = this.options
    const { origin } = new URL(resource)
    const { registration_endpoint: registration } = metadata
    return {
      issuer: origin,
      authorization_endpoint: origin + paths.authorize,
      token_endpoint: origin + paths.token,
      ...(registration === undefined ? undefined : { registration_endpoint: origin + paths.register }),
      response_types_supported: metadata.response_types_supported ?? ["code"],
      grant_types_supported: metadata.grant_types_supported ?? ["authorization_code", "refresh_token"],
      code_challenge_methods_supported: metadata.code_challenge_methods_supported ?? ["S256"],
      ...(metadata.token_endpoint_auth_methods_supported === undefined
        ? undefined
        : { token_endpoint_auth_methods_supported: metadata.token_endpoint_auth_methods_supported }),
      ...(metadata.scopes_supported === undefined ? undefined : { scopes_supported: metadata.scopes_supported })
    }
  }

  /** Nothing of the request says where to: only its query goes along. */
  private redirect({ authorization_endpoint: endpoint }: Metadata, request: Request): Response {
    if (endpoint === undefined || !isAddress(endpoint)) return notFound
    const query = queryOf(request.url)
    if (query.length > maxQuery) return oauthError(414, "invalid_request")
    const target = new URL(endpoint)
    for (const [name, value] of new URLSearchParams(query)) target.searchParams.append(name, value)
    if (!target.searchParams.has("resource")) target.searchParams.set("resource", this.options.resource)
    return HttpServerResponse.empty({
      status: 302,
      headers: { location: target.href, "cache-control": "no-store", "referrer-policy": "no-referrer" }
    })
  }

  /** The form with whom the token is for, where it does not say. */
  private addressed(body: string): string {
    const parameters = new URLSearchParams(body)
    if (!parameters.has("resource")) parameters.set("resource", this.options.resource)
    return parameters.toString()
  }

  private pass(
    request: Request,
    endpoint: string | undefined,
    change: (body: string) => string
  ): Effect.Effect<Response> {
    if (endpoint === undefined) return Effect.succeed(notFound)
    const { maxBodyBytes, out, timeout } = this.options
    const body = request.text.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.fromInputUnsafe(maxBodyBytes)),
      Effect.timeout(timeout)
    )
    return Effect.matchEffect(body, {
      onFailure: () => Effect.succeed(oauthError(400, "invalid_request")),
      onSuccess: (body) => {
        const headers = requestHeaders.flatMap((name) => {
          const value = request.headers[name]
          return value === undefined ? [] : [[name, value] as const]
        })
        const asking = HttpClientRequest.post(endpoint, { headers: Object.fromEntries(headers) }).pipe(
          HttpClientRequest.bodyText(change(body), mediaType(request.headers))
        )
        return Effect.matchEffect(out.send(asking), {
          onSuccess: (answer) => Effect.succeed(responseOf(answer)),
          onFailure: (error) =>
            Effect.as(Effect.logWarning(`An authorization server does not answer: ${error.message}`), unavailable)
        })
      }
    })
  }
}

/** An authorization server that is a function: what it is asked is kept, what it answers is scripted. */
import { OutboundGuard, TokenEndpoint } from "@mcpfx/auth"
import type { AuthorizationServer, Credentials, Dpop, Grant } from "@mcpfx/auth"
import { Effect, Redacted } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import * as outbound from "../../src/internal/outbound.ts"

/** A request as the server saw it. */
export interface Asked {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
  /** The body as a form. */
  readonly form: Readonly<Record<string, string>>
}

export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: string | object
}

/** `undefined` is a connection that breaks. */
export type Answer = (asked: Asked, count: number) => Reply | undefined

const bodyOf = (request: HttpClientRequest.HttpClientRequest): string =>
  request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""

const responseOf = ({ body = "", headers = {}, status = 200 }: Reply): Response =>
  typeof body === "string"
    ? new Response(body === "" ? null : body, { status, headers })
    : new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })

export const provider = (answer: Answer) => {
  const asked: Array<Asked> = []
  const client = HttpClient.make((request, url) => {
    const body = bodyOf(request)
    const one = {
      method: request.method,
      url: url.href,
      headers: { ...request.headers },
      body,
      form: Object.fromEntries(new URLSearchParams(body))
    }
    asked.push(one)
    const reply = answer(one, asked.length)
    return reply === undefined
      ? Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, cause: one.body })
        })
      )
      : Effect.succeed(HttpClientResponse.fromWeb(request, responseOf(reply)))
  })
  const out = outbound.make({ client, guard: OutboundGuard.make(), policy: { loopback: false } })
  return {
    asked,
    client,
    out,
    endpoint: (dpop?: Dpop.Dpop) => TokenEndpoint.make(out, dpop),
    /** What was asked of one endpoint. */
    at: (path: string) => asked.filter(({ url }) => new URL(url).pathname === path)
  }
}

export const issuer = "https://login.example.com"
export const resource = "https://mcp.example.com/mcp"

export const server = (
  metadata: Partial<AuthorizationServer.Metadata> = {},
  found: AuthorizationServer.AuthorizationServer["found"] = "resource"
): AuthorizationServer.AuthorizationServer => ({
  issuer,
  found,
  metadata: {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    device_authorization_endpoint: `${issuer}/device`,
    code_challenge_methods_supported: ["S256"],
    ...metadata
  }
})

/** A request for tokens, with a place for one registration. */
export const requestTo = (
  endpoint: TokenEndpoint.TokenEndpoint,
  options: { readonly server?: AuthorizationServer.AuthorizationServer; readonly scopes?: ReadonlyArray<string> } = {}
) => {
  const kept: { registration: Credentials.Registration | undefined } = { registration: undefined }
  const request: Grant.Request = {
    server: options.server ?? server(),
    resource,
    scopes: options.scopes,
    endpoint,
    registrations: {
      get: Effect.sync(() => kept.registration),
      set: (registration) => Effect.sync(() => void (kept.registration = registration)),
      remove: Effect.sync(() => void (kept.registration = undefined))
    }
  }
  return { kept, request }
}

export const good: Reply = {
  body: { access_token: "access-token-1", token_type: "Bearer", expires_in: 3600, refresh_token: "refresh-token-1" }
}

export const secret = (text: string): Redacted.Redacted<string> => Redacted.make(text)

import type { TestAuthorizationServer } from "@mcpfx/testing"
import { Effect, Predicate } from "effect"
import { HttpClientRequest } from "effect/http"
import * as Jose from "jose"

export type Server = TestAuthorizationServer.TestAuthorizationServer["Service"]

export const callback = "http://127.0.0.1:8976/callback"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The members of a JSON body. */
  readonly body: Readonly<Record<string, unknown>>
}

export const send = (server: Server, request: HttpClientRequest.HttpClientRequest): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const response = yield* server.client.execute(request)
    const text = yield* response.text
    const isJson = response.headers["content-type"]?.startsWith("application/json") === true
    const body: unknown = isJson ? JSON.parse(text) : {}
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: Predicate.isObject(body) ? Object.fromEntries(Object.entries(body)) : {}
    }
  }).pipe(Effect.orDie)

export const post = (
  server: Server,
  endpoint: TestAuthorizationServer.Endpoint,
  parameters: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {}
): Effect.Effect<Answer> =>
  send(
    server,
    HttpClientRequest.post(server.url(endpoint), { headers }).pipe(HttpClientRequest.bodyUrlParams(parameters))
  )

export const register = (server: Server, body: Readonly<Record<string, unknown>>): Effect.Effect<Answer> =>
  send(server, HttpClientRequest.post(server.url("register")).pipe(HttpClientRequest.bodyJsonUnsafe(body)))

/** The pair of RFC 7636, appendix B. */
export const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

/** Everything a login of `app` asks for; `undefined` leaves a parameter out. */
export const asked = (changes: Readonly<Record<string, string | undefined>> = {}): Record<string, string> => {
  const all = {
    response_type: "code",
    client_id: "app",
    redirect_uri: callback,
    code_challenge: challenge,
    code_challenge_method: "S256",
    state: "st",
    scope: "notes",
    resource: "https://mcp.test/mcp",
    ...changes
  }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  )
}

export const authorize = (
  server: Server,
  changes?: Readonly<Record<string, string | undefined>>
): Effect.Effect<Answer> =>
  send(
    server,
    HttpClientRequest.get(server.url("authorize")).pipe(HttpClientRequest.setUrlParams(asked(changes)))
  )

/** The parameters that a redirect goes back with. */
export const backOf = ({ headers }: Answer): Record<string, string> =>
  Object.fromEntries(new URL(headers["location"] ?? "about:blank").searchParams)

/** A code of a server that consents at once. */
export const codeOf = (server: Server, changes?: Readonly<Record<string, string | undefined>>): Effect.Effect<string> =>
  Effect.map(authorize(server, changes), (answer) => backOf(answer)["code"] ?? "")

export const exchange = (
  server: Server,
  code: string,
  changes: Readonly<Record<string, string>> = {},
  headers?: Readonly<Record<string, string>>
): Effect.Effect<Answer> =>
  post(server, "token", {
    grant_type: "authorization_code",
    code,
    client_id: "app",
    redirect_uri: callback,
    code_verifier: verifier,
    ...changes
  }, headers)

export const refresh = (
  server: Server,
  token: unknown,
  changes: Readonly<Record<string, string>> = {}
): Effect.Effect<Answer> =>
  post(server, "token", { grant_type: "refresh_token", refresh_token: String(token), client_id: "app", ...changes })

/** Asks about a token as the resource server `rs` with the secret `s`. */
export const isActive = (server: Server, token: unknown): Effect.Effect<unknown> =>
  Effect.map(
    post(server, "introspect", { token: String(token), client_id: "rs", client_secret: "s" }),
    ({ body }) => body["active"]
  )

export const app = { clientId: "app", redirectUris: [callback] }
export const rs = { clientId: "rs", clientSecret: "s" }

/** A key, as somebody who signs has it. */
export const keyPair = Effect.promise(async () => {
  const pair = await Jose.generateKeyPair("ES256", { extractable: true })
  const jwk: Jose.JWK = { ...await Jose.exportJWK(pair.publicKey), alg: "ES256", kid: "k" }
  return { ...pair, jwk, jwks: { keys: [jwk] } }
})

export type KeyPair = Effect.Success<typeof keyPair>

export const signed = (
  { privateKey }: { readonly privateKey: Jose.CryptoKey },
  claims: Jose.JWTPayload,
  header: Readonly<Record<string, unknown>> = {}
): Effect.Effect<string> =>
  Effect.promise(() =>
    new Jose.SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "k", ...header }).sign(privateKey)
  )

/** The claims of a JWT, unverified. */
export const claimsOf = (token: unknown): Record<string, unknown> => ({ ...Jose.decodeJwt(String(token)) })

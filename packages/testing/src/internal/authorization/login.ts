/** A whole login of the code flow, as a client without a library would do it. */
import type { AuthError } from "@mcpfx/auth/AuthError"
import type { UserAgent } from "@mcpfx/auth/UserAgent"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import { Unexpected } from "../../TestError.ts"
import { matches } from "./clients.ts"
import { challengeOf } from "./codeGrant.ts"
import type { Client } from "./model.ts"
import { at } from "./paths.ts"
import type { State } from "./state.ts"

/**
 * What a token endpoint answers (RFC 6749, 5.1).
 *
 * @category schemas
 * @since 0.1.0
 */
export const TokenAnswer = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.String,
  expires_in: Schema.optionalKey(Schema.Finite),
  refresh_token: Schema.optionalKey(Schema.String),
  scope: Schema.optionalKey(Schema.String),
  id_token: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface TokenAnswer extends Schema.Schema.Type<typeof TokenAnswer> {}

/**
 * What is to be logged in for.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoginRequest {
  /** By default a client registers itself for the login. */
  readonly clientId?: string | undefined
  /** The secret of the client; by default the one that the server knows. */
  readonly clientSecret?: string | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly resource?: string | undefined
}

const ClientAnswer = Schema.Struct({ client_id: Schema.String })

const decoded = <A>(
  schema: Schema.Decoder<A>,
  wanted: string,
  client: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest
): Effect.Effect<A, Unexpected> =>
  client.execute(request).pipe(
    Effect.flatMap((response) =>
      Effect.flatMap(response.text, (text) =>
        Schema.decodeUnknownEffect(Schema.fromJsonString(schema))(text).pipe(
          Effect.mapError(() => new Unexpected({ wanted, got: [response.status, text] }))
        ))
    ),
    Effect.catchTag("HttpClientError", (error) => Effect.fail(new Unexpected({ wanted, got: [error.message] })))
  )

const register = (
  state: State,
  client: HttpClient.HttpClient,
  redirectUri: string
): Effect.Effect<string, Unexpected> =>
  Effect.map(
    decoded(
      ClientAnswer,
      "a registered client",
      client,
      HttpClientRequest.post(at(state, "register")).pipe(
        HttpClientRequest.bodyJsonUnsafe({
          redirect_uris: [redirectUri],
          application_type: "native",
          token_endpoint_auth_method: "none",
          grant_types: ["authorization_code", "refresh_token"],
          client_name: "Test Client"
        })
      )
    ),
    ({ client_id }) => client_id
  )

/** Where a client has to be sent back to; `undefined` where the browser may choose. */
const redirectsOf = (client: Client | undefined, [own = ""]: ReadonlyArray<string>) => {
  const registered = client?.redirectUris ?? []
  return registered.length === 0 || registered.some((uri) => matches(uri, own)) ? undefined : registered
}

/** The secret of a client, sent in the way that the client is known to send it. */
const proofOf = (client: Client | undefined, clientId: string | undefined, secret: string | undefined): {
  readonly parameters: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
} => {
  if (secret === undefined) return { parameters: {}, headers: {} }
  const isBasic = client?.authentication.includes("client_secret_post") === false &&
    client.authentication.includes("client_secret_basic")
  if (!isBasic) return { parameters: { client_secret: secret }, headers: {} }
  const pair = [clientId ?? "", secret].map((part) => encodeURIComponent(part)).join(":")
  return { parameters: {}, headers: { authorization: `Basic ${Base64.encode(pair)}` } }
}

export const login = (
  state: State,
  client: HttpClient.HttpClient,
  agent: UserAgent["Service"],
  { clientId, clientSecret, resource, scopes = [] }: LoginRequest,
  /** Whether the browser is told where to come back to, right or wrong. */
  told: boolean
): Effect.Effect<TokenAnswer, AuthError | Unexpected> =>
  Effect.scoped(Effect.gen(function*() {
    const known = clientId === undefined ? undefined : state.clients.get(clientId)
    const { open, redirectUri } = yield* agent.visit(told ? undefined : redirectsOf(known, agent.redirectUris))
    const proof = proofOf(known, clientId, clientSecret ?? known?.clientSecret)
    const id = clientId ?? (yield* register(state, client, redirectUri))
    const [verifier, nonce] = [yield* state.random, yield* state.random]
    const common = resource === undefined ? {} : { resource }
    const url = new URL(at(state, "authorize"))
    url.search = new URLSearchParams({
      response_type: "code",
      client_id: id,
      redirect_uri: redirectUri,
      state: nonce,
      code_challenge: yield* challengeOf(verifier),
      code_challenge_method: "S256",
      ...(scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
      ...common
    }).toString()
    const { searchParams } = yield* open(url, { issuer: state.issuer, resource: resource ?? state.issuer })
    const code = searchParams.get("code")
    if (code === null) return yield* new Unexpected({ wanted: "a code", got: [Object.fromEntries(searchParams)] })
    const request = HttpClientRequest.post(at(state, "token")).pipe(HttpClientRequest.bodyUrlParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
      client_id: id,
      ...proof.parameters,
      ...common
    }))
    return yield* decoded(TokenAnswer, "tokens", client, HttpClientRequest.setHeaders(request, proof.headers))
  }))

/** A whole login of the code flow, as a client without a library would do it. */
import type { AuthError } from "@mcpfx/auth/AuthError"
import type { UserAgent } from "@mcpfx/auth/UserAgent"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import { Unexpected } from "../../TestError.ts"
import { challengeOf } from "./codeGrant.ts"
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
  /** The secret of the client, where it has one. */
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

export const login = (
  state: State,
  client: HttpClient.HttpClient,
  agent: UserAgent["Service"],
  { clientId, clientSecret, resource, scopes = [] }: LoginRequest
): Effect.Effect<TokenAnswer, AuthError | Unexpected> =>
  Effect.scoped(Effect.gen(function*() {
    const { open, redirectUri } = yield* agent.visit(undefined)
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
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...common
    }))
    return yield* decoded(TokenAnswer, "tokens", client, request)
  }))

/**
 * Requests to the endpoints of an authorization server, and their answers, with the quirks of those in the field.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as AuthError from "./AuthError.ts"
import type * as Credentials from "./Credentials.ts"
import * as Dpop from "./Dpop.ts"
import type { ClientIdentity, ClientProof, Parameter } from "./Grant.ts"
import { isLater, retryAfterOf } from "./internal/later.ts"
import { member, type Members, parseJson, textOf } from "./internal/members.ts"
import { looksLike, membersOf } from "./internal/oauthAnswer.ts"
import type { Answer, Outbound } from "./internal/outbound.ts"
import { bareUrl, tidy } from "./internal/serverText.ts"
import { tokensOf } from "./internal/tokenAnswer.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface TokenRequest {
  readonly url: string
  readonly issuer: string
  /** `grant_type` and what belongs to it. Absent values are left out; secrets are redacted. */
  readonly parameters: Readonly<Record<string, Parameter | undefined>>
  readonly client?: ClientIdentity | undefined
  /** What was asked for, which is what is granted where the answer does not say. */
  readonly scopes?: ReadonlyArray<string> | undefined
}

/**
 * A form to any endpoint.
 *
 * @category models
 * @since 0.1.0
 */
export interface FormRequest extends TokenRequest {
  readonly endpoint: "revocation" | "device authorization" | "token"
}

/**
 * An answer to a registration (RFC 7591), whatever its status.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonAnswer {
  readonly status: number
  /** `undefined` where there was no JSON. */
  readonly body: unknown
  /** The header `Retry-After`, as the server wrote it. */
  readonly retryAfter?: string | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface TokenEndpoint {
  /** The thumbprint of the key that tokens are to be bound to, where DPoP is on (RFC 9449). */
  readonly thumbprint?: string | undefined
  /**
   * Asks a token endpoint for tokens.
   *
   * An OAuth error is `OAuthRefused` whatever its status, as some servers send it with 200. No answer, 408, 425, 429 and
   * 5xx are `Unavailable`: what the client has stays good. All else that holds no token is `BadAnswer`. Nothing is sent
   * twice, but for a server that wants its nonce in the proof (RFC 9449, 8), which has not looked at the request yet.
   */
  readonly tokens: (request: TokenRequest) => Effect.Effect<Credentials.Tokens, AuthError.AuthError>
  /** A form to any other endpoint; the answer's JSON object, or an empty one where there is no body. */
  readonly form: (
    request: FormRequest
  ) => Effect.Effect<Readonly<Record<string, unknown>>, AuthError.AuthError>
  /** A JSON document posted, for registration (RFC 7591): status and JSON, whatever the status. */
  readonly json: (
    url: string,
    body: Readonly<Record<string, unknown>>
  ) => Effect.Effect<JsonAnswer, AuthError.AuthError>
}

/** Errors that say in words what the statuses of {@link isLater} do, as some servers do with 400. */
const laterErrors: ReadonlySet<string> = new Set(["temporarily_unavailable", "server_error"])

const nonceWanted = "use_dpop_nonce"

const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** What went out and must not be told: redacted parameters, and what proves the client in a header. */
const secretsOf = (parameters: Readonly<Record<string, Parameter | undefined>>, proof: ClientProof): Array<string> => [
  ...Object.values(parameters).flatMap((value) => Redacted.isRedacted(value) ? [Redacted.value(value)] : []),
  ...Object.values(proof.parameters).flatMap((value) => Redacted.isRedacted(value) ? [Redacted.value(value)] : []),
  ...Object.values(proof.headers).map((value) => value.replace(/^\w+ /, ""))
]

const noProof: ClientProof = { parameters: {}, headers: {} }

interface Exchange {
  readonly answer: Answer
  readonly members: Members | undefined
  readonly secrets: ReadonlyArray<string>
}

const failed = (
  { issuer, url }: TokenRequest,
  endpoint: FormRequest["endpoint"],
  { answer, members, secrets }: Exchange
): AuthError.Reason | undefined => {
  const { headers, status } = answer
  const error = members === undefined ? undefined : tidy(member(members, "error"), secrets, 64)
  if (isLater(status) || (error !== undefined && laterErrors.has(error))) {
    return new AuthError.Unavailable({
      url: bareUrl(url),
      status,
      ...retryAfterOf(headers),
      detail: `it answers with status ${status}`
    })
  }
  if (error !== undefined && members !== undefined) {
    const description = tidy(member(members, "error_description"), secrets)
    return new AuthError.OAuthRefused({
      issuer,
      endpoint,
      status,
      error,
      ...(description === undefined ? {} : { description })
    })
  }
  return isSuccess(status)
    ? undefined
    : new AuthError.BadAnswer({ url: bareUrl(url), status, detail: `status ${status} without an OAuth error` })
}

const badAnswer = (url: string, status: number, detail: string) =>
  AuthError.fail(new AuthError.BadAnswer({ url: bareUrl(url), status, detail }))

/**
 * Makes the way to the endpoints, with DPoP where there is a key. Only what asks for tokens of the resource carries a proof.
 *
 * **Example** (Against an authorization server in memory)
 *
 * ```ts
 * import { TokenEndpoint } from "@mcpfx/auth"
 * import { Effect } from "effect"
 * import { Headers } from "effect/http"
 *
 * const body = JSON.stringify({ access_token: "t", token_type: "bearer", expires_in: "3600", scope: null })
 * const endpoint = TokenEndpoint.make({
 *   send: () => Effect.succeed({ status: 201, headers: Headers.empty, body })
 * })
 * const tokens = endpoint.tokens({
 *   url: "https://login.example.com/token",
 *   issuer: "https://login.example.com",
 *   parameters: { grant_type: "client_credentials" },
 *   scopes: ["read"]
 * })
 * const { scopes, tokenType } = await Effect.runPromise(tokens)
 * const result = [tokenType, ...scopes] // => ["Bearer", "read"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (outbound: Outbound, dpop?: Dpop.Dpop): TokenEndpoint => {
  const post = Effect.fnUntraced(function*(request: TokenRequest, key: Dpop.Dpop | undefined) {
    const { client, issuer, parameters, url } = request
    const proof = client === undefined ? noProof : yield* client.authenticate(url, issuer)
    const bound = key === undefined ? {} : { [Dpop.header]: yield* key.proof({ method: "POST", url }) }
    const answer = yield* outbound.send(
      HttpClientRequest.post(url).pipe(
        HttpClientRequest.acceptJson,
        HttpClientRequest.setHeaders({ ...proof.headers, ...bound }),
        HttpClientRequest.bodyUrlParams({ ...parameters, ...proof.parameters })
      )
    )
    const another = key?.remember({ method: "POST", url }, answer.headers) === true
    const members = membersOf(answer)
    const again = another && members !== undefined && textOf(members, "error") === nonceWanted
    return { answer, members, secrets: secretsOf(parameters, proof), again }
  })

  /** Sent once more where the first answer only gave the nonce. */
  const exchange = (request: TokenRequest, key: Dpop.Dpop | undefined) =>
    Effect.flatMap(post(request, key), (first) => first.again ? post(request, key) : Effect.succeed(first))

  const tokens = Effect.fn("TokenEndpoint.tokens")(function*(request: TokenRequest) {
    const sentAt = yield* Clock.currentTimeMillis
    const done = yield* exchange(request, dpop)
    const { answer, members } = done
    const reason = failed(request, "token", done)
    if (reason !== undefined) return yield* AuthError.fail(reason)
    if (members === undefined) return yield* badAnswer(request.url, answer.status, `it is ${looksLike(answer)}`)
    const read = tokensOf(members, {
      scopes: request.scopes,
      clientId: request.client?.registration.clientId,
      dpop: dpop === undefined ? "off" : dpop.required ? "required" : "optional",
      sentAt
    })
    return Result.isSuccess(read) ? read.success : yield* badAnswer(request.url, answer.status, read.failure)
  })

  const form = Effect.fn("TokenEndpoint.form")(function*(request: FormRequest) {
    const done = yield* exchange(request, undefined)
    const { answer, members } = done
    const reason = failed(request, request.endpoint, done)
    if (reason !== undefined) return yield* AuthError.fail(reason)
    if (members !== undefined) return members
    // What a revocation says beside its status means nothing (RFC 7009, 2.2).
    return answer.body.trim() === "" || request.endpoint === "revocation"
      ? {}
      : yield* badAnswer(request.url, answer.status, `it is ${looksLike(answer)}`)
  })

  const json = Effect.fn("TokenEndpoint.json")(function*(url: string, body: Readonly<Record<string, unknown>>) {
    const answer = yield* outbound.send(
      HttpClientRequest.post(url).pipe(HttpClientRequest.acceptJson, HttpClientRequest.bodyJsonUnsafe(body))
    )
    return { status: answer.status, body: parseJson(answer.body), ...retryAfterOf(answer.headers) }
  })

  return { thumbprint: dpop?.thumbprint, tokens, form, json }
}

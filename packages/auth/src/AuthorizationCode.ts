/**
 * A person logs in, in a browser: the authorization code flow with PKCE (OAuth 2.1, 4.1).
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as AuthError from "./AuthError.ts"
import type { ClientIdentity, Grant, Request } from "./Grant.ts"
import { codeOf, type Departure } from "./internal/authorizationAnswer.ts"
import { authorizationUrl, pkceFault, reservedName } from "./internal/authorizationRequest.ts"
import { scopeOf } from "./internal/endpoints.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { token } from "./internal/random.ts"
import { alternatives, isCovered } from "./internal/redirectUris.ts"
import { checkRedirect, doubt, existing, register, withKnown } from "./internal/registering.ts"
import { offlineAccess } from "./internal/scopeRules.ts"
import { sha256 } from "./internal/sha256.ts"
import type * as Registration from "./Registration.ts"
import { UserAgent, type Visit } from "./UserAgent.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends Registration.Options {
  /**
   * How long a login may take from the moment the page is shown: 10 minutes by default. The user agent may have a shorter
   * time of its own.
   */
  readonly timeout?: Duration.Input | undefined
  /**
   * Logs in at authorization servers whose metadata do not say that they know PKCE, which are refused by default. For
   * servers that are known to do it all the same (ACL-14, field AUT-14).
   */
  readonly assumePkce?: boolean | undefined
  /**
   * Whether the person is asked anew, such as `consent` or `select_account`. By default the server decides, but for logins
   * with `offline_access`, which are to be consented to each time (OpenID Connect Core, 11): servers leave it out otherwise.
   */
  readonly prompt?: string | undefined
  /** More parameters for the authorization request. Those of the flow itself cannot be among them. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

const defaultTimeout: Duration.Input = "10 minutes"

/** 43 characters, of which 256 bits are random: what RFC 7636, 4.1 wants of a verifier, and enough for `state`. */
const randomness = 32

const orFail = <A>(checked: Effect.Effect<A, AuthError.Reason>): Effect.Effect<A, AuthError.AuthError> =>
  Effect.mapError(checked, (reason) => new AuthError.AuthError({ reason }))

const endpointsOf = ({ server: { issuer, metadata } }: Request) => {
  const { authorization_endpoint: authorization, response_types_supported: types, token_endpoint: tokens } = metadata
  if (authorization === undefined || tokens === undefined || types?.includes("code") === false) {
    return AuthError.fail(new AuthError.NotSupported({ issuer, what: "the authorization code flow" }))
  }
  return Effect.succeed({ authorization, tokens })
}

const promptFor = (scopes: ReadonlyArray<string> | undefined): string | undefined =>
  scopes?.includes(offlineAccess) === true ? "consent" : undefined

interface Ready {
  readonly visit: Visit
  readonly client: ClientIdentity
  readonly redirectUri: string
}

/** A registration on the spot fits the addresses it was made for, to the letter; others leave the port open. */
const fits = ({ kind, redirectUris }: ClientIdentity["registration"], uri: string): boolean =>
  kind === "dynamic"
    ? redirectUris.includes(uri)
    : redirectUris.length === 0 || redirectUris.some((registered) => isCovered(registered, uri))

/**
 * A listener, and a client that is registered with its address. A registration whose address cannot be listened at any
 * more is replaced (field AUT-15).
 */
const makeReady = Effect.fnUntraced(function*(
  request: Request,
  options: Options,
  known: ClientIdentity | undefined
): Effect.fn.Return<Ready, AuthError.AuthError, UserAgent | Scope.Scope> {
  const agent = yield* UserAgent
  const registration = known?.registration
  const anywhere = Effect.suspend(() => agent.visit(undefined))
  const visit = registration === undefined || registration.redirectUris.length === 0
    ? yield* anywhere
    : yield* agent.visit(registration.redirectUris).pipe(
      Effect.catchIf(
        ({ reason }) => registration.kind === "dynamic" && reason._tag === "CallbackUnavailable",
        () => anywhere
      )
    )
  const { redirectUri } = visit
  yield* checkRedirect(redirectUri)
  if (known !== undefined && registration !== undefined && fits(registration, redirectUri)) {
    return { visit, client: known, redirectUri }
  }
  if (registration !== undefined && registration.kind !== "dynamic") {
    const detail = `the client is not registered with ${redirectUri}`
    return yield* AuthError.fail(new AuthError.CallbackUnavailable({ address: redirectUri, detail }))
  }
  const client = yield* register(request, options, {
    grantTypes: ["authorization_code"],
    refreshes: true,
    redirects: { uri: redirectUri, alternatives: alternatives(redirectUri, agent.redirectUris) }
  })
  return { visit, client, redirectUri: client.registration.redirectUris[0] ?? redirectUri }
})

/** Whether a login ended without a word from the server: nobody waited on, or nobody came back in time. */
const isUnanswered = (cause: Cause.Cause<AuthError.AuthError>): boolean =>
  Cause.hasInterrupts(cause) ||
  cause.reasons.some((reason) => Cause.isFailReason(reason) && reason.error.reason._tag === "LoginTimedOut")

interface Login {
  readonly code: Redacted.Redacted<string>
  readonly verifier: Redacted.Redacted<string>
  readonly client: ClientIdentity
  readonly redirectUri: string
}

/** Sends somebody away and waits for what comes back. Its scope holds the listener, and ends with it. */
const logIn = Effect.fnUntraced(function*(
  request: Request,
  options: Options,
  known: ClientIdentity | undefined
): Effect.fn.Return<Login, AuthError.AuthError, UserAgent | Scope.Scope> {
  const { authorization } = yield* endpointsOf(request)
  const { client, redirectUri, visit } = yield* makeReady(request, options, known)
  const { endpoint, resource, scopes, server } = request
  const departure: Departure = { server, state: yield* token(randomness) }
  const verifier = yield* token(randomness)
  const url = yield* orFail(Effect.fromResult(authorizationUrl(authorization, resource, {
    ...options.parameters,
    prompt: options.prompt ?? options.parameters?.["prompt"] ?? promptFor(scopes),
    response_type: "code",
    client_id: client.registration.clientId,
    redirect_uri: redirectUri,
    state: departure.state,
    code_challenge: sha256(verifier),
    code_challenge_method: "S256",
    scope: scopeOf(scopes),
    dpop_jkt: endpoint.thumbprint
  })))
  const timeout = Duration.fromInputUnsafe(options.timeout ?? defaultTimeout)
  const millis = Duration.toMillis(timeout)
  const answer = yield* visit.open(url, { issuer: server.issuer, resource }).pipe(
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () => AuthError.fail(new AuthError.LoginTimedOut({ issuer: server.issuer, millis }))
    }),
    // A server that forgot the client tells the person so, and sends nobody back.
    Effect.onError((cause) => isUnanswered(cause) ? doubt(request, options) : Effect.void)
  )
  const code = yield* orFail(Effect.fromResult(codeOf(answer, departure)))
  return { code: Redacted.make(code), verifier: Redacted.make(verifier), client, redirectUri }
})

const flow = (request: Request, options: Options) =>
  Effect.fnUntraced(function*(known: ClientIdentity | undefined) {
    const { client, code, redirectUri, verifier } = yield* Effect.scoped(logIn(request, options, known))
    const { tokens } = yield* endpointsOf(request)
    return yield* request.endpoint.tokens({
      url: tokens,
      issuer: request.server.issuer,
      parameters: {
        grant_type: "authorization_code",
        code,
        redirect_uri: redirectUri,
        code_verifier: verifier,
        resource: request.resource
      },
      client,
      scopes: request.scopes
    })
  })

const check = Effect.fnUntraced(function*(request: Request, options: Options) {
  const taken = reservedName(options.parameters ?? {})
  if (taken !== undefined) {
    const detail = `the parameter ${taken} belongs to the flow and cannot be configured`
    return yield* misconfigured(detail)
  }
  yield* endpointsOf(request)
  const fault = pkceFault(request.server, options.assumePkce === true)
  if (fault !== undefined) return yield* AuthError.fail(fault)
})

/**
 * Logs in by the browser of the `UserAgent`.
 *
 * PKCE is always S256. What comes back is taken from the authorization server that somebody was sent to alone: `iss` is
 * compared before all else (RFC 9207), then `state`; the code is used once, with the verifier that only this login knows.
 * `resource` goes along both ways (RFC 8707). Refresh tokens are asked for at registration, and never counted on (ACL-29).
 *
 * **Example** (A client with a document that describes it, and one registration made by hand)
 *
 * ```ts
 * import { AuthorizationCode } from "@mcpfx/auth"
 *
 * const grant = AuthorizationCode.grant({
 *   client: { issuer: "https://login.example.com", clientId: "4711" },
 *   metadataDocument: "https://app.example.com/oauth/client.json"
 * })
 * const facts = [grant.name, grant.interactive] // => ["authorization_code", true]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const grant = (options: Options = {}): Grant<UserAgent> => ({
  name: "authorization_code",
  interactive: true,
  refreshes: true,
  obtain: Effect.fn("AuthorizationCode.obtain")(function*(request) {
    yield* check(request, options)
    return yield* withKnown(request, options, flow(request, options))
  }),
  client: (request) => existing(request, options)
})

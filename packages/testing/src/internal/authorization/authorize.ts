/** The authorization endpoint: checks what a login asks for, then has somebody consent (RFC 6749, 4.1; OAuth 2.1). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Answer, Refused } from "./answer.ts"
import { redirect } from "./answer.ts"
import { find, isLoopback, matches, mayUse } from "./clients.ts"
import { consentPage, errorPage } from "./consentPage.ts"
import type { Handler } from "./front.ts"
import type { Incoming, Parameters } from "./incoming.ts"
import type { Client, User } from "./model.ts"
import { type Asked, type State, userOf } from "./state.ts"

/** An error that the client hears of, as it came back to an address of its own. */
interface Told {
  readonly error: string
  readonly description: string
}

/** What every answer of a login ends with: `state` as it came, and the issuer (RFC 9207, AAS-03). */
export const back = (
  state: State,
  to: Pick<Asked, "redirectUri" | "state">,
  parameters: Readonly<Record<string, string | undefined>>,
  status?: number
): Answer =>
  redirect(
    to.redirectUri,
    { ...parameters, state: to.state, iss: state.options.iss === false ? undefined : state.issuer },
    status
  )

/** Gives the code of a login that was consented to. */
export const grant = (state: State, asked: Asked, user: User, status?: number): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const code = yield* state.random
    const now = yield* Clock.currentTimeMillis
    state.codes.set(code, { asked, user, expiresAt: now + state.millis("code"), family: undefined })
    return back(state, asked, { code }, status)
  })

export const denied = (state: State, asked: Asked, status?: number): Answer =>
  back(state, asked, { error: "access_denied", error_description: "the user said no" }, status)

/** The address to go back to; fails with the reason why there is none, which only the person may see. */
const redirectOf = (client: Client, uri: string | undefined): Effect.Effect<string, Refused> => {
  const no = (description: string) =>
    Effect.fail<Refused>({ status: 400, error: "invalid_request", description, headers: {} })
  const [only, ...others] = client.redirectUris
  if (uri !== undefined) {
    return client.redirectUris.some((registered) => matches(registered, uri))
      ? Effect.succeed(uri)
      : no(
        only === undefined
          ? "the client has no redirectUris, so nobody can log in with it"
          : `the redirect_uri ${uri} is not one of the client's: ${client.redirectUris.join(", ")}`
      )
  }
  return only !== undefined && others.length === 0 ? Effect.succeed(only) : no("there is no redirect_uri")
}

const isResource = (value: string): boolean => URL.canParse(value) && !value.includes("#")

/** Scopes and resources that may be asked for (RFC 6749, 3.3; RFC 8707, 2). */
export const checkTarget = (
  { options }: State,
  client: Client,
  scopes: ReadonlyArray<string>,
  resources: ReadonlyArray<string>
): Told | undefined => {
  const known = (scope: string) =>
    (options.scopes === undefined || options.scopes.includes(scope) || scope === "openid" ||
      scope === "offline_access") &&
    (client.scopes === undefined || client.scopes.includes(scope))
  const scope = scopes.find((scope) => !known(scope))
  if (scope !== undefined) return { error: "invalid_scope", description: `there is no scope ${scope} for this client` }
  const target = resources.find((resource) =>
    !isResource(resource) || (options.resources !== undefined && !options.resources.includes(resource))
  )
  return target === undefined
    ? undefined
    : { error: "invalid_target", description: "the resource is not one of this server" }
}

const challengePattern = /^[A-Za-z0-9_-]{43}$/

const fault = (state: State, client: Client, parameters: Parameters): Told | undefined => {
  const invalid = (description: string): Told => ({ error: "invalid_request", description })
  const repeated = parameters.repeated
  if (repeated !== undefined) return invalid(`${repeated} is there more than once`)
  if (parameters.get("response_type") !== "code") {
    return { error: "unsupported_response_type", description: "response_type has to be code" }
  }
  if (!mayUse(client, "authorization_code")) {
    return { error: "unauthorized_client", description: "the client may not use codes" }
  }
  const challenge = parameters.get("code_challenge")
  if (challenge === undefined) return invalid("there is no code_challenge")
  if (parameters.get("code_challenge_method") !== "S256") return invalid("code_challenge_method has to be S256")
  if (!challengePattern.test(challenge)) return invalid("the code_challenge is none of S256")
  return checkTarget(state, client, parameters.scopes, parameters.all("resource"))
}

const ask = (state: State, asked: Asked, incoming: Incoming): Effect.Effect<Answer> =>
  Effect.gen(function*() {
    const user = userOf(state, state.chosen ?? incoming.parameters.get("login_hint")) ?? userOf(state, undefined)
    if (state.consent === "deny" || user === undefined) return denied(state, asked)
    if (state.consent === "automatic") return yield* grant(state, asked, user)
    if (incoming.parameters.get("prompt") === "none") {
      return back(state, asked, { error: "consent_required", error_description: "somebody has to be asked" })
    }
    return yield* consentPage(state, asked, incoming.headers["cookie"])
  })

export const authorize = (state: State): Handler => (incoming) =>
  Effect.gen(function*() {
    const { parameters } = incoming
    const client = yield* find(state, parameters.get("client_id"))
    const named = parameters.get("redirect_uri")
    const redirectUri = yield* redirectOf(client, named)
    const to = { redirectUri, state: parameters.get("state") }
    const told = fault(state, client, parameters)
    if (told !== undefined) return back(state, to, { error: told.error, error_description: told.description })
    const asked: Asked = {
      ...to,
      client,
      redirectNamed: named !== undefined,
      challenge: parameters.get("code_challenge") ?? "",
      scopes: parameters.scopes,
      resources: parameters.all("resource"),
      nonce: parameters.get("nonce"),
      jkt: parameters.get("dpop_jkt")
    }
    return yield* ask(state, asked, incoming)
  }).pipe(
    // Without a client and an address of its own, nobody is sent anywhere: that would be an open redirect.
    Effect.catch(({ description, status }) => Effect.succeed(errorPage(description, status === 401 ? 400 : status)))
  )

/** Whether a redirect address may be registered; web clients may not have those of one machine (ACL-12). */
export const mayRegister = (uri: string, native: boolean): boolean => {
  const url = URL.parse(uri)
  if (url === null || uri.includes("#")) return false
  if (url.protocol === "https:") return true
  if (url.protocol === "http:") return native && isLoopback(uri)
  return native && url.protocol.includes(".")
}

/** Pure: what is asked of a registration endpoint, and what it answers (RFC 7591). */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as AuthError from "../AuthError.ts"
import type { AuthorizationServer } from "../AuthorizationServer.ts"
import type * as Credentials from "../Credentials.ts"
import type { Dynamic } from "../Registration.ts"
import type { JsonAnswer } from "../TokenEndpoint.ts"
import { methodFor } from "./clientAuthentication.ts"
import { isLater } from "./later.ts"
import { isMembers, member, type Members, numberOf, textOf } from "./members.ts"
import { applicationType, isSameButPort } from "./redirectUris.ts"
import { bareUrl, tidy } from "./serverText.ts"

/** What a client is registered for. */
export interface Purpose {
  readonly grantTypes: ReadonlyArray<string>
  /** Whether refresh tokens are of use. */
  readonly refreshes: boolean
  readonly responseTypes: ReadonlyArray<string>
  readonly redirectUris: ReadonlyArray<string>
}

/** A public client where that is possible; a secret for one on the machine of a person would be none. */
const askedMethod = ({ metadata }: AuthorizationServer): Credentials.AuthenticationMethod => {
  const methods = metadata.token_endpoint_auth_methods_supported
  return methods === undefined || methods.includes("none")
    ? "none"
    : methodFor({ secret: true, key: false }, { methods })
}

/** Refresh tokens are asked for, except where the server says it has none (ACL-29). */
const grantTypesOf = (
  { metadata }: AuthorizationServer,
  { grantTypes, refreshes }: Pick<Purpose, "grantTypes" | "refreshes">
): ReadonlyArray<string> =>
  refreshes && metadata.grant_types_supported?.includes("refresh_token") !== false
    ? [...grantTypes, "refresh_token"]
    : grantTypes

/** The document that is posted. */
export const requestBody = (
  server: AuthorizationServer,
  options: Dynamic,
  { redirectUris, responseTypes, ...purpose }: Purpose,
  type: "native" | "web" = options.applicationType ?? applicationType(redirectUris)
): Members => {
  const texts = {
    client_name: options.clientName ?? "MCP client",
    client_uri: options.clientUri,
    logo_uri: options.logoUri,
    tos_uri: options.termsUri,
    policy_uri: options.policyUri,
    contacts: options.contacts,
    scope: options.scopes?.join(" "),
    software_id: options.softwareId,
    software_version: options.softwareVersion
  }
  return {
    ...Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined)),
    ...(redirectUris.length === 0 ? {} : { redirect_uris: redirectUris }),
    grant_types: grantTypesOf(server, purpose),
    response_types: responseTypes,
    token_endpoint_auth_method: askedMethod(server),
    application_type: type
  }
}

type Answered = Result.Result<Credentials.Registration, AuthError.Reason>

const known: ReadonlyMap<string, Credentials.AuthenticationMethod> = new Map([
  ["none", "none"],
  ["client_secret_basic", "client_secret_basic"],
  ["client_secret_post", "client_secret_post"]
])

const refused = (issuer: string, status: number, body: Members | undefined): AuthError.Reason => {
  const error = body === undefined ? undefined : tidy(member(body, "error"), [], 64)
  const description = body === undefined ? undefined : tidy(member(body, "error_description"))
  return new AuthError.RegistrationRefused({
    issuer,
    status,
    ...(error === undefined ? {} : { error }),
    ...(description === undefined ? {} : { description })
  })
}

/** The method that the server chose; without a word, what fits the secret that it gave or did not give. */
const methodOf = (
  { issuer, metadata }: AuthorizationServer,
  body: Members,
  secret: boolean
): Result.Result<Credentials.AuthenticationMethod, AuthError.Reason> => {
  const methods = metadata.token_endpoint_auth_methods_supported
  const said = textOf(body, "token_endpoint_auth_method")
  if (said === undefined) return Result.succeed(methodFor({ secret, key: false }, { methods }))
  const method = known.get(said)
  if (method === undefined) {
    return Result.fail(new AuthError.NotSupported({ issuer, what: "clients that prove themselves as this one can" }))
  }
  return Result.succeed(secret ? method : "none")
}

/** The server may name the addresses otherwise, but they have to lead to the same place. */
const isElsewhere = (body: Members, redirectUris: ReadonlyArray<string>): boolean => {
  const registered = member(body, "redirect_uris")
  if (!Array.isArray(registered) || registered.length === 0) return false
  return !redirectUris.every((uri) =>
    registered.some((other) => typeof other === "string" && isSameButPort(uri, other))
  )
}

/** Whether the server refused the addresses, so that others may be worth a try (ACL-12). */
export const isRedirectRefusal = (reason: AuthError.Reason): boolean =>
  reason._tag === "RegistrationRefused" &&
  (reason.error === "invalid_redirect_uri" ||
    (reason.error === "invalid_client_metadata" && /redirect|application_type/i.test(reason.description ?? "")))

/** 0 is what a server writes for a secret without an end. */
const secretEnd = (body: Members): { readonly secretExpiresAt?: number } => {
  const millis = (numberOf(body, "client_secret_expires_at") ?? 0) * 1000
  return Number.isFinite(millis) && millis > 0 ? { secretExpiresAt: millis } : {}
}

/** The registration, or why there is none. */
export const registrationOf = (
  server: AuthorizationServer,
  url: string,
  { body, retryAfter, status }: JsonAnswer,
  redirectUris: ReadonlyArray<string>
): Answered => {
  const { issuer } = server
  if (isLater(status)) {
    const later = retryAfter === undefined ? {} : { retryAfter }
    const detail = `it answers with status ${status}`
    return Result.fail(new AuthError.Unavailable({ url: bareUrl(url), status, ...later, detail }))
  }
  const members = isMembers(body) ? body : undefined
  const good = status === 200 || status === 201
  if (!good || members === undefined || textOf(members, "error") !== undefined) {
    return Result.fail(refused(issuer, status, members))
  }
  const clientId = textOf(members, "client_id")
  if (clientId === undefined) {
    return Result.fail(new AuthError.BadAnswer({ url: bareUrl(url), status, detail: "there is no client id in it" }))
  }
  if (isElsewhere(members, redirectUris)) {
    const description = "it registered other redirect URIs than those it was asked for"
    return Result.fail(new AuthError.RegistrationRefused({ issuer, status, description }))
  }
  const secret = textOf(members, "client_secret")
  return Result.map(methodOf(server, members, secret !== undefined), (authentication) => ({
    kind: "dynamic",
    clientId,
    ...(secret === undefined ? {} : { clientSecret: Redacted.make(secret), ...secretEnd(members) }),
    authentication,
    redirectUris
  }))
}

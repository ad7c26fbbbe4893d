/** Pure: the address that somebody is sent to, to log in (RFC 6749, 4.1.1; RFC 7636; RFC 8707). */
import * as Result from "effect/Result"
import * as AuthError from "../AuthError.ts"
import type { AuthorizationServer } from "../AuthorizationServer.ts"
import { isLocal, pageFault } from "./secureUrl.ts"
import { bareUrl } from "./serverText.ts"

/** Parameters that belong to the flow: an option cannot say otherwise. */
const reserved: ReadonlySet<string> = new Set([
  "response_type",
  "response_mode",
  "client_id",
  "redirect_uri",
  "state",
  "scope",
  "resource",
  "code_challenge",
  "code_challenge_method",
  "dpop_jkt",
  "request",
  "request_uri",
  "code",
  "iss",
  "error"
])

export const reservedName = (parameters: Readonly<Record<string, string>>): string | undefined =>
  Object.keys(parameters).find((name) => reserved.has(name))

const why = "pkce"

/**
 * PKCE is used always; a server that does not say it knows S256 is refused (ACL-14), but for one that has no say because
 * the 2025-03-26 revision knows no such field, or by the word of who configured the client (field AUT-14).
 */
export const pkceFault = (
  { found, issuer, metadata }: AuthorizationServer,
  assumed: boolean
): AuthError.InsecureServer | undefined => {
  const methods = metadata.code_challenge_methods_supported
  if (assumed || methods?.includes("S256") === true) return undefined
  if (methods === undefined && found !== "resource") return undefined
  const detail = methods === undefined
    ? "it does not say that it knows PKCE"
    : "it does not say that it knows PKCE with S256"
  return new AuthError.InsecureServer({ url: bareUrl(issuer), why, detail })
}

/**
 * The address of the page. What the endpoint has in its query stays (RFC 6749, 3.1), unless the flow says otherwise;
 * parameters without a value are left out.
 */
export const authorizationUrl = (
  endpoint: string,
  resource: string,
  parameters: Readonly<Record<string, string | undefined>>
): Result.Result<URL, AuthError.Reason> => {
  const url = URL.parse(endpoint)
  if (url === null) {
    return Result.fail(new AuthError.BadAnswer({ url: "", detail: "its authorization endpoint is no URL" }))
  }
  const detail = pageFault(url, isLocal(resource))
  if (detail !== undefined) {
    return Result.fail(new AuthError.InsecureServer({ url: bareUrl(endpoint), why: "scheme", detail }))
  }
  url.hash = ""
  for (const [name, value] of Object.entries({ ...parameters, resource })) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  return Result.succeed(url)
}

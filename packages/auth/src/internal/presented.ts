/** What a request presents to get in: read from its one header, and nowhere else (ACL-23). */
import type * as Headers from "effect/http/Headers"

export type Presented =
  /** Nothing, or what is not for this server, such as another scheme. */
  | { readonly _tag: "Nothing" }
  /** Something that cannot be read as a token. */
  | { readonly _tag: "Malformed"; readonly detail: string }
  /** More than one, so nobody can say which one is meant (RFC 6750, 3.1). */
  | { readonly _tag: "Several" }
  | { readonly _tag: "Token"; readonly scheme: "bearer" | "dpop"; readonly token: string }

const nothing: Presented = { _tag: "Nothing" }
const several: Presented = { _tag: "Several" }
const malformed = (detail: string): Presented => ({ _tag: "Malformed", detail })

const scheme = /^(bearer|dpop)(?: +|$)/i
const token68 = /^[0-9A-Za-z\-._~+/]+=*$/

/** Whether a text can be sent as a token (RFC 6750, 2.1). */
export const isToken = (text: string): boolean => token68.test(text)

const inQuery = /[?&]access_token=/

const isName = (name: unknown): boolean =>
  typeof name === "string" && name.length === 13 && name.toLowerCase() === "authorization"

/**
 * Whether a request of Node has the header more than once: Node gives the first and drops the others, while a proxy in front
 * may have looked at another.
 */
export const isRepeated = (source: object): boolean => {
  const raw: unknown = "rawHeaders" in source ? source.rawHeaders : undefined
  if (!Array.isArray(raw)) return false
  let found = 0
  for (let index = 0; index < raw.length; index += 2) if (isName(raw[index])) found++
  return found > 1
}

export const read = (headers: Headers.Headers, url: string, maxLength: number): Presented => {
  const header = headers["authorization"]
  if (header === undefined) return nothing
  const value = header.trim()
  const found = scheme.exec(value)
  if (found === null) return nothing
  if (value.length > maxLength) return malformed("the token is too long")
  const token = value.slice(found[0].length)
  if (token === "") return malformed("there is no token")
  // Headers of the same name come joined.
  if (token.includes(",") || inQuery.test(url)) return several
  if (!isToken(token)) return malformed("the token has characters that none has")
  return { _tag: "Token", scheme: found[0].trimEnd().toLowerCase() === "dpop" ? "dpop" : "bearer", token }
}

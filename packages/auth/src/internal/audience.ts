/**
 * Whether a token is for this server (ARS-07): its audience and the names of the server, compared to the letter but for what
 * cannot make another server of a URL.
 *
 * - the case of scheme and host, and the default port (RFC 3986, 6.2.2.1 and 6.2.3), which the protocol asks for
 * - one slash at the end: an endpoint answers at both spellings, so there is no other server behind the second one, and
 *   clients that write URLs in the way of browsers ask for the second (field AUT-01)
 *
 * Percent-encoding and dots stay as they are, and names that are no http URLs are compared as they stand.
 */
import { quotedAll } from "./quoted.ts"

const httpUrl = /^(https?):\/\/([^/?#@\\\s]+)([^?#\\\s]*)(\?[^#\\\s]*)?$/i
const defaultPort: Readonly<Record<string, RegExp>> = { http: /:80$/, https: /:443$/ }

export const canonical = (name: string): string => {
  const match = httpUrl.exec(name)
  if (match === null) return name
  const [, scheme = "", authority = "", path = "", query = ""] = match
  const lower = scheme.toLowerCase()
  const host = authority.toLowerCase().replace(defaultPort[lower] ?? "", "")
  return `${lower}://${host}${path.endsWith("/") ? path.slice(0, -1) : path}${query}`
}

const sets = new WeakMap<ReadonlyArray<string>, ReadonlySet<string>>()

/** Names are given as the same array over and over. */
const setOf = (names: ReadonlyArray<string>): ReadonlySet<string> => {
  const known = sets.get(names)
  if (known !== undefined) return known
  const set = new Set(names.map(canonical))
  sets.set(names, set)
  return set
}

/** What a token says about its audience: a text or an array of them (RFC 7519, 4.1.3); anything else is none. */
export const audienceOf = (claim: unknown): ReadonlyArray<string> => {
  if (typeof claim === "string") return [claim]
  return Array.isArray(claim) ? claim.filter((name) => typeof name === "string") : []
}

/** Whether one of the audiences of a token is one of the server's names. */
export const isFor = (audience: ReadonlyArray<string>, names: ReadonlyArray<string>): boolean => {
  const set = setOf(names)
  return audience.some((name) => set.has(canonical(name)))
}

/** What a token is for that is not for this server, and what it would have to be for. */
export const wrongAudience = (audience: ReadonlyArray<string>, names: ReadonlyArray<string>): string =>
  `it is for ${quotedAll(audience)}, and this server is ${quotedAll(names)}`

/** What RFC 3986 asks of every URI, no matter the scheme. */
import { decodeOnce } from "./percent.ts"

const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:/
const outside = /[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]/
const brokenTriplet = /%(?![0-9A-Fa-f]{2})/

/** One clause on what is wrong, or `undefined`. */
export const uriFault = (uri: string): string | undefined => {
  const head = scheme.exec(uri)
  if (head === null) return "it has no scheme"
  if (head[0].length === uri.length) return "nothing follows its scheme"
  if (outside.test(uri)) return "a character in it must be percent-encoded"
  if (brokenTriplet.test(uri)) return "a \"%\" in it is not followed by two hexadecimal digits"
  return decodeOnce(uri) === undefined ? "its percent-encoded bytes are not UTF-8" : undefined
}

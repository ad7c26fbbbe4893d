/** Percent-encoding of RFC 3986, as RFC 6570 uses it. */
import * as Result from "effect/Result"

/** Characters that `encodeURIComponent` leaves alone although RFC 3986 reserves them. */
const leftReserved = /[!'()*]/g
const triplet = /%[0-9A-Fa-f]{2}/g
const loneSurrogate = /\p{Surrogate}/u

const hex = (char: string): string => `%${char.charCodeAt(0).toString(16).toUpperCase()}`

/** Whether a string can be written in UTF-8 at all. */
export const isEncodable = (text: string): boolean => !loneSurrogate.test(text)

/** Everything but letters, digits, `-`, `.`, `_` and `~` becomes a triplet. */
export const encodeUnreserved = (text: string): string => encodeURIComponent(text).replace(leftReserved, hex)

const encodeOutsideTriplets = (text: string): string => encodeURI(text).replaceAll("%5B", "[").replaceAll("%5D", "]")

/** Like {@link encodeUnreserved}, but reserved characters and whole triplets stay as they are. */
export const encodeReserved = (text: string): string => {
  let out = ""
  let from = 0
  for (const match of text.matchAll(triplet)) {
    out += encodeOutsideTriplets(text.slice(from, match.index)) + match[0]
    from = match.index + match[0].length
  }
  return out + encodeOutsideTriplets(text.slice(from))
}

/** Triplets with upper-case digits; the length stays. */
export const normalizeTriplets = (text: string): string =>
  text.includes("%") ? text.replace(triplet, (found) => found.toUpperCase()) : text

/** Decodes once; `undefined` for broken triplets and for bytes that are not UTF-8. */
export const decodeOnce = (text: string): string | undefined =>
  text.includes("%") ? Result.getOrUndefined(Result.try(() => decodeURIComponent(text))) : text

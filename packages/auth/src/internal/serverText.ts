/** What a server writes about an error, fit to be shown: short, printable, and without what it must not repeat. */

/** How much of a text is shown, and how much of it is looked at. */
const shown = 200
const looked = 600

/** Runs of a secret at least this long are cut out, so that a secret which was cut short does not slip through. */
const run = 8

/** Shorter than this is no secret, and cutting it would leave nothing of the text. */
const shortest = 4

const unprintable = /[\p{C}\p{Zl}\p{Zp}]+/gu
const lonely = /[\uD800-\uDBFF]$/

/** Form encoding (RFC 6749, appendix B): a space is a plus. */
export const formEncode = (text: string): string => new URLSearchParams([["", text]]).toString().slice(1)

/** The ways in which a server may write what it was sent. */
const forms = (secrets: ReadonlyArray<string>): Array<string> => [
  ...new Set(secrets.flatMap((secret) => secret.length < shortest ? [] : [secret, formEncode(secret)]))
]

/** How many characters from `at` on are a part of a secret. */
const secretAt = (text: string, at: number, secrets: ReadonlyArray<string>): number => {
  let longest = 0
  for (const secret of secrets) {
    let length = Math.min(run, secret.length)
    if (at + length > text.length || !secret.includes(text.slice(at, at + length))) continue
    while (at + length < text.length && secret.includes(text.slice(at, at + length + 1))) length++
    longest = Math.max(longest, length)
  }
  return longest
}

const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string => {
  let kept = ""
  for (let at = 0; at < text.length;) {
    const length = secretAt(text, at, secrets)
    kept += length === 0 ? text.charAt(at) : "…"
    at += Math.max(length, 1)
  }
  return kept
}

/** The text, or `undefined` where there is none worth showing. */
export const tidy = (text: unknown, secrets: ReadonlyArray<string> = [], most = shown): string | undefined => {
  if (typeof text !== "string") return undefined
  const printable = text.slice(0, looked).replace(unprintable, " ").trim()
  const clean = withoutSecrets(printable, forms(secrets)).slice(0, most).replace(lonely, "").trim()
  return clean === "" ? undefined : clean
}

/** The longest sentence about an error. */
const sentence = 2000

/** A sentence with words of servers in it, in one line and of bounded length. */
export const oneLine = (text: string): string => text.slice(0, sentence).replace(unprintable, " ").replace(lonely, "")

/** The longest address. */
const address = 500

/** An address as errors show it: without query, fragment and user. */
export const bareUrl = (url: string): string => {
  const parsed = URL.parse(url)
  return parsed === null
    ? "an address that is none"
    : `${parsed.protocol}//${parsed.host}${parsed.pathname}`.slice(0, address)
}

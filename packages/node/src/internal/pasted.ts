/** Reads what a person copied out of the address bar of a browser that could not come back by itself. Pure. */
import * as Result from "effect/Result"
import { timingSafeEqual } from "node:crypto"
import { digest } from "./callbackListener.ts"

/** Why it is not the answer, in words for the person, and as the failure it comes to when nothing better follows. */
export interface NotTheAnswer {
  readonly parameter: "state" | "code"
  readonly fault: "missing" | "wrong" | "repeated"
  readonly hint: string
}

const longest = 16_384

const not = (parameter: "state" | "code", fault: NotTheAnswer["fault"], hint: string) =>
  Result.fail<NotTheAnswer>({ parameter, fault, hint })

/** Whole addresses, and those that lost their beginning on the way. */
const complete = (text: string, redirect: URL): string => {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  if (text.startsWith(redirect.host)) return `${redirect.protocol}//${text}`
  return `${redirect.origin}${redirect.pathname}?${text.slice(text.indexOf("?") + 1)}`
}

/**
 * The address, if it is where this login was to come back to, with its `state`. A bare code says neither which login nor
 * which server it is of, and is not taken: whoever can have a person paste one could log them in as somebody else.
 */
export const read = (pasted: string, redirectUri: string, state: string): Result.Result<URL, NotTheAnswer> => {
  const text = pasted.trim().replace(/^["'<]+|["'>]+$/g, "")
  if (text === "") return not("code", "missing", "Nothing was pasted.")
  if (text.length > longest) return not("code", "wrong", "That is too long for an address.")
  if (!text.includes("=")) {
    return not("state", "missing", "The whole address is needed, with all that follows the question mark.")
  }
  const redirect = new URL(redirectUri)
  const url = Result.getOrUndefined(Result.try(() => new URL(complete(text, redirect))))
  if (url === undefined || url.origin !== redirect.origin || url.pathname !== redirect.pathname) {
    return not("code", "missing", `The address to paste begins with ${redirect.origin}${redirect.pathname}`)
  }
  const [given, ...more] = url.searchParams.getAll("state")
  if (given === undefined) return not("state", "missing", "The address has no state: it was not copied whole.")
  if (more.length > 0) return not("state", "repeated", "The address has more than one state.")
  if (!timingSafeEqual(digest(given), digest(state))) {
    return not("state", "wrong", "The address is that of another login.")
  }
  return Result.succeed(url)
}

/** Answers that say to try again later. */
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import { tidy } from "./serverText.ts"

/** Whether a status says so: what the client has stays good. */
export const isLater = (status: number): boolean => status === 408 || status === 425 || status === 429 || status >= 500

/** The header `Retry-After` as errors keep it: what the server wrote. */
export const retryAfterOf = (headers: Headers.Headers): { readonly retryAfter?: string } => {
  const text = tidy(Option.getOrUndefined(Headers.get(headers, "retry-after")), [], 64)
  return text === undefined ? {} : { retryAfter: text }
}

const seconds = /^\d{1,9}$/

/** How many seconds it asks for; 0 for a date, which clocks disagree on. */
export const secondsOf = (retryAfter: string | undefined): number =>
  retryAfter !== undefined && seconds.test(retryAfter) ? Number(retryAfter) : 0

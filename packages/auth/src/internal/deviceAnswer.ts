/** Pure: what a device authorization endpoint answers (RFC 8628, 3.2), and when to ask again (RFC 8628, 3.5). */
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type * as AuthError from "../AuthError.ts"
import { secondsOf } from "./later.ts"
import { member, type Members, numberOf, textOf } from "./members.ts"
import { isLocal, pageFault } from "./secureUrl.ts"
import { tidy } from "./serverText.ts"

export interface Device {
  readonly deviceCode: Redacted.Redacted<string>
  readonly userCode: string
  readonly verificationUri: string
  readonly verificationUriComplete: string | undefined
  /** In seconds. */
  readonly expiresIn: number
  readonly interval: number
}

/** In seconds: what holds where the server does not say, and what is the least and the most that it may say. */
const life = { usual: 600, most: 3600 }
const pause = { usual: 5, least: 1, most: 60 }

const longestUserCode = 64

/** Shown to a person who opens it: nothing but a page. */
const pageOf = (uri: string | undefined, local: boolean): string | undefined => {
  const url = uri === undefined ? null : URL.parse(uri)
  return url === null || pageFault(url, local) !== undefined ? undefined : url.href
}

export const deviceOf = (answer: Members, resource: string): Result.Result<Device, string> => {
  const deviceCode = textOf(answer, "device_code")
  const userCode = tidy(member(answer, "user_code"), [], longestUserCode)
  const local = isLocal(resource)
  const verificationUri = pageOf(textOf(answer, "verification_uri") ?? textOf(answer, "verification_url"), local)
  if (deviceCode === undefined || userCode === undefined) return Result.fail("there is no code in it")
  if (verificationUri === undefined) return Result.fail("there is no https address of a page in it")
  const expiresIn = numberOf(answer, "expires_in") ?? 0
  const interval = numberOf(answer, "interval") ?? 0
  return Result.succeed({
    deviceCode: Redacted.make(deviceCode),
    userCode,
    verificationUri,
    verificationUriComplete: pageOf(textOf(answer, "verification_uri_complete"), local),
    expiresIn: expiresIn > 0 ? Math.min(expiresIn, life.most) : life.usual,
    interval: interval > 0 ? Math.min(Math.max(interval, pause.least), pause.most) : pause.usual
  })
}

/**
 * How many seconds to wait after an answer that is none yet; `undefined` after one that ends the login. A server that is not
 * there is asked half as often each time.
 */
export const nextInterval = (reason: AuthError.Reason, interval: number): number | undefined => {
  switch (reason._tag) {
    case "OAuthRefused":
      if (reason.error === "authorization_pending") return interval
      return reason.error === "slow_down" ? interval + 5 : undefined
    case "Unavailable": {
      const said = secondsOf(reason.retryAfter)
      return Math.min(Math.max(interval * 2, said), Math.max(pause.most, interval))
    }
    default:
      return undefined
  }
}

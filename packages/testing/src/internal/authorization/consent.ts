/** Where the consent page posts to: the answer of the browser that was shown it, once. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { denied, grant } from "./authorize.ts"
import { equal } from "./clientAuthentication.ts"
import { cookieName, cookieOf, errorPage, noUser } from "./consentPage.ts"
import type { Handler } from "./front.ts"
import { type State, userOf } from "./state.ts"

export const consent = (state: State): Handler => ({ headers, parameters }) =>
  Effect.gen(function*() {
    const csrf = parameters.get("csrf") ?? ""
    const pending = state.consents.get(csrf)
    const now = yield* Clock.currentTimeMillis
    if (pending === undefined || pending.expiresAt <= now) return errorPage("This page is no longer good.", 400)
    const origin = headers["origin"]
    const foreign = origin !== undefined && origin !== new URL(state.issuer).origin
    const browser = cookieOf(headers["cookie"], cookieName(state))
    // The page stays good for the browser it was shown in: a stranger's attempt must not end somebody's login.
    if (foreign || browser === undefined || !equal(browser, pending.browser)) {
      return errorPage("This answer comes from another page.", 403)
    }
    const allowed = parameters.get("decision") === "allow"
    const user = userOf(state, parameters.get("user"))
    if (allowed && user === undefined) return errorPage(noUser(parameters.get("user")), 400)
    state.consents.delete(csrf)
    return allowed && user !== undefined
      ? yield* grant(state, pending.asked, user, 303)
      : denied(state, pending.asked, 303)
  })

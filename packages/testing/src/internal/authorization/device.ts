/** Logins for machines without a browser (RFC 8628): where the device asks, and where a person answers. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { json, refuse } from "./answer.ts"
import { checkTarget } from "./authorize.ts"
import { authenticate } from "./clientAuthentication.ts"
import { mayUse } from "./clients.ts"
import { decisionFields, errorPage, escape, noUser, page } from "./consentPage.ts"
import type { Handler } from "./front.ts"
import type { Incoming } from "./incoming.ts"
import { seconds } from "./issue.ts"
import { deviceCode } from "./metadata.ts"
import type { User } from "./model.ts"
import { at } from "./paths.ts"
import { type Device, type State, userOf } from "./state.ts"

/** Letters that make no words and are not taken for one another (RFC 8628, 6.1). */
const letters = "BCDFGHJKLMNPQRSTVWXZ"

const userCodeOf = (random: string): string => {
  const code = [...random].slice(0, 8).map((character) => letters[character.charCodeAt(0) % letters.length]).join("")
  return `${code.slice(0, 4)}-${code.slice(4)}`
}

const normal = (userCode: string): string => userCode.toUpperCase().replace(/[^A-Z]/g, "")

export const isWaiting = ({ decision, expiresAt }: Device, now: number): boolean =>
  decision === undefined && now < expiresAt

/** The device that shows a code, as long as nobody has answered. */
export const waiting = (state: State, userCode: string, now: number): Device | undefined => {
  for (const device of state.devices.values()) {
    if (normal(device.userCode) !== normal(userCode)) continue
    return isWaiting(device, now) ? device : undefined
  }
  return undefined
}

export const decide = (device: Device, decision: User | "denied"): void => {
  device.decision = decision === "denied" ? decision : { user: decision }
}

/** The device authorization endpoint. */
export const device = (state: State): Handler => (incoming) =>
  Effect.gen(function*() {
    const { parameters } = incoming
    const client = yield* authenticate(state, incoming)
    if (!mayUse(client, deviceCode)) return yield* refuse("unauthorized_client", "the client may not use this grant")
    const [scopes, resources] = [parameters.scopes, parameters.all("resource")]
    const told = checkTarget(state, client, scopes, resources)
    if (told !== undefined) return yield* refuse(told.error, told.description)
    const now = yield* Clock.currentTimeMillis
    const [code, userCode] = [yield* state.random, userCodeOf(yield* state.random)]
    const interval = Math.ceil(
      Duration.toSeconds(Duration.fromInputUnsafe(state.options.deviceInterval ?? "5 seconds"))
    )
    state.devices.set(code, {
      deviceCode: code,
      userCode,
      client,
      scopes,
      resources,
      expiresAt: now + state.millis("deviceCode"),
      interval: interval * 1000,
      askedAt: undefined,
      decision: undefined
    })
    const uri = at(state, "verification")
    return json({
      device_code: code,
      user_code: userCode,
      verification_uri: uri,
      verification_uri_complete: `${uri}?user_code=${userCode}`,
      expires_in: seconds(state.millis("deviceCode")),
      interval
    })
  })

const form = (state: State, userCode: string) =>
  page(
    "Connect a device",
    `<form method="post" action="${escape(at(state, "verification"))}">
<p><label>Code on the device <input name="user_code" autocomplete="off" value="${escape(userCode)}"></label></p>
${decisionFields(state)}
</form>`
  )

/** A form of this site only: the code is what an attacker has, so it is no proof of where the form was shown. */
const isOwn = ({ headers }: Incoming, state: State): boolean => {
  const [origin, site] = [headers["origin"], headers["sec-fetch-site"]]
  return (origin === undefined || origin === new URL(state.issuer).origin) &&
    (site === undefined || site === "same-origin" || site === "none")
}

/** The page where a person enters the code. */
export const verification = (state: State): Handler => (incoming) =>
  Effect.gen(function*() {
    const { method, parameters } = incoming
    const userCode = parameters.get("user_code") ?? ""
    if (method !== "POST") return form(state, userCode)
    if (!isOwn(incoming, state)) return errorPage("This answer comes from another page.", 403)
    const found = waiting(state, userCode, yield* Clock.currentTimeMillis)
    if (found === undefined) return errorPage("No device shows this code.", 400)
    const user = userOf(state, parameters.get("user"))
    const allowed = parameters.get("decision") === "allow"
    if (allowed && user === undefined) return errorPage(noUser(parameters.get("user")), 400)
    decide(found, allowed && user !== undefined ? user : "denied")
    return page(allowed ? "Device connected" : "Device refused", "<p>You can close this page.</p>")
  })

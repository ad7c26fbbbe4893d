/** What a device asks until somebody has answered (RFC 8628, 3.4 and 3.5). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Answer, refuse, type Refused } from "./answer.ts"
import type { GrantRequest } from "./grantRequest.ts"
import { issue } from "./issue.ts"

/** What a device that asks too often has to wait longer from then on, in milliseconds. */
const slower = 5_000

export const deviceGrant = ({ client, jkt, parameters, state }: GrantRequest): Effect.Effect<Answer, Refused> =>
  Effect.gen(function*() {
    const device = state.devices.get(parameters.get("device_code") ?? "")
    const now = yield* Clock.currentTimeMillis
    if (device === undefined || device.client.clientId !== client.clientId || device.decision === "used") {
      return yield* refuse("invalid_grant", "the device code is not known")
    }
    if (device.expiresAt <= now) return yield* refuse("expired_token", "the device code has expired")
    if (device.decision === "denied") return yield* refuse("access_denied", "the user said no")
    if (device.decision === undefined) {
      const early = device.askedAt !== undefined && now < device.askedAt + device.interval
      device.askedAt = now
      if (!early) return yield* refuse("authorization_pending", "nobody has answered yet")
      device.interval += slower
      return yield* refuse("slow_down", `ask every ${device.interval / 1000} seconds at most`)
    }
    const { user } = device.decision
    device.decision = "used"
    const { resources, scopes } = device
    return yield* issue(state, { client, user, scopes, resources, jkt, refreshable: true })
  })

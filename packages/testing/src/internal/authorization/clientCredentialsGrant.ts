/** Tokens for a client that acts for itself (RFC 6749, 4.4; OCC-01). */
import * as Effect from "effect/Effect"
import { type Answer, refuse, type Refused } from "./answer.ts"
import { checkTarget } from "./authorize.ts"
import type { GrantRequest } from "./grantRequest.ts"
import { issue } from "./issue.ts"

export const clientCredentialsGrant = (
  { client, jkt, parameters, state }: GrantRequest
): Effect.Effect<Answer, Refused> =>
  Effect.gen(function*() {
    if (client.authentication.includes("none")) {
      return yield* refuse("unauthorized_client", "a client without credentials cannot use them")
    }
    const [scopes, resources] = [parameters.scopes, parameters.all("resource")]
    const told = checkTarget(state, client, scopes, resources)
    if (told !== undefined) return yield* refuse(told.error, told.description)
    return yield* issue(state, { client, user: undefined, scopes, resources, jkt, refreshable: false })
  })

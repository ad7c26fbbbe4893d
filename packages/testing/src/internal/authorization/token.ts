/** The token endpoint: which grant it is, whose, and with which proof. */
import * as Effect from "effect/Effect"
import { type Answer, refuse, type Refused } from "./answer.ts"
import { authenticate } from "./clientAuthentication.ts"
import { clientCredentialsGrant } from "./clientCredentialsGrant.ts"
import { mayUse } from "./clients.ts"
import { codeGrant } from "./codeGrant.ts"
import { deviceGrant } from "./deviceGrant.ts"
import { proofOf } from "./dpop.ts"
import { exchangeGrant } from "./exchangeGrant.ts"
import type { Handler } from "./front.ts"
import type { GrantRequest } from "./grantRequest.ts"
import { jwtBearerGrant, workloadClient } from "./jwtBearerGrant.ts"
import { deviceCode, jwtBearer, tokenExchange } from "./metadata.ts"
import { refreshGrant } from "./refreshGrant.ts"
import type { State } from "./state.ts"

const grants: ReadonlyMap<string, (request: GrantRequest) => Effect.Effect<Answer, Refused>> = new Map([
  ["authorization_code", codeGrant],
  ["refresh_token", refreshGrant],
  ["client_credentials", clientCredentialsGrant],
  [deviceCode, deviceGrant],
  [jwtBearer, jwtBearerGrant],
  [tokenExchange, exchangeGrant]
])

export const token = (state: State): Handler => (incoming) =>
  Effect.gen(function*() {
    const { method, parameters } = incoming
    if (method !== "POST") return yield* refuse("invalid_request", "tokens are asked for with POST", 405)
    const repeated = parameters.repeated
    if (repeated !== undefined) return yield* refuse("invalid_request", `${repeated} is there more than once`)
    const grant = parameters.get("grant_type")
    if (grant === undefined) return yield* refuse("invalid_request", "there is no grant_type")
    const run = grants.get(grant)
    if (run === undefined) return yield* refuse("unsupported_grant_type", "the grant_type is not known")
    const client = (yield* workloadClient(state, incoming)) ?? (yield* authenticate(state, incoming))
    if (!mayUse(client, grant)) return yield* refuse("unauthorized_client", "the client may not use this grant")
    const jkt = yield* proofOf(state, incoming)
    return yield* run({ state, client, jkt, parameters })
  })

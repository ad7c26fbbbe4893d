/** The server as identity provider: an id token for an assertion at another authorization server (RFC 8693, EMA-01). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type Answer, json, refuse, type Refused } from "./answer.ts"
import type { GrantRequest } from "./grantRequest.ts"
import { seconds } from "./issue.ts"
import { idJagType } from "./jwtBearerGrant.ts"
import * as Keys from "./keys.ts"

const idJag = "urn:ietf:params:oauth:token-type:id-jag"
const idTokenType = "urn:ietf:params:oauth:token-type:id_token"
const refreshTokenType = "urn:ietf:params:oauth:token-type:refresh_token"

/** The user that the subject token stands for. */
const subjectOf = (
  { client, parameters, state }: GrantRequest,
  token: string,
  type: string | undefined
): Effect.Effect<string, Refused> =>
  Effect.gen(function*() {
    if (type === idTokenType) {
      const { payload } = yield* Keys.verify(token, Keys.jwks(state.keys), {
        issuer: state.issuer,
        audience: client.clientId,
        typ: "JWT",
        requiredClaims: ["sub", "exp"]
      }).pipe(Effect.catch((why) => refuse("invalid_request", `the subject_token is no good: ${why}`)))
      return payload.sub ?? ""
    }
    const refresh = state.refreshTokens.get(token)
    const now = yield* Clock.currentTimeMillis
    if (
      type === refreshTokenType && refresh !== undefined && !refresh.used && !refresh.family.revoked &&
      refresh.family.clientId === client.clientId && now < refresh.expiresAt && refresh.family.user !== undefined
    ) {
      return refresh.family.user.id
    }
    return yield* refuse("invalid_request", `the subject_token is no good as a ${parameters.get("subject_token_type")}`)
  })

export const exchangeGrant = (request: GrantRequest): Effect.Effect<Answer, Refused> =>
  Effect.gen(function*() {
    const { client, parameters, state } = request
    if (parameters.get("requested_token_type") !== idJag) {
      return yield* refuse("invalid_request", "requested_token_type has to be that of ID-JAGs")
    }
    const [subjectToken, audience] = [parameters.get("subject_token"), parameters.get("audience")]
    if (subjectToken === undefined) return yield* refuse("invalid_request", "there is no subject_token")
    if (audience === undefined) return yield* refuse("invalid_request", "there is no audience")
    const subject = yield* subjectOf(request, subjectToken, parameters.get("subject_token_type"))
    const clientId = client.audiences === undefined ? client.clientId : client.audiences[audience]
    if (clientId === undefined) return yield* refuse("invalid_target", "the client gets nothing for this audience")
    const now = yield* Clock.currentTimeMillis
    const lifetime = state.millis("assertion")
    const [scope, resource] = [parameters.get("scope"), parameters.all("resource")]
    const assertion = yield* Keys.sign(state.keys, {
      iss: state.issuer,
      sub: subject,
      aud: audience,
      client_id: clientId,
      jti: yield* state.random,
      iat: seconds(now),
      exp: seconds(now + lifetime),
      scope,
      resource: resource.length > 1 ? resource : resource[0]
    }, idJagType)
    return json({
      issued_token_type: idJag,
      access_token: assertion,
      token_type: "N_A",
      expires_in: seconds(lifetime),
      ...(scope === undefined ? {} : { scope })
    })
  })

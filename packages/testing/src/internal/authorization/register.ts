/** Clients that register themselves (RFC 7591). */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { json, refuse } from "./answer.ts"
import { mayRegister } from "./authorize.ts"
import { Described, scopesOf } from "./clients.ts"
import type { Handler } from "./front.ts"
import { seconds } from "./issue.ts"
import type { State } from "./state.ts"

const decode = Schema.decodeUnknownEffect(Described)

export const register = (state: State): Handler => ({ json: body, method }) =>
  Effect.gen(function*() {
    const invalid = (description: string) => refuse("invalid_client_metadata", description)
    if (state.options.registration === false) return yield* refuse("access_denied", "nobody can register here", 403)
    if (method !== "POST") return yield* refuse("invalid_request", "clients register with POST", 405)
    const client = yield* Effect.catch(decode(body), (error) => invalid(error.message))
    const grantTypes = client.grant_types ?? ["authorization_code"]
    const redirectUris = client.redirect_uris ?? []
    if (grantTypes.includes("authorization_code") && redirectUris.length === 0) {
      return yield* refuse("invalid_redirect_uri", "there are no redirect_uris")
    }
    const native = client.application_type === "native" || state.options.looseRedirects === true
    const bad = redirectUris.find((uri) => !mayRegister(uri, native))
    if (bad !== undefined) {
      const type = client.application_type ?? "web, as none is named"
      return yield* refuse(
        "invalid_redirect_uri",
        `a client of this application_type (${type}) may not be sent to ${bad}`
      )
    }
    const authentication = client.token_endpoint_auth_method ?? "client_secret_basic"
    if (authentication === "private_key_jwt" && client.jwks === undefined && client.jwks_uri === undefined) {
      return yield* invalid("there are neither jwks nor a jwks_uri")
    }
    const secret = authentication === "client_secret_basic" || authentication === "client_secret_post"
    const [clientId, clientSecret] = [yield* state.random, secret ? yield* state.random : undefined]
    state.clients.set(clientId, {
      kind: "dynamic",
      clientId,
      clientSecret,
      authentication: [authentication],
      jwks: client.jwks,
      jwksUri: client.jwks_uri,
      redirectUris,
      grantTypes,
      scopes: scopesOf(client.scope),
      name: client.client_name,
      audiences: undefined
    })
    return json(
      {
        application_type: "web",
        response_types: ["code"],
        ...client,
        client_id: clientId,
        client_id_issued_at: seconds(yield* Clock.currentTimeMillis),
        ...(clientSecret === undefined ? {} : { client_secret: clientSecret, client_secret_expires_at: 0 }),
        token_endpoint_auth_method: authentication,
        grant_types: grantTypes,
        redirect_uris: redirectUris
      },
      201
    )
  })

/**
 * A program logs in as itself (OAuth 2.1, 4.2), with a secret or, better, a private key that was arranged for (OCC-01).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Grant } from "./Grant.ts"
import { scopeOf, tokenEndpointOf } from "./internal/endpoints.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { quoted } from "./internal/quoted.ts"
import { existing } from "./internal/registering.ts"
import type * as Registration from "./Registration.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The client, with its secret or key: one for each authorization server. Nobody is registered on the spot. */
  readonly client: Registration.Preregistered | ReadonlyArray<Registration.Preregistered>
  /** More parameters for the token endpoint, such as `audience` for servers that know no `resource`. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
}

/**
 * Logs in with the client's own credentials. There is no refresh: tokens are asked for anew.
 *
 * **Example** (A secret)
 *
 * ```ts
 * import { ClientCredentials } from "@mcpfx/auth"
 * import { Redacted } from "effect"
 *
 * const grant = ClientCredentials.grant({
 *   client: { issuer: "https://login.example.com", clientId: "batch", clientSecret: Redacted.make("s3cret") }
 * })
 * const facts = [grant.interactive, grant.refreshes] // => [false, false]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const grant = ({ client, parameters }: Options): Grant => {
  const options: Registration.Options = { client, dynamic: false }
  return {
    name: "client_credentials",
    interactive: false,
    refreshes: false,
    obtain: Effect.fn("ClientCredentials.obtain")(function*(request) {
      const { endpoint, resource, scopes, server } = request
      const identity = yield* existing(request, options)
      if (identity.registration.authentication === "none") {
        const { clientId } = identity.registration
        return yield* misconfigured(
          `client credentials need a secret or a private key, and the client ${quoted(clientId)} has neither`
        )
      }
      return yield* endpoint.tokens({
        url: yield* tokenEndpointOf(server),
        issuer: server.issuer,
        parameters: { ...parameters, grant_type: "client_credentials", resource, scope: scopeOf(scopes) },
        client: identity,
        scopes
      })
    }),
    client: (request) => existing(request, options)
  }
}

/**
 * A program logs in with a token of the platform it runs on (workload identity; RFC 7523, 2.1): a service account of a
 * cluster, a job of a build service, an instance of a cloud.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as AuthError from "./AuthError.ts"
import type * as Credentials from "./Credentials.ts"
import type { Grant, Request } from "./Grant.ts"
import { exchange, fromOutside } from "./internal/assertion.ts"
import { existing } from "./internal/registering.ts"
import type * as Registration from "./Registration.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options<E = never, R = never> {
  /**
   * Gets a fresh token of the platform each time, with the authorization server (`about.issuer`) as its audience. What fails is told on as
   * `Misconfigured`, without its words, unless it is an `AuthError`.
   */
  readonly assertion: (about: Credentials.TokensKey) => Effect.Effect<Redacted.Redacted<string>, E, R>
  /** The client, where the authorization server wants to know it besides. */
  readonly client?: Registration.Preregistered | ReadonlyArray<Registration.Preregistered> | undefined
}

/**
 * Logs in with a token of the platform: one request with one assertion. A refusal is final: it is neither sent again nor
 * replaced by another way to log in.
 *
 * **Example** (The token that a cluster mounts)
 *
 * ```ts
 * import { WorkloadIdentity } from "@mcpfx/auth"
 * import { Effect, FileSystem, Redacted } from "effect"
 *
 * const grant = WorkloadIdentity.grant({
 *   assertion: () =>
 *     Effect.gen(function*() {
 *       const files = yield* FileSystem.FileSystem
 *       return Redacted.make((yield* files.readFileString("/var/run/secrets/tokens/mcp")).trim())
 *     })
 * })
 * const facts = [grant.interactive, grant.refreshes] // => [false, false]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const grant = <E = never, R = never>({ assertion, client }: Options<E, R>): Grant<R> => {
  const options: Registration.Options = { client, dynamic: false }
  return {
    name: "workload_identity",
    interactive: false,
    refreshes: false,
    obtain: Effect.fn("WorkloadIdentity.obtain")(function*(request: Request) {
      const { resource, server: { issuer } } = request
      const identity = client === undefined ? undefined : yield* existing(request, options)
      const token = yield* fromOutside("the token of the platform", assertion({ issuer, resource }))
      return yield* exchange(request, token, identity)
    }),
    client: (request) =>
      client === undefined
        ? AuthError.fail(
          new AuthError.RegistrationRequired({ issuer: request.server.issuer, detail: "none is configured" })
        )
        : existing(request, options)
  }
}

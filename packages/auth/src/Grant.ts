/**
 * How a client gets tokens: one value for each flow, which `OAuthClient` runs when it needs to.
 *
 * **Example** (A flow of one's own: tokens that another program keeps)
 *
 * ```ts
 * import { AuthError, type Grant } from "@mcpfx/auth"
 * import { Effect, Redacted } from "effect"
 *
 * const grant: Grant.Grant = {
 *   name: "kept elsewhere",
 *   interactive: false,
 *   refreshes: false,
 *   obtain: ({ scopes = [] }) =>
 *     Effect.succeed({ accessToken: Redacted.make("t"), tokenType: "Bearer", scopes }),
 *   client: ({ server: { issuer } }) =>
 *     AuthError.fail(new AuthError.RegistrationRequired({ issuer, detail: "the other program has it" }))
 * }
 * grant.name // => "kept elsewhere"
 * ```
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { AuthError } from "./AuthError.ts"
import type { AuthorizationServer } from "./AuthorizationServer.ts"
import type * as Credentials from "./Credentials.ts"
import type { TokenEndpoint } from "./TokenEndpoint.ts"

/**
 * What is known when tokens are needed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request {
  readonly server: AuthorizationServer
  /** The identifier of the protected resource, as its metadata write it; sent as `resource` (RFC 8707, field AUT-01). */
  readonly resource: string
  /** The scopes to ask for; `undefined` leaves the parameter out (ACL-26). */
  readonly scopes: ReadonlyArray<string> | undefined
  /** The way to the endpoints of the authorization server: guarded, bounded, with DPoP where it is on. */
  readonly endpoint: TokenEndpoint
  /** Registrations kept for this issuer, by what they are for. */
  readonly registrations: {
    readonly get: Effect.Effect<Credentials.Registration | undefined, AuthError>
    readonly set: (registration: Credentials.Registration) => Effect.Effect<void, AuthError>
    /** The authorization server no longer knows the client. */
    readonly remove: Effect.Effect<void, AuthError>
  }
}

/**
 * A flow. `R` is what it needs: a user agent, for one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Grant<R = never> {
  readonly name: string
  /** Whether somebody has to be asked: then a login is begun at most once for an operation. */
  readonly interactive: boolean
  /** Whether refresh tokens are to be asked for and used. */
  readonly refreshes: boolean
  /** Runs the flow once. */
  readonly obtain: (request: Request) => Effect.Effect<Credentials.Tokens, AuthError, R>
  /** The client as this issuer knows it, for refresh and revocation; fails where there is none. */
  readonly client: (request: Request) => Effect.Effect<ClientIdentity, AuthError, R>
}

/**
 * A client, with what it proves itself with.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClientIdentity {
  readonly registration: Credentials.Registration
  /**
   * The parameters and headers that prove it to an endpoint of an issuer (RFC 6749, 2.3; RFC 7523, 2.2). The assertions that are
   * made here name the issuer as their audience, whichever of its endpoints they go to.
   */
  readonly authenticate: (endpoint: string, issuer: string) => Effect.Effect<ClientProof, AuthError>
}

/**
 * A parameter of a form. Secrets among them are redacted, so that nothing that prints a request shows them.
 *
 * @category models
 * @since 0.1.0
 */
export type Parameter = string | Redacted.Redacted<string>

/**
 * @category models
 * @since 0.1.0
 */
export interface ClientProof {
  readonly parameters: Readonly<Record<string, Parameter>>
  readonly headers: Readonly<Record<string, string>>
}

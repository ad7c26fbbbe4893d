/**
 * Where a client stands with the server it logs in to: what a host shows, and acts on.
 *
 * @since 0.1.0
 */
import type * as AuthError from "./AuthError.ts"

/**
 * - `Anonymous`: no token, and none was asked for yet
 * - `LoggedIn`: requests carry a token
 * - `Refreshing`, `LoggingIn`: a new token is on its way; requests wait
 * - `NeedsLogin`: nothing goes on until somebody logs in: `OAuthClient.login`; where the last login came to nothing, `error`
 *   keeps saying why
 * - `Failed`: no token could be had for another reason; it is tried again by itself from `retryAt` on
 *
 * **Example** (A line for each)
 *
 * ```ts
 * import type { LoginStatus } from "@mcpfx/auth"
 *
 * const line = (status: LoginStatus.LoginStatus): string => {
 *   switch (status._tag) {
 *     case "LoggedIn":
 *       return `logged in at ${status.issuer}`
 *     case "NeedsLogin":
 *     case "Failed":
 *       return status.error.message
 *     default:
 *       return status._tag
 *   }
 * }
 * line({ _tag: "Anonymous" }) // => "Anonymous"
 * ```
 *
 * @category models
 * @since 0.1.0
 */
export type LoginStatus =
  | { readonly _tag: "Anonymous" }
  | {
    readonly _tag: "LoggedIn"
    readonly issuer: string
    readonly resource: string
    readonly scopes: ReadonlyArray<string>
    /** Milliseconds since the epoch; absent where the server did not say. */
    readonly expiresAt?: number | undefined
    /** Scopes that a call needed, and that nobody has been asked for yet. */
    readonly missing?: ReadonlyArray<string> | undefined
    /** Why the tokens are kept by this process alone: they are lost with it (field AUT-09). */
    readonly unsaved?: AuthError.AuthError | undefined
  }
  | { readonly _tag: "Refreshing"; readonly issuer: string; readonly resource: string }
  | {
    readonly _tag: "LoggingIn"
    readonly issuer: string
    readonly resource: string
    readonly scopes: ReadonlyArray<string>
    /** The page where somebody is asked, once there is one. */
    readonly url?: string | undefined
  }
  | { readonly _tag: "NeedsLogin"; readonly error: AuthError.AuthError }
  | {
    readonly _tag: "Failed"
    readonly error: AuthError.AuthError
    /** Milliseconds since the epoch. */
    readonly retryAt: number
  }

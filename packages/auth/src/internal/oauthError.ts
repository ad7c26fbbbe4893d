/** What an authorization server says in the codes of OAuth (RFC 6749, 4.1.2.1 and 5.2). */
import type { AuthError } from "../AuthError.ts"

/** Whether it said one of these, to the client or by way of the person. */
export const isOAuth = ({ reason }: AuthError, ...codes: ReadonlyArray<string>): boolean =>
  (reason._tag === "OAuthRefused" || reason._tag === "LoginDenied") && codes.includes(reason.error)

/** Whether it does not know the client: it lost what it knew, or threw it away. */
export const isUnknownClient = (error: AuthError): boolean => isOAuth(error, "invalid_client", "unauthorized_client")

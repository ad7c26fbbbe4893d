/** Where metadata are, below an origin (RFC 8414, RFC 9728, OpenID Connect Discovery). Pure. */

export const protectedResource = "/.well-known/oauth-protected-resource"
export const authorizationServer = "/.well-known/oauth-authorization-server"
export const openIdConfiguration = "/.well-known/openid-configuration"

/** The path of a URL as it is put behind a well-known one: without the slash at its end, so empty for the root. */
export const pathOf = ({ pathname }: URL): string => pathname.endsWith("/") ? pathname.slice(0, -1) : pathname

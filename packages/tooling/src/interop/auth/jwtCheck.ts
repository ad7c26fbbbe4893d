/** What guarded servers of other makes check access tokens of a foreign authorization server with. */
import { createRemoteJWKSet, jwtVerify } from "jose"

/** What the SDKs want to know of a token. */
export interface Checked {
  readonly token: string
  readonly clientId: string
  readonly scopes: Array<string>
  readonly expiresAt: number
  readonly resource: URL
}

/** Metadata of an authorization server, as its own document has them. */
export const metadataOf = async (issuer: string): Promise<Readonly<Record<string, unknown>>> => {
  const { pathname, origin } = new URL(issuer)
  const response = await fetch(`${origin}/.well-known/oauth-authorization-server${pathname === "/" ? "" : pathname}`)
  const body: unknown = await response.json()
  if (typeof body !== "object" || body === null) throw new Error(`${issuer} has no metadata`)
  return Object.fromEntries(Object.entries(body))
}

/** Rejects what is not a fresh token of the issuer for the resource. */
export const jwtCheck = (issuer: string, keys: string, resource: string) => {
  const set = createRemoteJWKSet(new URL(keys))
  return async (token: string): Promise<Checked> => {
    const { payload } = await jwtVerify(token, set, { issuer, audience: resource })
    const { client_id: clientId, exp, scope } = payload
    return {
      token,
      clientId: String(clientId),
      scopes: typeof scope === "string" ? scope.split(" ") : [],
      expiresAt: exp ?? 0,
      resource: new URL(resource)
    }
  }
}

/** What the router of version 1 of the SDK needs to be an authorization server: clients, codes and tokens in memory. */
import {
  InvalidGrantError,
  InvalidScopeError,
  InvalidTokenError
} from "@modelcontextprotocol/sdk/server/auth/errors.js"
import type { OAuthServerProvider } from "@modelcontextprotocol/sdk/server/auth/provider.js"
import type { OAuthClientInformationFull, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js"
import { randomUUID } from "node:crypto"

interface Granted {
  readonly clientId: string
  readonly scopes: ReadonlyArray<string>
  readonly resource: URL | undefined
}

interface Code extends Granted {
  readonly challenge: string
  readonly redirectUri: string
}

/** Milliseconds. */
const life = 600_000

export interface Sdk1Authority extends OAuthServerProvider {
  /** Ends every access token, so that the next use needs a refresh. */
  readonly expire: () => void
  /** How many refresh tokens are good. */
  readonly logins: () => number
}

/** Takes a value out, so that nothing is good twice. */
const take = <A extends Granted>(table: Map<string, A>, key: string, clientId: string): A => {
  const value = table.get(key)
  table.delete(key)
  if (value === undefined || value.clientId !== clientId) throw new InvalidGrantError("unknown or used")
  return value
}

/** Everybody who comes to the page is let in. Refresh tokens change with each use. */
export const makeAuthority = (scopesSupported: ReadonlyArray<string>): Sdk1Authority => {
  const clients = new Map<string, OAuthClientInformationFull>()
  const codes = new Map<string, Code>()
  const access = new Map<string, Granted & { readonly expiresAt: number }>()
  const refresh = new Map<string, Granted>()
  const issue = (granted: Granted): OAuthTokens => {
    const tokens = { access_token: randomUUID(), refresh_token: randomUUID() }
    access.set(tokens.access_token, { ...granted, expiresAt: Date.now() + life })
    refresh.set(tokens.refresh_token, granted)
    return { ...tokens, token_type: "bearer", expires_in: life / 1000, scope: granted.scopes.join(" ") }
  }
  return {
    expire: () => access.clear(),
    logins: () => refresh.size,
    clientsStore: {
      getClient: (id) => clients.get(id),
      registerClient: (client) => {
        const full = { ...client, client_id: randomUUID() }
        clients.set(full.client_id, full)
        return full
      }
    },
    authorize: (client, { codeChallenge, redirectUri, resource, scopes = [], state }, response) => {
      if (scopes.some((scope) => !scopesSupported.includes(scope))) throw new InvalidScopeError("no such scope")
      const code = randomUUID()
      codes.set(code, { clientId: client.client_id, scopes, resource, challenge: codeChallenge, redirectUri })
      const back = new URL(redirectUri)
      back.searchParams.set("code", code)
      if (state !== undefined) back.searchParams.set("state", state)
      response.redirect(back.href)
      return Promise.resolve()
    },
    challengeForAuthorizationCode: (_, code) => {
      const known = codes.get(code)
      return known === undefined
        ? Promise.reject(new InvalidGrantError("no such code"))
        : Promise.resolve(known.challenge)
    },
    exchangeAuthorizationCode: async (client, code, _, redirectUri, resource) => {
      const { challenge: _challenge, redirectUri: asked, ...granted } = take(codes, code, client.client_id)
      if (redirectUri !== asked) throw new InvalidGrantError("another redirect_uri")
      if (resource?.href !== granted.resource?.href) throw new InvalidGrantError("another resource")
      return issue(granted)
    },
    exchangeRefreshToken: async (client, token) => issue(take(refresh, token, client.client_id)),
    verifyAccessToken: async (token) => {
      const known = access.get(token)
      if (known === undefined || known.expiresAt < Date.now()) throw new InvalidTokenError("no such token")
      const { clientId, expiresAt, resource, scopes } = known
      return {
        token,
        clientId,
        scopes: [...scopes],
        expiresAt: Math.floor(expiresAt / 1000),
        ...(resource === undefined ? {} : { resource })
      }
    },
    revokeToken: async (_, { token }) => {
      access.delete(token)
      refresh.delete(token)
    }
  }
}

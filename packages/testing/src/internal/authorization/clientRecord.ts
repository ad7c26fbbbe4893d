/** Clients as the server keeps them, from those it was told of. */
import type { AuthenticationMethod } from "@mcpfx/auth/Credentials"
import type { Client, ClientOptions } from "./model.ts"

const methodsOf = (options: ClientOptions): ReadonlyArray<AuthenticationMethod> => {
  if (options.authentication !== undefined) return [options.authentication]
  if (options.jwks !== undefined) return ["private_key_jwt"]
  return options.clientSecret === undefined ? ["none"] : ["client_secret_basic", "client_secret_post"]
}

export const fromOptions = (options: ClientOptions): Client => ({
  kind: "preregistered",
  clientId: options.clientId,
  clientSecret: options.clientSecret,
  authentication: methodsOf(options),
  jwks: options.jwks,
  jwksUri: undefined,
  redirectUris: options.redirectUris ?? [],
  grantTypes: options.grantTypes,
  scopes: options.scopes,
  name: options.name,
  audiences: options.audiences
})

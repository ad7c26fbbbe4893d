/** What the server says of itself (RFC 8414, OpenID Connect Discovery), and where. */
import { algorithms } from "./keys.ts"
import type { WellKnown } from "./model.ts"
import { at } from "./paths.ts"
import type { State } from "./state.ts"

export const jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
export const tokenExchange = "urn:ietf:params:oauth:grant-type:token-exchange"
export const deviceCode = "urn:ietf:params:oauth:grant-type:device_code"
export const idJagProfile = "urn:ietf:params:oauth:grant-profile:id-jag"

const methods = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"]

export const metadata = (state: State): Record<string, unknown> => {
  const { options } = state
  const all: Readonly<Record<string, unknown>> = {
    issuer: state.issuer,
    authorization_endpoint: at(state, "authorize"),
    token_endpoint: at(state, "token"),
    registration_endpoint: options.registration === false ? undefined : at(state, "register"),
    device_authorization_endpoint: at(state, "device"),
    introspection_endpoint: at(state, "introspect"),
    revocation_endpoint: at(state, "revoke"),
    jwks_uri: at(state, "jwks"),
    scopes_supported: options.scopes,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: [
      "authorization_code",
      "refresh_token",
      "client_credentials",
      deviceCode,
      jwtBearer,
      tokenExchange
    ],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [state.keys.current.alg],
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    revocation_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_methods_supported: methods.slice(1),
    code_challenge_methods_supported: ["S256"],
    dpop_signing_alg_values_supported: algorithms,
    authorization_response_iss_parameter_supported: options.iss === false ? undefined : true,
    client_id_metadata_document_supported: options.metadataDocuments === false ? undefined : true,
    authorization_grant_profiles_supported: options.trust?.some(({ kind }) => kind === "identity provider") === true
      ? [idJagProfile]
      : undefined,
    ...state.metadata
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** The paths the metadata are found at, by the path of the issuer. */
export const wellKnownPaths = ({ base, options }: State): ReadonlyArray<`/${string}`> => {
  const paths: Record<WellKnown, `/${string}`> = {
    oauth: `/.well-known/oauth-authorization-server${base}`,
    openid: `/.well-known/openid-configuration${base}`,
    "openid appended": `${base}/.well-known/openid-configuration`
  }
  const wanted = options.wellKnown ?? ["oauth", "openid", "openid appended"]
  return [...new Set(wanted.map((name) => paths[name]))]
}

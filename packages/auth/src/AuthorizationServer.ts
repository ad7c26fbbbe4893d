/**
 * An authorization server as its metadata describe it (RFC 8414, OpenID Connect Discovery).
 *
 * **Example** (What is not needed is dropped)
 *
 * ```ts
 * import { AuthorizationServer } from "@mcpfx/auth"
 * import { Schema } from "effect"
 *
 * const decode = Schema.decodeUnknownSync(AuthorizationServer.Metadata)
 * decode({ issuer: "https://login.example.com", ui_locales_supported: ["en"] }) // => { issuer: "https://login.example.com" }
 * ```
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/** Servers write an empty text or `null` for what they do not have (field AUT-18): the decoder of discovery drops them. */
const optionalText = Schema.optionalKey(Schema.String)
const optionalTexts = Schema.optionalKey(Schema.Array(Schema.String))

/**
 * What of the metadata the flows need. Decode with the tidying of `Discovery`: absent, `null` and `""` are one there.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Metadata = Schema.Struct({
  issuer: Schema.String,
  authorization_endpoint: optionalText,
  token_endpoint: optionalText,
  registration_endpoint: optionalText,
  revocation_endpoint: optionalText,
  introspection_endpoint: optionalText,
  device_authorization_endpoint: optionalText,
  jwks_uri: optionalText,
  scopes_supported: optionalTexts,
  response_types_supported: optionalTexts,
  grant_types_supported: optionalTexts,
  code_challenge_methods_supported: optionalTexts,
  token_endpoint_auth_methods_supported: optionalTexts,
  token_endpoint_auth_signing_alg_values_supported: optionalTexts,
  revocation_endpoint_auth_methods_supported: optionalTexts,
  dpop_signing_alg_values_supported: optionalTexts,
  authorization_grant_profiles_supported: optionalTexts,
  authorization_response_iss_parameter_supported: Schema.optionalKey(Schema.Boolean),
  client_id_metadata_document_supported: Schema.optionalKey(Schema.Boolean)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Metadata extends Schema.Schema.Type<typeof Metadata> {}

/**
 * An authorization server that was found, and how.
 *
 * @category models
 * @since 0.1.0
 */
export interface AuthorizationServer {
  /** The validated issuer: what credentials are kept under, and what `iss` is compared with, to the letter. */
  readonly issuer: string
  readonly metadata: Metadata
  /**
   * - `resource`: named by the server's protected resource metadata (2025-06-18 and later)
   * - `origin`: metadata at the origin of the server, which has no such metadata (2025-03-26)
   * - `defaults`: no metadata at all, so the endpoints are the default ones at the origin (2025-03-26)
   */
  readonly found: "resource" | "origin" | "defaults"
}

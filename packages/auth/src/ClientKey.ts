/**
 * The private key that a client proves itself with (`private_key_jwt`; RFC 7523, 2.2).
 *
 * **Example** (A key from the configuration)
 *
 * ```ts
 * import type { ClientKey } from "@mcpfx/auth"
 * import { Config, ConfigProvider, Effect } from "effect"
 *
 * const config = Config.map(Config.Redacted("MCP_CLIENT_KEY"), (key): ClientKey.ClientKey => ({ key, keyId: "2026-11" }))
 * const environment = ConfigProvider.fromEnv({ env: { MCP_CLIENT_KEY: "-----BEGIN PRIVATE KEY-----" } })
 * const { key } = await Effect.runPromise(config.parse(environment))
 * String(key) // => "<redacted>"
 * ```
 *
 * @since 0.1.0
 */
import type * as Redacted from "effect/Redacted"
import type { CryptoKey, JWK } from "jose"

/**
 * @category models
 * @since 0.1.0
 */
export interface ClientKey {
  /** PKCS #8 in PEM, a JWK as object or text, or a key of WebCrypto, of type EC, RSA or Ed25519. */
  readonly key: Redacted.Redacted<string | JWK | CryptoKey>
  /**
   * The algorithm to sign with, which has to be one of the key. By default it is the one that the key says or implies; an
   * RSA key takes the first that the authorization server names, of `RS256`, `PS256` and their longer forms.
   */
  readonly algorithm?: string | undefined
  /** The name of the key in the key set that the authorization server has; by default the `kid` of a JWK. */
  readonly keyId?: string | undefined
  /**
   * Whether `client_id` is sent beside the assertion, as some servers want it. It is not by default: the assertion names
   * the client (RFC 7523, 3).
   */
  readonly sendClientId?: boolean | undefined
}

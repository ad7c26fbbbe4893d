/**
 * Who the client is to an authorization server: an id that was arranged for, the address of a document that describes the
 * client, or a registration made on the spot, in this order (ACL-08).
 *
 * @since 0.1.0
 */
import type * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import type { JWK } from "jose"
import * as AuthError from "./AuthError.ts"
import type { ClientKey } from "./ClientKey.ts"
import type * as Credentials from "./Credentials.ts"
import { clientIdFault } from "./internal/clientId.ts"
import { isPrivate } from "./internal/keySet.ts"
import { redirectFault } from "./internal/redirectUris.ts"

/**
 * Stands for whichever authorization server the MCP server names first, and for no other afterwards in this process. That
 * server is shown the id and, with it, what proves it: only for MCP servers that are trusted with it.
 *
 * @category constants
 * @since 0.1.0
 */
export const anyIssuer = "any"

/**
 * A client that was registered with an authorization server beforehand.
 *
 * @category models
 * @since 0.1.0
 */
export interface Preregistered {
  /** Who gave the id, to the letter: it is used at no other authorization server (ACL-13). Or `anyIssuer`. */
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret?: Redacted.Redacted<string> | undefined
  readonly key?: ClientKey | undefined
  /** By default what the authorization server takes: a key before a secret, basic before post, nothing without either. */
  readonly authentication?: Credentials.AuthenticationMethod | undefined
  /** The addresses it was registered with; any that the user agent has, by default. */
  readonly redirectUris?: ReadonlyArray<string> | undefined
}

/**
 * A client described by a document at an https address, which is its id everywhere (Client ID Metadata Document).
 *
 * @category models
 * @since 0.1.0
 */
export interface MetadataDocument {
  readonly url: string
  /** The addresses that the document lists; any that the user agent has, by default. */
  readonly redirectUris?: ReadonlyArray<string> | undefined
  /** Where the document says `private_key_jwt`. */
  readonly key?: ClientKey | undefined
}

/**
 * How the client describes itself where it registers on the spot (RFC 7591).
 *
 * @category models
 * @since 0.1.0
 */
export interface Dynamic {
  /** What a consent page calls it; "MCP client" by default. */
  readonly clientName?: string | undefined
  readonly clientUri?: string | undefined
  readonly logoUri?: string | undefined
  readonly termsUri?: string | undefined
  readonly policyUri?: string | undefined
  readonly contacts?: ReadonlyArray<string> | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  readonly softwareId?: string | undefined
  readonly softwareVersion?: string | undefined
  /** By default `web` where every answer comes back to a server, else `native` (ACL-12). */
  readonly applicationType?: "native" | "web" | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Ids that were arranged for, one for each authorization server. */
  readonly client?: Preregistered | ReadonlyArray<Preregistered> | undefined
  /** The address of the document that describes the client, used where the authorization server reads such documents. */
  readonly metadataDocument?: string | MetadataDocument | undefined
  /** How the client registers on the spot, where that is offered; `false` never does. */
  readonly dynamic?: Dynamic | false | undefined
}

/**
 * What a document that describes a client says.
 *
 * @category models
 * @since 0.1.0
 */
export interface DocumentOptions {
  /** Where the document will be: https, with a path, without fragment, user or segments of dots. It is the client's id. */
  readonly clientId: string
  /** What a consent page calls the client. */
  readonly clientName: string
  /** Where logins may come back to: https, the loopback interface, or the app's own scheme. At least one. */
  readonly redirectUris: ReadonlyArray<string>
  readonly clientUri?: string | undefined
  readonly logoUri?: string | undefined
  readonly scopes?: ReadonlyArray<string> | undefined
  /** `authorization_code` and `refresh_token` by default. */
  readonly grantTypes?: ReadonlyArray<string> | undefined
  /** Public keys, for a client that proves itself with `private_key_jwt`; without, it proves nothing. */
  readonly keys?: ReadonlyArray<JWK> | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export type ClientMetadataDocument = Readonly<Record<string, unknown>> & { readonly client_id: string }

const documentFault = ({ clientId, clientName, keys = [], redirectUris }: DocumentOptions): string | undefined => {
  const fault = clientIdFault(clientId)
  if (fault !== undefined) return `${clientId} cannot be a client id: ${fault}`
  if (clientName.trim() === "") return "a client needs a name"
  if (redirectUris.length === 0) return "a client needs a redirect URI"
  for (const uri of redirectUris) {
    const wrong = redirectFault(uri)
    if (wrong !== undefined) return `a login cannot come back to ${uri}: ${wrong}`
  }
  return keys.some(isPrivate)
    ? "a key in the document is not public"
    : undefined
}

/**
 * The document for the developer of a client to host at `clientId`, as `application/json` (ACL-09).
 *
 * **Example** (A client on people's machines)
 *
 * ```ts
 * import { Registration } from "@mcpfx/auth"
 * import { Result } from "effect"
 *
 * const document = Registration.clientMetadataDocument({
 *   clientId: "https://app.example.com/oauth/client.json",
 *   clientName: "Example",
 *   redirectUris: ["http://127.0.0.1/callback"]
 * })
 * Result.getOrThrow(document).token_endpoint_auth_method // => "none"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const clientMetadataDocument = (
  options: DocumentOptions
): Result.Result<ClientMetadataDocument, AuthError.AuthError> => {
  const detail = documentFault(options)
  if (detail !== undefined) {
    return Result.fail(new AuthError.AuthError({ reason: new AuthError.Misconfigured({ detail }) }))
  }
  const { clientId, clientName, clientUri, grantTypes, keys, logoUri, redirectUris, scopes } = options
  return Result.succeed({
    client_id: clientId,
    client_name: clientName,
    redirect_uris: redirectUris,
    grant_types: grantTypes ?? ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: keys === undefined ? "none" : "private_key_jwt",
    ...(clientUri === undefined ? {} : { client_uri: clientUri }),
    ...(logoUri === undefined ? {} : { logo_uri: logoUri }),
    ...(scopes === undefined ? {} : { scope: scopes.join(" ") }),
    ...(keys === undefined ? {} : { jwks: { keys } })
  })
}

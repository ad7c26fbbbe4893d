/** Asks the addresses of `Discovery`, one after the other, and judges what they answer. */
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as AuthError from "../AuthError.ts"
import type { AuthorizationServer, Metadata } from "../AuthorizationServer.ts"
import * as Discovery from "../Discovery.ts"
import type { Policy } from "../OutboundGuard.ts"
import { addressOf, type IssuerOptions, MetadataSearch, shown } from "./metadataSearch.ts"
import { misconfigured } from "./misconfigured.ts"
import type { Outbound } from "./outbound.ts"
import { quoted, quotedAll } from "./quoted.ts"
import { isLoopback, isSecure } from "./secureUrl.ts"

export interface Options extends Pick<IssuerOptions, "trustIssuer"> {
  readonly outbound: Outbound
  readonly policy: Policy
  /** The server that is to be reached. */
  readonly url: URL
  /** Which of the servers to log in at; the first by default. */
  readonly chooseServer?: ((issuers: ReadonlyArray<string>) => string | undefined) | undefined
}

/** What is known of the server before the search. */
export interface Hint {
  /** The address that its challenge named (RFC 9728, 5.1). */
  readonly resourceMetadata?: string | undefined
  /** The revision that is spoken, where one is. */
  readonly protocolVersion?: string | undefined
}

/** Only the server itself is told what is spoken to it (ACL-06, field AUT-22). */
const versionFor = ({ url }: Options, { protocolVersion = "2025-03-26" }: Hint) => (address: string) =>
  address === url.origin || address.startsWith(`${url.origin}/`)
    ? { [McpHeaders.names.protocolVersion]: protocolVersion }
    : undefined

/** The metadata of the server, or nothing where it has none. A server that speaks for another one is not asked further. */
const resourceOf = Effect.fnUntraced(function*(options: Options, search: MetadataSearch, hint: Hint) {
  const { url } = options
  const headersFor = versionFor(options, hint)
  for (const address of Discovery.resourceAddresses(url, hint.resourceMetadata)) {
    const metadata = yield* search.look(address, Discovery.decodeResource, headersFor(address))
    if (metadata === undefined) continue
    const { resource } = metadata
    if (!Discovery.covers(resource, url)) {
      return yield* AuthError.fail(
        new AuthError.WrongAudience({ server: url.origin + url.pathname, resource: shown(resource) })
      )
    }
    return { metadata, address }
  }
  return undefined
})

/** Where a browser is sent, and what is fetched. */
const needed = ["authorization_endpoint", "token_endpoint", "registration_endpoint"] as const
const optional = [
  "revocation_endpoint",
  "introspection_endpoint",
  "device_authorization_endpoint",
  "jwks_uri"
] as const

/** Why an endpoint is not safe to use. */
const unsafe = (endpoint: string, { loopback }: Policy): AuthError.InsecureServer | undefined => {
  const url = URL.parse(endpoint)
  const insecure = (why: "scheme" | "address", detail: string) =>
    new AuthError.InsecureServer({ url: addressOf(endpoint), why, detail })
  if (url === null) return insecure("scheme", "it is no URL")
  if (!isSecure(url)) return insecure("scheme", "it is not https")
  return isLoopback(url) && !loopback ? insecure("address", "its address is loopback") : undefined
}

/** Endpoints that a login needs have to be safe; one that is not and can be done without is taken for absent. */
const checked = (metadata: Metadata, policy: Policy): Result.Result<Metadata, AuthError.InsecureServer> => {
  for (const name of needed) {
    const endpoint = metadata[name]
    const why = endpoint === undefined ? undefined : unsafe(endpoint, policy)
    if (why !== undefined) return Result.fail(why)
  }
  const kept: Record<string, unknown> = { ...metadata }
  for (const name of optional) {
    const endpoint = metadata[name]
    if (endpoint !== undefined && unsafe(endpoint, policy) !== undefined) delete kept[name]
  }
  return Result.succeed({ ...kept, issuer: metadata.issuer })
}

/** The metadata of an authorization server, with endpoints that are safe to use; nothing where no address has them. */
const serverOf = Effect.fnUntraced(function*(
  options: Options,
  search: MetadataSearch,
  issuers: readonly [string, ...Array<string>],
  hint: Hint
): Effect.fn.Return<Metadata | undefined, AuthError.AuthError> {
  const { policy, trustIssuer } = options
  const metadata = yield* search.issuer(issuers, { trustIssuer, headersFor: versionFor(options, hint) })
  if (metadata === undefined) return undefined
  const safe = checked(metadata, policy)
  return Result.isSuccess(safe) ? safe.success : yield* AuthError.fail(safe.failure)
})

/** An authorization server by its issuer. */
export const byIssuer = Effect.fnUntraced(function*(
  options: Options,
  issuer: string
): Effect.fn.Return<AuthorizationServer, AuthError.AuthError> {
  const search = new MetadataSearch(options.outbound)
  const metadata = yield* serverOf(options, search, [issuer], {})
  if (metadata === undefined) return yield* search.end("authorization server")
  return { issuer: metadata.issuer, metadata, found: "resource" }
})

/**
 * A server of 2025-03-26 is its own authorization server: with metadata at its origin, else with the default endpoints
 * there (ACL-06). Those are guessed only where every address said that it has nothing, and no challenge spoke of metadata.
 */
const atOrigin = Effect.fnUntraced(function*(
  options: Options,
  search: MetadataSearch,
  hint: Hint
): Effect.fn.Return<AuthorizationServer, AuthError.AuthError> {
  const { origin } = options.url
  const metadata = yield* serverOf(options, search, [origin, `${origin}/`], hint)
  if (metadata !== undefined) return { issuer: metadata.issuer, metadata, found: "origin" }
  const isSilent = search.mismatch === undefined && search.insecure === undefined && search.later === undefined
  return isSilent && hint.resourceMetadata === undefined
    ? { issuer: origin, metadata: Discovery.defaultMetadata(origin), found: "defaults" }
    : yield* search.end("protected resource")
})

/** A server and the way to tokens for it, with all that was asked in vain. */
export interface Discovered extends Discovery.Found {
  /** What the server calls the issuer, where it is another name than its own. */
  readonly named: string | undefined
  readonly attempts: ReadonlyArray<AuthError.Attempt>
}

/** The whole way from a server to its authorization server (ACL-01). */
export const discover = Effect.fnUntraced(function*(
  options: Options,
  hint: Hint
): Effect.fn.Return<Discovered, AuthError.AuthError> {
  const search = new MetadataSearch(options.outbound)
  const found = yield* resourceOf(options, search, hint)
  if (found === undefined) {
    const server = yield* atOrigin(options, search, hint)
    const resource = Discovery.canonicalResource(options.url)
    return { resource, server, named: undefined, scopes: undefined, metadataUrl: undefined, attempts: search.attempts }
  }
  const { address, metadata } = found
  const { authorization_servers: servers = [], resource, scopes_supported: scopes } = metadata
  const [first] = servers
  const common = { resource, scopes: scopes?.length === 0 ? undefined : scopes, metadataUrl: address }
  // Metadata that name none are those of a server that is its own.
  if (first === undefined) {
    const server = yield* atOrigin(options, search, { ...hint, resourceMetadata: address })
    return { ...common, server, named: undefined, attempts: search.attempts }
  }
  const chosen = options.chooseServer === undefined ? first : options.chooseServer(servers)
  if (chosen === undefined || !servers.includes(chosen)) {
    const choice = chosen === undefined ? "nothing" : quoted(chosen)
    return yield* misconfigured(
      `chooseServer chose ${choice} of the authorization servers of ${resource}: ${quotedAll(servers)}`
    )
  }
  const issued = yield* serverOf(options, search, [chosen], hint)
  if (issued === undefined) return yield* search.end("authorization server")
  const server: AuthorizationServer = { issuer: issued.issuer, metadata: issued, found: "resource" }
  const named = chosen === issued.issuer ? undefined : chosen
  return { ...common, server, named, attempts: search.attempts }
})

/** The error of a login at endpoints that were only guessed: there was nothing, and this is what was looked at. */
export const guessed = (found: Discovered, error: AuthError.AuthError): AuthError.AuthError => {
  const { reason } = error
  if (found.server.found !== "defaults") return error
  const url = found.server.metadata.registration_endpoint ?? found.server.issuer
  const isNothing = reason._tag === "RegistrationRefused" && reason.error === undefined
  return isNothing
    ? new AuthError.AuthError({
      reason: new AuthError.DiscoveryFailed({
        what: "authorization server",
        attempts: [...found.attempts, { url, outcome: `status ${reason.status}` }]
      })
    })
    : error
}

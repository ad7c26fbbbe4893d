/** Asks the addresses of `Discovery`, one after the other, and judges what they answer. */
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Result from "effect/Result"
import * as AuthError from "../AuthError.ts"
import type { AuthorizationServer, Metadata } from "../AuthorizationServer.ts"
import * as Discovery from "../Discovery.ts"
import type { Policy } from "../OutboundGuard.ts"
import { classifyHost } from "./addresses.ts"
import type { Answer, Outbound } from "./outbound.ts"
import { tidy } from "./serverText.ts"

export interface Options {
  readonly outbound: Outbound
  readonly policy: Policy
  /** The server that is to be reached. */
  readonly url: URL
  /** Which of the servers to log in at; the first by default. */
  readonly chooseServer?: ((issuers: ReadonlyArray<string>) => string | undefined) | undefined
  /** Whether metadata of a server may name another issuer than the one it is known by. */
  readonly trustIssuer?: ((named: string, found: string) => boolean) | undefined
}

/** What is known of the server before the search. */
export interface Hint {
  /** The address that its challenge named (RFC 9728, 5.1). */
  readonly resourceMetadata?: string | undefined
  /** The revision that is spoken, where one is. */
  readonly protocolVersion?: string | undefined
}

type Found<A> = Effect.Effect<A, AuthError.AuthError>

/** The search so far. */
class Search {
  readonly attempts: Array<AuthError.Attempt> = []
  /** Whether something did not answer that may do so later. */
  passing = false
  insecure: AuthError.InsecureServer | undefined = undefined
  mismatch: AuthError.IssuerMismatch | undefined = undefined

  note(url: string, outcome: string): undefined {
    this.attempts.push({ url: addressOf(url), outcome })
  }

  /** What went wrong at one address is written down, whatever it was (field AUT-04). */
  failed(url: string, { message, reason }: AuthError.AuthError): undefined {
    if (reason._tag === "InsecureServer") this.insecure ??= reason
    this.passing ||= reason._tag === "Unavailable"
    const said = "detail" in reason ? reason.detail : message
    this.note(url, reason._tag === "InsecureServer" ? `not safe: ${said}` : said)
  }

  answered(url: string, status: number): undefined {
    this.passing ||= status >= 500 || status === 429 || status === 408
    this.note(url, `status ${status}`)
  }

  end(what: AuthError.DiscoveryFailed["what"]): Found<never> {
    const reason = this.mismatch ?? this.insecure ?? new AuthError.DiscoveryFailed({ what, attempts: this.attempts })
    return AuthError.fail(reason)
  }
}

const addressOf = (url: string): string => {
  const parsed = Result.try(() => new URL(url))
  return shown(Result.isSuccess(parsed) ? parsed.success.origin + parsed.success.pathname : url.replace(/[?#].*$/s, ""))
}

/** What a server calls something, as errors show it. */
const shown = (name: string): string => tidy(name, [], 400) ?? ""

const headers = { accept: "application/json" }

/** One address: what its answer reads as, or nothing, with the reason noted. */
const look = <A>(
  { outbound, url }: Options,
  search: Search,
  address: string,
  read: (text: string) => Result.Result<A, string>,
  hint: Hint
): Effect.Effect<A | undefined> => {
  // Only the server itself is told what is spoken to it (ACL-06, field AUT-22).
  const isOwn = address === url.origin || address.startsWith(`${url.origin}/`)
  const version = isOwn ? { "mcp-protocol-version": hint.protocolVersion ?? "2025-03-26" } : undefined
  const request = HttpClientRequest.get(address, { headers: { ...headers, ...version } })
  return Effect.match(outbound.send(request), {
    onFailure: (error) => search.failed(address, error),
    onSuccess: ({ body, status }: Answer) => {
      if (status < 200 || status > 299) return search.answered(address, status)
      const value = read(body)
      return Result.isSuccess(value) ? value.success : search.note(address, value.failure)
    }
  })
}

/** The metadata of the server, or nothing where it has none. A server that speaks for another one is not asked further. */
const resourceOf = Effect.fnUntraced(function*(options: Options, search: Search, hint: Hint) {
  const { url } = options
  for (const address of Discovery.resourceAddresses(url, hint.resourceMetadata)) {
    const metadata = yield* look(options, search, address, Discovery.decodeResource, hint)
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
  const url = Result.getOrUndefined(Result.try(() => new URL(endpoint)))
  const local = url !== undefined && classifyHost(url.hostname) === "loopback"
  const insecure = (why: "scheme" | "address", detail: string) =>
    new AuthError.InsecureServer({ url: addressOf(endpoint), why, detail })
  if (url === undefined) return insecure("scheme", "it is no URL")
  if (url.protocol !== "https:" && !(url.protocol === "http:" && local)) return insecure("scheme", "it is not https")
  return local && !loopback ? insecure("address", "its address is loopback") : undefined
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

/** The metadata of an authorization server that is known as one of these issuers, all of the same addresses. */
const metadataOf = Effect.fnUntraced(function*(
  options: Options,
  search: Search,
  issuers: readonly [string, ...Array<string>],
  hint: Hint
) {
  const [issuer] = issuers
  const addresses = Discovery.serverAddresses(issuer)
  if (addresses.length === 0) search.note(issuer, "no issuer: it has to be a URL without query and fragment")
  for (const address of addresses) {
    const metadata = yield* look(options, search, address, Discovery.decodeServer, hint)
    if (metadata === undefined) continue
    const found = metadata.issuer
    if (!issuers.includes(found) && options.trustIssuer?.(issuer, found) !== true) {
      const names = { expected: shown(issuer), found: shown(found) }
      search.mismatch ??= new AuthError.IssuerMismatch({ url: addressOf(address), ...names })
      search.note(address, `names the issuer ${names.found}`)
      continue
    }
    const safe = checked(metadata, options.policy)
    if (Result.isFailure(safe)) return yield* AuthError.fail(safe.failure)
    return safe.success
  }
  return undefined
})

/** An authorization server by its issuer. */
export const byIssuer = Effect.fnUntraced(function*(
  options: Options,
  issuer: string
): Effect.fn.Return<AuthorizationServer, AuthError.AuthError> {
  const search = new Search()
  const metadata = yield* metadataOf(options, search, [issuer], {})
  if (metadata === undefined) return yield* search.end("authorization server")
  return { issuer: metadata.issuer, metadata, found: "resource" }
})

/**
 * A server of 2025-03-26 is its own authorization server: with metadata at its origin, else with the default endpoints
 * there (ACL-06). Those are guessed only where every address said that it has nothing, and no challenge spoke of metadata.
 */
const atOrigin = Effect.fnUntraced(function*(
  options: Options,
  search: Search,
  hint: Hint
): Effect.fn.Return<AuthorizationServer, AuthError.AuthError> {
  const { origin } = options.url
  const metadata = yield* metadataOf(options, search, [origin, `${origin}/`], hint)
  if (metadata !== undefined) return { issuer: metadata.issuer, metadata, found: "origin" }
  const isSilent = search.mismatch === undefined && search.insecure === undefined && !search.passing
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
  const search = new Search()
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
    const detail = `none of the authorization servers of ${resource} is chosen`
    return yield* AuthError.fail(new AuthError.Misconfigured({ detail }))
  }
  const issued = yield* metadataOf(options, search, [chosen], hint)
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

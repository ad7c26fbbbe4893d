/**
 * Which addresses may be fetched on the word of a server: metadata, keys, documents of clients (SEC-05).
 *
 * The default looks at what a URL says: addresses in any spelling, and names that are local by definition. It cannot know
 * where other names lead; `OutboundGuardNode` of `@mcpfx/node` looks them up, and a server that fetches for others should
 * use it.
 *
 * **Example** (What an address is)
 *
 * ```ts
 * import { OutboundGuard } from "@mcpfx/auth"
 *
 * OutboundGuard.classify("169.254.169.254") // => "link-local"
 * OutboundGuard.classify("::ffff:10.0.0.1") // => "private"
 * OutboundGuard.classifyHost(new URL("https://0x7f.1/").hostname) // => "loopback"
 * ```
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { AuthError, InsecureServer } from "./AuthError.ts"
import * as addresses from "./internal/addresses.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Policy {
  /** Whether the loopback interface may be reached, over http too: only where what sent us there is on it itself. */
  readonly loopback: boolean
}

/**
 * Gives the HTTP client through which addresses may be fetched under a policy. What may not be fetched fails with an
 * `HttpClientError` whose cause is an `AuthError` of reason `InsecureServer`.
 *
 * @category models
 * @since 0.1.0
 */
export interface OutboundGuard {
  readonly guard: (client: HttpClient.HttpClient, policy: Policy) => HttpClient.HttpClient
}

/**
 * What kind of place an address leads to. Only `public` may be fetched unless an option opens more:
 *
 * - `loopback`: this machine
 * - `private`: somebody's own network, with the shared space of carriers (100.64.0.0/10); names without a dot,
 *   `*.internal` and `*.home.arpa`
 * - `link-local`: the same cable, with the metadata services of clouds (169.254.169.254); `*.local`
 * - `unspecified`: `0.0.0.0/8` and `::`, which many systems take for this machine
 * - `multicast`, `documentation`, and `reserved` for every other special purpose
 *
 * @category models
 * @since 0.1.0
 */
export type AddressClass = addresses.AddressClass

/**
 * The kind of an IPv4 address in decimal or an IPv6 address; `undefined` for what is neither. An address that carries an
 * IPv4 address (mapped, compatible, 6to4, Teredo, NAT64) is of the kind of that one.
 *
 * @category getters
 * @since 0.1.0
 */
export const classify: (address: string) => AddressClass | undefined = addresses.classify

/**
 * The kind of a host as `URL.hostname` gives it, which has brought every spelling of an address to one; `undefined` for a
 * name whose kind depends on where it leads.
 *
 * @category getters
 * @since 0.1.0
 */
export const classifyHost: (hostname: string) => AddressClass | undefined = addresses.classifyHost

/**
 * What may be fetched beyond public addresses.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Kinds of addresses to open, such as `["private"]` for a company's own login. None by default. */
  readonly allow?: ReadonlyArray<AddressClass> | undefined
  /** Hosts to open whatever they lead to: names or addresses, exactly. None by default. */
  readonly hosts?: ReadonlyArray<string> | undefined
}

/**
 * Whether a kind of address may be fetched.
 *
 * @category predicates
 * @since 0.1.0
 */
export const allows = (kind: AddressClass, policy: Policy, options?: Options): boolean =>
  kind === "public" || (kind === "loopback" && policy.loopback) || (options?.allow?.includes(kind) ?? false)

/**
 * Whether a host is one of those that are open whatever they lead to.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isOpenHost = (hostname: string, options?: Options): boolean => {
  const host = addresses.bareHost(hostname)
  return options?.hosts?.some((open) => addresses.bareHost(open) === host) ?? false
}

/**
 * The failure of a request that may not be sent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refusal = (
  request: HttpClientRequest.HttpClientRequest,
  detail: string
): HttpClientError.HttpClientError => {
  const url = Option.match(HttpClientRequest.toUrl(request), {
    onNone: () => "",
    onSome: ({ origin, pathname }) => origin + pathname
  })
  return new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({
      request,
      description: "the address is not to be fetched",
      cause: new AuthError({ reason: new InsecureServer({ url, why: "address", detail }) })
    })
  })
}

/**
 * Checks the host of a request by what it says: the kind of an address, and names that are local by definition.
 *
 * @category combinators
 * @since 0.1.0
 */
export const checkLiteral = (
  request: HttpClientRequest.HttpClientRequest,
  policy: Policy,
  options?: Options
): Effect.Effect<HttpClientRequest.HttpClientRequest, HttpClientError.HttpClientError> => {
  const url = HttpClientRequest.toUrl(request)
  if (Option.isNone(url)) return Effect.succeed(request) // The client itself refuses what is no URL.
  const kind = classifyHost(url.value.hostname)
  return kind === undefined || allows(kind, policy, options) || isOpenHost(url.value.hostname, options)
    ? Effect.succeed(request)
    : Effect.fail(refusal(request, `its address is ${kind}`))
}

/**
 * A guard that looks at what URLs say and at nothing else.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options?: Options): OutboundGuard => ({
  guard: (client, policy) => HttpClient.mapRequestEffect(client, (request) => checkLiteral(request, policy, options))
})

/**
 * The guard in force; by default one that looks at what URLs say.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentOutboundGuard: Context.Reference<OutboundGuard> = Context.Reference<OutboundGuard>(
  "@mcpfx/auth/CurrentOutboundGuard",
  { defaultValue: () => make() }
)

/**
 * The default guard with more open to it.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<never> => Layer.succeed(CurrentOutboundGuard, make(options))

/**
 * Who may talk to an HTTP endpoint at all: the checks of `Host` and `Origin` that keep other people's web pages away, and
 * the CORS headers for the pages that are welcome. Pure.
 *
 * Forwarded headers are never looked at: a proxy in front has to set `Host` itself, or `allowedHosts` is `"any"`.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as McpHeaders from "./McpHeaders.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /**
   * Host names the endpoint answers to, with a port where only that port is meant: `"mcp.example.com"`,
   * `"mcp.example.com:8443"`, `"[::1]"`. `"any"` switches the check off, for endpoints behind a proxy that checks or sets
   * the header. By default the names of the loopback interface, on any port; an empty list allows nothing.
   */
  readonly allowedHosts?: ReadonlyArray<string> | "any" | undefined
  /**
   * Web origins that may call: `"https://app.example.com"`. By default pages served from the loopback interface or from a
   * host of `allowedHosts`. `"any"` switches the check off. Requests without an `Origin` do not come from web pages and
   * pass.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | "any" | undefined
}

/**
 * A request that may not pass; always answered with 403 (HTTP-03).
 *
 * @category models
 * @since 0.1.0
 */
export interface Refusal {
  readonly header: "Host" | "Origin"
  readonly reason: "missing" | "malformed" | "not allowed"
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Guard {
  /** `undefined` for a request that may pass (HTTP-02). */
  readonly check: (host: string | undefined, origin: string | undefined) => Refusal | undefined
}

interface Authority {
  readonly name: string
  readonly port: string | undefined
}

const authority = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?)(?::([0-9]{1,5}))?$/
const loopback = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/
const originShape = /^([a-z][a-z0-9+.-]*):\/\/([^/?#@\s]+)$/
/** Accepted values are few and come again and again; refused ones are never remembered. */
const remembered = 256

const parseAuthority = (text: string): Authority | undefined => {
  const match = authority.exec(text.toLowerCase())
  const name = match?.[1]
  if (name === undefined) return undefined
  return { name: name.endsWith(".") ? name.slice(0, -1) : name, port: match?.[2] }
}

/** Origins as browsers write them: lower case, no path, no port where it is the default one. */
const normalizeOrigin = (text: string): string =>
  text.toLowerCase().replace(/\/$/, "").replace(/^(https:\/\/.*):443$|^(http:\/\/.*):80$/, "$1$2")

const hostRule = (allowed: ReadonlyArray<string> | "any" | undefined): (host: Authority) => boolean => {
  if (allowed === "any") return () => true
  if (allowed === undefined) return (host) => loopback.test(host.name)
  const entries = allowed.map(parseAuthority).filter((entry) => entry !== undefined)
  return (host) =>
    entries.some((entry) => entry.name === host.name && (entry.port === undefined || entry.port === host.port))
}

/**
 * Whether an endpoint answers to the names of the loopback interface alone: whoever calls it is on this machine.
 *
 * @category getters
 * @since 0.1.0
 */
export const isLocal = ({ allowedHosts }: Options): boolean => {
  if (allowedHosts === undefined) return true
  return allowedHosts !== "any" && allowedHosts.every((host) => {
    const name = parseAuthority(host)?.name
    return name === undefined || loopback.test(name)
  })
}

/**
 * Hears of every endpoint that is built with it: for servers that listen on more than the loopback interface, which an
 * endpoint without `allowedHosts` is not meant for. By default nobody listens.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentWatch = Context.Reference<((options: Options) => void) | undefined>(
  "@mcpfx/transport/Guard/CurrentWatch",
  { defaultValue: () => undefined }
)

/**
 * Tells whoever watches that an endpoint of these options is there.
 *
 * @category combinators
 * @since 0.1.0
 */
export const announce = (options: Options): Effect.Effect<void> => Effect.map(CurrentWatch, (watch) => watch?.(options))

const checkHost = (options: Options): (host: string | undefined) => Refusal | undefined => {
  if (options.allowedHosts === "any") return () => undefined
  const allows = hostRule(options.allowedHosts)
  return (host) => {
    if (host === undefined || host === "") return { header: "Host", reason: "missing" }
    const parsed = parseAuthority(host)
    if (parsed === undefined) return { header: "Host", reason: "malformed" }
    return allows(parsed) ? undefined : { header: "Host", reason: "not allowed" }
  }
}

const checkOrigin = (options: Options): (origin: string) => Refusal | undefined => {
  const allowed = options.allowedOrigins
  if (allowed === "any") return () => undefined
  const refused: Refusal = { header: "Origin", reason: "not allowed" }
  if (allowed !== undefined) {
    const listed = new Set(allowed.map(normalizeOrigin))
    return (origin) => listed.has(normalizeOrigin(origin)) ? undefined : refused
  }
  const hosts = hostRule(options.allowedHosts === "any" ? undefined : options.allowedHosts)
  return (origin) => {
    const match = originShape.exec(origin.toLowerCase())
    const host = match?.[2] === undefined ? undefined : parseAuthority(match[2])
    if (host === undefined) return { header: "Origin", reason: origin === "null" ? "not allowed" : "malformed" }
    const web = match?.[1] === "http" || match?.[1] === "https"
    return web && (loopback.test(host.name) || hosts(host)) ? undefined : refused
  }
}

const remembering = <A>(check: (value: A) => Refusal | undefined): (value: A) => Refusal | undefined => {
  const passed = new Set<A>()
  return (value) => {
    if (passed.has(value)) return undefined
    const refusal = check(value)
    if (refusal === undefined && passed.size < remembered) passed.add(value)
    return refusal
  }
}

/**
 * **Example** (A local endpoint)
 *
 * ```ts
 * import { Guard } from "@mcpfx/transport"
 *
 * const guard = Guard.make()
 * guard.check("127.0.0.1:3000", undefined) // => undefined
 * guard.check("127.0.0.1:3000", "https://evil.example") // => { header: "Origin", reason: "not allowed" }
 * guard.check("rebind.example:3000", undefined) // => { header: "Host", reason: "not allowed" }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Guard => {
  const host = remembering(checkHost(options))
  const origin = remembering(checkOrigin(options))
  return { check: (h, o) => host(h) ?? (o === undefined ? undefined : origin(o)) }
}

/**
 * What to tell the peer; names the header, never its value.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = (refusal: Refusal): string => `Header ${refusal.header} is ${refusal.reason}`

const requestHeaders = [
  "accept",
  "authorization",
  "content-type",
  "dpop",
  McpHeaders.names.lastEventId,
  McpHeaders.names.method,
  McpHeaders.names.name,
  McpHeaders.names.protocolVersion,
  McpHeaders.names.sessionId
]

/**
 * The CORS headers of every answer to an origin that passed: without them a page cannot read the answer, not even a 401.
 *
 * @category cors
 * @since 0.1.0
 */
export const corsHeaders = (origin: string): Record<string, string> => ({
  "access-control-allow-origin": origin,
  "access-control-expose-headers": `${McpHeaders.names.sessionId}, www-authenticate, retry-after, dpop-nonce`,
  vary: "Origin"
})

/** Header names of a preflight that are `Mcp-Param-*`: they cannot be listed in advance. */
const requestedParams = (headers: Headers.Headers): ReadonlyArray<string> =>
  (headers["access-control-request-headers"] ?? "").toLowerCase().split(",").map((name) => name.trim())
    .filter((name) => name.startsWith(McpHeaders.paramPrefix) && /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name))

/**
 * The answer to a preflight, before any other check (HTP-22 of field practice).
 *
 * @category cors
 * @since 0.1.0
 */
export const preflightHeaders = (origin: string, headers: Headers.Headers): Record<string, string> => ({
  ...corsHeaders(origin),
  "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
  "access-control-allow-headers": [...requestHeaders, ...requestedParams(headers)].join(", "),
  "access-control-max-age": "7200",
  // Browsers ask this before a page of a public site may reach a server on the user's own machine.
  ...(headers["access-control-request-private-network"] === "true"
    ? { "access-control-allow-private-network": "true" }
    : undefined),
  vary: "Origin, Access-Control-Request-Headers"
})

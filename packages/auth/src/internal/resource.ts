/** What the server is called by those who ask for tokens (RFC 8707, RFC 9728), and where its metadata are. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as WellKnown from "./wellKnown.ts"

export interface Resource {
  /** The canonical address: what tokens are asked for, to the letter. */
  readonly url: string
  readonly metadataUrl: string
  /** The names under which a token may be for this server. */
  readonly names: ReadonlyArray<string>
}

/** The path of a resource, empty for the root. */
export const pathOf = (url: string): string => WellKnown.pathOf(new URL(url))

/** Whether a text can name a resource: an absolute http address with no query and no fragment (RFC 8707, 2). */
export const isResource = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed !== null && /^https?:\/\/[\x21-\x7e]+$/i.test(url) && !/[?#\\"]/.test(url) &&
    parsed.username === "" && parsed.password === ""
}

/** Why a text cannot name a resource; the program may name none. */
export const fault = (url: string | undefined): string | undefined =>
  url === undefined || isResource(url)
    ? undefined
    : `${url} cannot be the address of a resource: it has to be an absolute URL with no query and no fragment`

export const make = (url: string, audience: ReadonlyArray<string>): Resource => ({
  url,
  metadataUrl: `${new URL(url).origin}${WellKnown.protectedResource}${pathOf(url)}`,
  names: [url, ...audience]
})

/** Names of the loopback interface: whoever is told of one can only come back to this machine. */
const loopback = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i

/** Web requests have no `Host` header on some platforms, but their URL has the host. */
const hostOf = (request: HttpServerRequest.HttpServerRequest): string | undefined =>
  request.headers["host"] ?? /^[a-z]+:\/\/([^/?#]*)/i.exec(request.originalUrl)?.[1]

/** Hosts that are remembered; there are few, but ports are many. */
const maxHosts = 64

/**
 * Finds the resource that a request is for: the one that the program names. Where it names none, that is made of the `Host`
 * header, which anybody can write: so only of names of the loopback interface (`undefined` for others).
 */
export const locate = (
  named: string | undefined,
  path: string,
  audience: ReadonlyArray<string>
): (request: HttpServerRequest.HttpServerRequest) => Resource | undefined => {
  if (named !== undefined) {
    const resource = make(named, audience)
    return () => resource
  }
  const known = new Map<string, Resource>()
  return (request) => {
    const host = hostOf(request)
    if (host === undefined || !loopback.test(host)) return undefined
    const origin = `${request.protocol ?? "http"}://${host.toLowerCase()}`
    const found = known.get(origin)
    if (found !== undefined) return found
    const resource = make(`${origin}${path === "/" ? "" : path}`, audience)
    if (known.size < maxHosts) known.set(origin, resource)
    return resource
  }
}

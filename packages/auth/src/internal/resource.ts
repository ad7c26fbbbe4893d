/** What the server is called by those who ask for tokens (RFC 8707, RFC 9728), and where its metadata are. */
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import { quoted } from "./quoted.ts"
import { isSecure } from "./secureUrl.ts"
import * as WellKnown from "./wellKnown.ts"

export interface Resource {
  /** The canonical address: what tokens are asked for, to the letter. */
  readonly url: string
  /** `undefined` where there are none: nobody can log in for it. */
  readonly metadataUrl: string | undefined
  /** The names under which a token may be for this server. */
  readonly names: ReadonlyArray<string>
}

/** What is known of each resource of a server. */
export interface Naming {
  /** More names under which a token may be for it. */
  readonly audience?: ReadonlyArray<string>
  /** Whether it has metadata. Default true. */
  readonly described?: boolean
}

/** The path of a resource, empty for the root. */
export const pathOf = (url: string): string => WellKnown.pathOf(new URL(url))

/**
 * Whether a text can name a resource: an absolute https address with no query and no fragment (RFC 8707, 2). Clients refuse
 * http elsewhere than on the loopback interface, where tokens could be read on their way.
 */
export const isResource = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed !== null && /^https?:\/\/[\x21-\x7e]+$/i.test(url) && !/[?#\\"]/.test(url) &&
    parsed.username === "" && parsed.password === "" && isSecure(parsed)
}

/** Why a text cannot name a resource; the program may name none. */
export const fault = (url: string | undefined): string | undefined =>
  url === undefined || isResource(url)
    ? undefined
    : `resource: ${
      quoted(url)
    } cannot be the address of a server: it has to be an absolute https URL (http on the loopback ` +
      "interface alone) with no query, no fragment and no user"

export const make = (url: string, { audience = [], described = true }: Naming): Resource => ({
  url,
  metadataUrl: described ? `${new URL(url).origin}${WellKnown.protectedResource}${pathOf(url)}` : undefined,
  names: [url, ...audience]
})

/** Names of the loopback interface: whoever is told of one can only come back to this machine. */
const loopback = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i

/** Web requests have no `Host` header on some platforms, but their URL has the host. */
const hostOf = (request: HttpServerRequest.HttpServerRequest): string | undefined =>
  request.headers["host"] ?? /^[a-z]+:\/\/([^/?#]*)/i.exec(request.originalUrl)?.[1]

/** For the log: why a request was refused whose `Host` names no resource. */
export const unknownHost = (request: HttpServerRequest.HttpServerRequest): string => {
  const host = hostOf(request)
  return `A request ${
    host === undefined ? "without a host" : `for the host ${quoted(host)}`
  } was refused: without the option ` +
    "resource a protected server answers to names of the loopback interface alone"
}

const origin = /^[a-z]+:\/\/[^/?#]*/i

/** The path that a client asked for, whatever router it is mounted in. */
const askedPath = (request: HttpServerRequest.HttpServerRequest): string =>
  request.originalUrl.replace(origin, "").replace(/[?#].*$/s, "")

/**
 * For the log: why clients will not log in that ask for this path, if they will not. They compare it with the resource, which
 * has to be the same or above it.
 */
export const misplaced = (request: HttpServerRequest.HttpServerRequest, { url }: Resource): string | undefined => {
  const own = pathOf(url)
  const path = askedPath(request)
  return path === own || path.startsWith(`${own}/`) ? undefined : (
    `A request came for the path ${quoted(path)}, and the resource is ${
      quoted(url)
    }: clients that compare them do not log in. ` +
    "Give path to both the server and its protection, or the whole address as resource, unless a proxy changes paths"
  )
}

/** Hosts that are remembered; there are few, but ports are many. */
const maxHosts = 64

/**
 * Finds the resource that a request is for: the one that the program names. Where it names none, that is made of the `Host`
 * header, which anybody can write: so only of names of the loopback interface (`undefined` for others).
 */
export const locate = (
  named: string | undefined,
  path: string,
  naming: Naming
): (request: HttpServerRequest.HttpServerRequest) => Resource | undefined => {
  if (named !== undefined) {
    const resource = make(named, naming)
    return () => resource
  }
  const known = new Map<string, Resource>()
  return (request) => {
    const host = hostOf(request)
    if (host === undefined || !loopback.test(host)) return undefined
    const origin = `${request.protocol ?? "http"}://${host.toLowerCase()}`
    const found = known.get(origin)
    if (found !== undefined) return found
    const resource = make(`${origin}${path === "/" ? "" : path}`, naming)
    if (known.size < maxHosts) known.set(origin, resource)
    return resource
  }
}

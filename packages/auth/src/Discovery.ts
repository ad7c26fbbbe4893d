/**
 * Where a client learns how to get in: which addresses describe a server and its authorization server, in which order they
 * are asked, and what of the answers may be believed.
 *
 * The rules are pure; `OAuthClient` runs them. One address that fails never ends the search (field AUT-04), and what is read
 * is believed only if it speaks of what was asked for: the resource of the server (field AUT-02), the issuer to the letter
 * (ACL-05).
 *
 * **Example** (Where an issuer with a path may describe itself)
 *
 * ```ts
 * import { Discovery } from "@mcpfx/auth"
 *
 * Discovery.serverAddresses("https://idp.example/t1").map((url) => new URL(url).pathname)
 * // => ["/.well-known/oauth-authorization-server/t1", "/.well-known/openid-configuration/t1", "/t1/.well-known/openid-configuration"]
 * ```
 *
 * @since 0.1.0
 */
import * as Arr from "effect/Array"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AuthorizationServer from "./AuthorizationServer.ts"
import { isMembers, member, parseJson } from "./internal/members.ts"
import * as WellKnown from "./internal/wellKnown.ts"

/**
 * What of a server's protected resource metadata (RFC 9728) a client needs.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceMetadata = Schema.Struct({
  /** Sent as `resource` to the letter (ACL-16, field AUT-01). */
  resource: Schema.String,
  authorization_servers: Schema.optionalKey(Schema.Array(Schema.String)),
  scopes_supported: Schema.optionalKey(Schema.Array(Schema.String)),
  resource_name: Schema.optionalKey(Schema.String)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ResourceMetadata extends Schema.Schema.Type<typeof ResourceMetadata> {}

/**
 * A server and the way to tokens for it, as they were found.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  /** What is sent as `resource`. */
  readonly resource: string
  readonly server: AuthorizationServer.AuthorizationServer
  /** What the server's metadata list; `undefined` where they list none. */
  readonly scopes: ReadonlyArray<string> | undefined
  /** Where the metadata of the resource were. */
  readonly metadataUrl: string | undefined
}

/**
 * Where the metadata of a server may be: at the address its challenge names, at the well-known one with its path, at the
 * root (ACL-02). What is no URL is left out.
 *
 * @category getters
 * @since 0.1.0
 */
export const resourceAddresses = (server: URL, named?: string): ReadonlyArray<string> => {
  const address = named === undefined ? null : URL.parse(named)
  const { origin } = server
  const known = [
    `${origin}${WellKnown.protectedResource}${WellKnown.pathOf(server)}`,
    `${origin}${WellKnown.protectedResource}`
  ]
  return Arr.dedupe(address === null ? known : [address.href, ...known])
}

/**
 * Where the metadata of an authorization server may be, in the order to ask (ACL-04, field AUT-03); nowhere for what is no
 * issuer: an address with a query or a fragment (RFC 8414, 2).
 *
 * @category getters
 * @since 0.1.0
 */
export const serverAddresses = (issuer: string): ReadonlyArray<string> => {
  const url = URL.parse(issuer)
  if (url === null || url.search !== "" || url.hash !== "") return []
  const { origin } = url
  const path = WellKnown.pathOf(url)
  return path === ""
    ? [`${origin}${WellKnown.authorizationServer}`, `${origin}${WellKnown.openIdConfiguration}`]
    : [
      `${origin}${WellKnown.authorizationServer}${path}`,
      `${origin}${WellKnown.openIdConfiguration}${path}`,
      `${origin}${path}${WellKnown.openIdConfiguration}`
    ]
}

/**
 * Whether metadata for `resource` are those of a server: the same origin, and a path that is the server's or ends before it
 * at the border of a segment (field AUT-02). Queries say nothing; an address with a fragment is no resource (ACL-17).
 *
 * @category predicates
 * @since 0.1.0
 */
export const covers = (resource: string, server: URL): boolean => {
  const url = URL.parse(resource)
  if (url === null || url.hash !== "" || resource.endsWith("#") || url.origin !== server.origin) return false
  const path = WellKnown.pathOf(url)
  const asked = WellKnown.pathOf(server)
  return asked === path || asked.startsWith(`${path}/`)
}

/**
 * How a server is named as a resource where it does not say: without fragment, query and a slash at the end that means
 * nothing (ACL-16, ACL-17).
 *
 * @category getters
 * @since 0.1.0
 */
export const canonicalResource = (server: URL): string =>
  server.pathname === "/" ? server.origin : server.origin + server.pathname

/** `null` and `""` are written for what is not there (field AUT-18), and lists hold what is none of theirs. */
const tidied = (value: unknown): unknown => {
  if (value === null || value === "") return undefined
  if (!Array.isArray(value)) return value
  const members: ReadonlyArray<unknown> = value
  return members.filter((member) => Predicate.isString(member) && member !== "")
}

/** The members of a JSON object that a schema knows, each the object's own: nothing comes from a prototype. */
const members = (text: string, fields: Readonly<Record<string, Schema.Constraint>>): Result.Result<object, string> => {
  const object = parseJson(text)
  if (!isMembers(object)) return Result.fail("no JSON object")
  const known: Array<readonly [string, unknown]> = []
  for (const name of Object.keys(fields)) {
    const value = tidied(member(object, name))
    if (value !== undefined) known.push([name, value])
  }
  return Result.succeed(Object.fromEntries(known))
}

const decodeResourceMembers = Schema.decodeUnknownResult(ResourceMetadata)
const decodeServerMembers = Schema.decodeUnknownResult(AuthorizationServer.Metadata)

/**
 * Reads protected resource metadata, or says in a few words what is wrong with them.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeResource = (text: string): Result.Result<ResourceMetadata, string> => {
  const known = members(text, ResourceMetadata.fields)
  if (Result.isFailure(known)) return Result.fail(known.failure)
  if (!("resource" in known.success)) return Result.fail("no resource in it")
  return Result.mapError(decodeResourceMembers(known.success), () => "a member of the wrong type")
}

/**
 * Reads the metadata of an authorization server, or says in a few words what is wrong with them.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeServer = (text: string): Result.Result<AuthorizationServer.Metadata, string> => {
  const known = members(text, AuthorizationServer.Metadata.fields)
  if (Result.isFailure(known)) return Result.fail(known.failure)
  if (!("issuer" in known.success)) return Result.fail("no issuer in it")
  return Result.mapError(decodeServerMembers(known.success), () => "a member of the wrong type")
}

/**
 * What a server of 2025-03-26 without metadata has at its origin (ACL-06).
 *
 * @category constructors
 * @since 0.1.0
 */
export const defaultMetadata = (origin: string): AuthorizationServer.Metadata => ({
  issuer: origin,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  registration_endpoint: `${origin}/register`
})

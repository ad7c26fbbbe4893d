/**
 * What a protected server says of itself, for clients that want in: which authorization servers it trusts, and what scopes
 * there are (RFC 9728, ARS-02).
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import type * as AuthError from "./AuthError.ts"
import * as IssuerMetadata from "./internal/issuerMetadata.ts"
import { millis } from "./internal/millis.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import { Notice } from "./internal/notice.ts"
import * as Resource from "./internal/resource.ts"
import { offered, scopeFault } from "./internal/scopeRules.ts"
import * as WellKnown from "./internal/wellKnown.ts"
import { TokenVerifier } from "./TokenVerifier.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Description {
  /** The scopes that basic use needs, which is not all there are (SEC-12). `offline_access` is left out (ARS-10). */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** A name for people. */
  readonly name?: string | undefined
  /** A page for developers. */
  readonly documentation?: string | undefined
  /** A page on what may be done with the data. */
  readonly policy?: string | undefined
  readonly termsOfService?: string | undefined
  /** Where tokens are bound to keys (RFC 9449): the algorithms of proofs, and whether every token has to be. */
  readonly dpop?: { readonly algorithms: ReadonlyArray<string>; readonly required: boolean } | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Options extends Description {
  /**
   * The address of the server as clients know it: `https://mcp.example.com/mcp`. Left out, it is made of the `Host` header
   * and `path`, for names of the loopback interface alone; requests for any other host are refused then.
   */
  readonly resource?: string | undefined
  /** Where the server lives, if there is no `resource`. Default `/mcp`. */
  readonly path?: `/${string}` | undefined
  /** Default the issuers of the verifier. There has to be one (ARS-02), at an https address. */
  readonly authorizationServers?: ReadonlyArray<string> | undefined
  /**
   * Whether the document is served at the root too, for clients that look there alone (ARS-04): true unless several resources
   * share an origin. Default true.
   */
  readonly root?: boolean | undefined
  /** For how long clients may keep the document (`Cache-Control`), in whole seconds. Default 1 hour. */
  readonly maxAge?: Duration.Input | undefined
}

/**
 * The metadata as they are written (RFC 9728, 2).
 *
 * @category models
 * @since 0.1.0
 */
export interface Document {
  readonly resource: string
  readonly authorization_servers: ReadonlyArray<string>
  readonly bearer_methods_supported: readonly ["header"]
  readonly scopes_supported?: ReadonlyArray<string>
  readonly resource_name?: string
  readonly resource_documentation?: string
  readonly resource_policy_uri?: string
  readonly resource_tos_uri?: string
  readonly dpop_signing_alg_values_supported?: ReadonlyArray<string>
  readonly dpop_bound_access_tokens_required?: boolean
}

/**
 * Writes the metadata of one resource.
 *
 * **Example** (What a client reads)
 *
 * ```ts
 * import { ProtectedResource } from "@mcpfx/auth"
 *
 * const document = ProtectedResource.document("https://mcp.example.com/mcp", ["https://login.example.com"], {
 *   scopes: ["notes:read", "offline_access"]
 * })
 * document.scopes_supported // => ["notes:read"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const document = (
  resource: string,
  authorizationServers: ReadonlyArray<string>,
  description: Description = {}
): Document => {
  const { documentation, dpop, name, policy, scopes, termsOfService } = description
  return {
    resource,
    authorization_servers: authorizationServers,
    bearer_methods_supported: ["header"],
    ...(scopes === undefined ? undefined : { scopes_supported: offered(scopes) }),
    ...(name === undefined ? undefined : { resource_name: name }),
    ...(documentation === undefined ? undefined : { resource_documentation: documentation }),
    ...(policy === undefined ? undefined : { resource_policy_uri: policy }),
    ...(termsOfService === undefined ? undefined : { resource_tos_uri: termsOfService }),
    ...(dpop === undefined ? undefined : {
      dpop_signing_alg_values_supported: dpop.algorithms,
      ...(dpop.required ? { dpop_bound_access_tokens_required: true } : undefined)
    })
  }
}

const allow = "GET, HEAD, OPTIONS"

/** The document is for everybody, and holds nothing that a page may not read. */
const open = { "access-control-allow-origin": "*" }

const preflight = HttpServerResponse.empty({
  status: 204,
  headers: {
    ...open,
    allow,
    "access-control-allow-methods": allow,
    "access-control-allow-headers": "*",
    "access-control-max-age": "7200"
  }
})

const notAllowed = HttpServerResponse.empty({ status: 405, headers: { ...open, allow } })
const unknownHost = HttpServerResponse.empty({ status: 404, headers: open })

type App = Effect.Effect<HttpServerResponse.HttpServerResponse, never, HttpServerRequest.HttpServerRequest>

const serve = (text: (request: HttpServerRequest.HttpServerRequest) => string | undefined, cache: string): App => {
  const strangers = new Notice()
  return Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
    if (request.method === "OPTIONS") return Effect.succeed(preflight)
    if (request.method !== "GET" && request.method !== "HEAD") return Effect.succeed(notAllowed)
    const body = text(request)
    if (body === undefined) return Effect.as(strangers.say(Resource.unknownHost(request)), unknownHost)
    const headers = { ...open, "cache-control": cache }
    return Effect.succeed(HttpServerResponse.text(body, { contentType: "application/json", headers }))
  })
}

const faultOf = ({ resource, scopes }: Options, servers: ReadonlyArray<string>): string | undefined => {
  const fault = Resource.fault(resource) ?? scopeFault(scopes)
  if (fault !== undefined) return fault
  if (servers.length === 0) return "authorizationServers: there is none, and the verifier names no issuer"
  return servers.map((server) => IssuerMetadata.addressFault("authorizationServers", server)).find(
    Predicate.isNotUndefined
  )
}

/**
 * Serves the metadata at the well-known address of the resource, and at the root (ARS-04), to pages of any origin. It fails as
 * `Misconfigured` where there is nothing to tell: no authorization server, or an address that is none.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options = {}
): Layer.Layer<never, AuthError.AuthError, HttpRouter.HttpRouter | TokenVerifier> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const verifier = yield* TokenVerifier
    const servers = options.authorizationServers ?? verifier.issuers
    const detail = faultOf(options, servers)
    if (detail !== undefined) return yield* misconfigured(detail)
    const router = yield* HttpRouter.HttpRouter
    const { path = "/mcp", resource } = options
    const textOf = (url: string) => JSON.stringify(document(url, servers, options))
    const locate = Resource.locate(resource, path, {})
    const fixed = resource === undefined ? undefined : textOf(resource)
    const app = serve(
      (request) => {
        const found = fixed === undefined ? locate(request) : undefined
        return fixed ?? (found === undefined ? undefined : textOf(found.url))
      },
      fixed === undefined ? "no-store" : `public, max-age=${Math.floor(millis(options.maxAge, "1 hour") / 1000)}`
    )
    const own = resource === undefined ? path.replace(/\/$/, "") : Resource.pathOf(resource)
    yield* router.add("*", `${WellKnown.protectedResource}${own === "" ? "" : `/${own.slice(1)}`}`, app)
    if (own !== "" && options.root !== false) yield* router.add("*", WellKnown.protectedResource, app)
  }))

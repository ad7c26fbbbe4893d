/**
 * For clients of 2025-03-26, which know no protected resource metadata and take the server itself for the authorization
 * server (ARS-13): its metadata (RFC 8414) and the default endpoints at the origin, which lead to the real ones.
 *
 * Clients log in at the real authorization server all the same: `/authorize` redirects there, `/token` and `/register` pass
 * requests on. The address of the MCP server is added where a client does not say whom its token is for, so that the token
 * is good here and nowhere else (ARS-07). Nothing is served unless this layer is added. Clients that compare the issuer of an
 * answer (RFC 9207) are newer, and find the real authorization server by the metadata of the resource.
 *
 * **Example** (Beside the protected server)
 *
 * ```ts
 * import { LegacyAuthorization } from "@mcpfx/auth"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const Legacy = LegacyAuthorization.layer({
 *   resource: "https://mcp.example.com/mcp",
 *   issuer: "https://login.example.com"
 * }).pipe(Layer.provide(FetchHttpClient.layer))
 * Layer.isLayer(Legacy) // => true
 * ```
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type * as AuthError from "./AuthError.ts"
import { Fronting } from "./internal/fronting.ts"
import * as IssuerMetadata from "./internal/issuerMetadata.ts"
import { misconfigured } from "./internal/misconfigured.ts"
import * as Resource from "./internal/resource.ts"
import * as WellKnown from "./internal/wellKnown.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The address of the MCP server as clients know it. Its origin is what old clients take for the authorization server. */
  readonly resource: string
  /** The real authorization server; its metadata say where its endpoints are. */
  readonly issuer: string
  /** Bytes of the largest body that is passed on. Default 64 KiB. */
  readonly maxBodyBytes?: number | undefined
  /** How long a body may take to come, and an answer. Default 10 seconds each. */
  readonly timeout?: Duration.Input | undefined
}

/** The metadata of an origin have no path (2025-03-26, 2.3.2), and the endpoints are fixed (2.3.3). */
const paths = {
  metadata: WellKnown.authorizationServer,
  authorize: "/authorize",
  token: "/token",
  register: "/register"
} as const

/**
 * Serves the metadata and the three endpoints at the root of the router.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options: Options
): Layer.Layer<never, AuthError.AuthError, HttpRouter.HttpRouter | HttpClient.HttpClient> =>
  Layer.effectDiscard(Effect.gen(function*() {
    const { issuer, resource } = options
    const fault = IssuerMetadata.addressFault("issuer", issuer) ?? Resource.fault(resource)
    if (fault !== undefined) return yield* misconfigured(fault)
    const router = yield* HttpRouter.HttpRouter
    const out = yield* IssuerMetadata.outbound(issuer, { timeout: options.timeout })
    const fronting = new Fronting({
      resource,
      out,
      find: IssuerMetadata.find(out, issuer),
      paths,
      maxBodyBytes: options.maxBodyBytes ?? 64 * 1024,
      timeout: options.timeout ?? "10 seconds",
      scope: yield* Effect.scope
    })
    yield* router.add("*", paths.metadata, fronting.metadata)
    yield* router.add("*", paths.authorize, fronting.authorize)
    yield* router.add("*", paths.token, fronting.token)
    yield* router.add("*", paths.register, fronting.register)
  }))

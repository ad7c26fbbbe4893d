/**
 * Servers over HTTP: the part of `McpServer` that a server of the web needs.
 *
 * @since 0.1.0
 */
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as HttpSseServer from "@mcpfx/transport/HttpSseServer"
import * as StreamableHttpServer from "@mcpfx/transport/StreamableHttpServer"
import * as Config from "effect/Config"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { allParts } from "./internal/allParts.ts"
import { limitsOf, type Provided } from "./internal/assemble.ts"
import { endpoint } from "./internal/overHttp.ts"
import type { ServerOptions } from "./internal/settings.ts"
import { McpEndpoint } from "./McpEndpoint.ts"
import { InvalidOptions } from "./ServerError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface HttpOptions extends ServerOptions, Omit<StreamableHttpServer.Options, "supportedVersions"> {
  /**
   * Serves the two endpoints of HTTP+SSE too, at `/sse` and `/messages` or where this says, for clients that know no other
   * transport (SSE-05): with the same hosts, origins, middleware and limits. Needs sessions. Off by default.
   */
  readonly sse?: boolean | HttpSseServer.Paths | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface WebOptions extends HttpOptions {
  /** Whether sessions are kept: not where the next request may reach another instance. */
  readonly sessions: "stateful" | "stateless"
}

const http = (options: HttpOptions): Layer.Layer<never, never, McpEndpoint | Endpoint | HttpRouter.HttpRouter> =>
  Layer.unwrap(Effect.gen(function*() {
    const self = yield* McpEndpoint
    const server = yield* StreamableHttpServer.make({
      ...options,
      supportedVersions: self.supported
    })
    yield* self.beforeShutdown(server.drain)
    return StreamableHttpServer.route(server, options.path)
  }))

const pathsOf = ({ sse }: HttpOptions): HttpSseServer.Paths | undefined =>
  sse === true ? {} : sse === false ? undefined : sse

const httpSse = (
  options: HttpOptions
): Layer.Layer<never, InvalidOptions, McpEndpoint | Endpoint | HttpRouter.HttpRouter> => {
  const paths = pathsOf(options)
  if (paths === undefined) return Layer.empty
  const refuse = (reason: string) => Layer.effectDiscard(Effect.fail(new InvalidOptions({ reason })))
  if (options.sessions === "stateless") return refuse("sse needs sessions, which stateless does not keep")
  return Layer.unwrap(Effect.gen(function*() {
    const self = yield* McpEndpoint
    if (self.supported.every((version) => Revisions.byVersion(version)?.era === "modern")) {
      return refuse("sse needs a revision with sessions")
    }
    const { allowedHosts, allowedOrigins, bodyTimeout, middleware } = options
    const supportedVersions = self.supported
    const server = yield* HttpSseServer.make({
      allowedHosts,
      allowedOrigins,
      bodyTimeout,
      middleware,
      supportedVersions,
      ...paths
    })
    yield* self.beforeShutdown(server.drain)
    return HttpSseServer.route(server, paths)
  })).pipe(Layer.provide(SecureRandom.layerWebCrypto))
}

/**
 * Serves Streamable HTTP on a path of your own `HttpRouter`, `/mcp` by default. Without `allowedHosts` it answers to the
 * names of the loopback interface alone.
 *
 * **Example** (One route of an application)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { McpServer } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 * import { HttpRouter } from "effect/http"
 *
 * const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
 * const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
 * const Routes = McpServer.layerHttp(AddLive, { name: "calculator", version: "1.0.0", path: "/mcp" })
 * const Main = McpServer.drainFirst(HttpRouter.serve(Routes))
 * Layer.isLayer(Main) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: HttpOptions
): Layer.Layer<never, E | InvalidOptions, Exclude<R, Provided> | HttpRouter.HttpRouter> =>
  Layer.merge(http(options), httpSse(options)).pipe(
    Layer.provide(endpoint(registrations, options)),
    Layer.provide(limitsOf(options)),
    Layer.provide(allParts)
  )

/**
 * Serves Streamable HTTP as a function from web requests to web responses, for platforms that call one. `dispose` closes
 * every layer. A `memoMap` shares layers with other handlers.
 *
 * @category running
 * @since 0.1.0
 */
export const toWebHandler = <A, E>(
  registrations: Layer.Layer<A, E, Provided>,
  options: WebOptions & { readonly memoMap?: Layer.MemoMap | undefined }
): {
  readonly handler: (request: Request) => Promise<Response>
  readonly dispose: () => Promise<void>
} => {
  const { dispose, handler } = HttpRouter.toWebHandler(layerHttp(registrations, options), {
    memoMap: options.memoMap,
    disableLogger: true
  })
  return { handler: (request) => handler(request), dispose }
}

/**
 * {@link layerHttp} with options from configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpConfig = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Config.Wrap<HttpOptions>) =>
  Layer.unwrap(Effect.map(Config.unwrap(options), (options) => layerHttp(registrations, options)))

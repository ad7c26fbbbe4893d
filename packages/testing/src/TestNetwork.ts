/**
 * Several servers without a port: one HTTP client that finds each of them by its origin.
 *
 * **Example** (A server and the one that logs its users in)
 *
 * ```ts
 * import { McpServer } from "@mcpfx/server"
 * import { TestAuthorizationServer, TestNetwork } from "@mcpfx/testing"
 * import { Effect, Layer } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const login = yield* TestAuthorizationServer.make()
 *   const mcp = yield* TestNetwork.serve(
 *     McpServer.layerHttp(Layer.empty, { name: "calculator", version: "1.0.0", allowedHosts: ["mcp.test"] })
 *   )
 *   const client = TestNetwork.client({ "https://mcp.test": mcp, "https://login.test": login.client })
 *   const response = yield* client.get("https://login.test/.well-known/openid-configuration")
 *   return response.status
 * })
 * await Effect.runPromise(Effect.scoped(program)) // => 200
 * ```
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { clientOfRouter } from "./internal/routerClient.ts"

/**
 * A client that reaches the routes of an `HttpRouter` app, and nothing else, while the scope is open. The app runs under the
 * clock of the test.
 *
 * @category constructors
 * @since 0.1.0
 */
export const serve = <A, E, R>(
  routes: Layer.Layer<A, E, R>
): Effect.Effect<HttpClient.HttpClient, E, Exclude<R, HttpRouter.HttpRouter> | Scope.Scope> =>
  Effect.gen(function*() {
    const router = yield* HttpRouter.make
    yield* Layer.build(Layer.provide(Layer.fresh(routes), Layer.succeed(HttpRouter.HttpRouter, router)))
    return yield* clientOfRouter(router)
  })

/**
 * A client that finds servers by origin, such as `https://mcp.test`. Any other fails as a name that leads nowhere does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const client = (hosts: Readonly<Record<string, HttpClient.HttpClient>>): HttpClient.HttpClient => {
  const byOrigin = new Map(Object.entries(hosts).map(([origin, host]) => [new URL(origin).origin, host]))
  return HttpClient.make((request, url) => {
    const host = byOrigin.get(url.origin)
    return host === undefined
      ? Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, description: `there is no ${url.origin}` })
        })
      )
      : host.execute(request)
  })
}

/**
 * The client of {@link client} as a layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (hosts: Readonly<Record<string, HttpClient.HttpClient>>): Layer.Layer<HttpClient.HttpClient> =>
  Layer.succeed(HttpClient.HttpClient, client(hosts))

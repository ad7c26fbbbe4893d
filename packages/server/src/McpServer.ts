/**
 * Puts servers together: registrations in, an endpoint on some transport out.
 *
 * Registrations are Layers. An endpoint builds them anew, into a registry of its own, before it serves anything; one value
 * can therefore make many endpoints. What endpoints share, such as a database, is provided to the endpoint from outside, and
 * built once.
 *
 * **Example** (A calculator over standard input and output)
 *
 * ```ts
 * import { NodeRuntime, NodeServices } from "@effect/platform-node"
 * import { Tool } from "@mcpfx/schema"
 * import { McpServer } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
 * const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
 *
 * McpServer.runStdio(AddLive, { name: "calculator", version: "1.0.0" }).pipe(
 *   Effect.provide(NodeServices.layer),
 *   NodeRuntime.runMain
 * )
 * ```
 *
 * @since 0.1.0
 */
import type { SessionFactory, Sessions } from "@mcpfx/session/Sessions"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as StdioServer from "@mcpfx/transport/StdioServer"
import * as StreamableHttpServer from "@mcpfx/transport/StreamableHttpServer"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { ChangeBus } from "./ChangeBus.ts"
import * as Health_ from "./Health.ts"
import { endpoint, endpointIn, limitsOf, type Provided } from "./internal/assemble.ts"
import type { Declared, ServerOptions } from "./internal/settings.ts"
import * as Stdout from "./internal/stdout.ts"
import { McpEndpoint } from "./McpEndpoint.ts"
import type { InvalidOptions } from "./ServerError.ts"

export { log } from "./LogBridge.ts"
export { prompt } from "./ServerPrompt.ts"
export { resource, template } from "./ServerResource.ts"
export { tool } from "./ServerTool.ts"

export type {
  /**
   * What a server says it offers.
   *
   * @category models
   * @since 0.1.0
   */
  Declared,
  /**
   * What registrations get from their endpoint.
   *
   * @category models
   * @since 0.1.0
   */
  Provided
}

/**
 * What an endpoint is told about itself.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends ServerOptions {}

/**
 * @category models
 * @since 0.1.0
 */
export interface HttpOptions extends Options, Omit<StreamableHttpServer.Options, "supportedVersions"> {}

/**
 * @category models
 * @since 0.1.0
 */
export interface WebOptions extends HttpOptions {
  /** Whether sessions are kept: not where the next request may reach another instance. */
  readonly sessions: "stateful" | "stateless"
}

/**
 * @category models
 * @since 0.1.0
 */
export interface StdioOptions extends Options {
  /** Run when the input has ended and what was in flight is answered: the place to end a program that embeds the server. */
  readonly onEnd?: Effect.Effect<void> | undefined
}

/**
 * The endpoint alone, for a transport of your own. Registrations stand before it does.
 *
 * It has a `ChangeBus` and a directory of sessions of its own. A `ChangeBus` that is provided from outside is used instead,
 * so that several endpoints tell each other's changes; a `SessionStore` that is provided from outside keeps its sessions, so
 * that another process can go on with them (LIF-17 of field practice).
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: Options
): Layer.Layer<Endpoint | McpEndpoint, E | InvalidOptions, Exclude<R, Provided>> => endpoint(registrations, options)

/**
 * {@link layer} with its sessions in a directory of your own, such as one that spreads them over machines.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith: <A, E, R, E2, R2>(
  registrations: Layer.Layer<A, E, R>,
  options: Options,
  directory: Layer.Layer<Sessions, E2, R2>
) => Layer.Layer<
  Endpoint | McpEndpoint,
  E | E2 | InvalidOptions,
  Exclude<R, Provided> | Exclude<Exclude<R2, SessionFactory>, Provided>
> = endpointIn

/** Serves standard input until it ends; listen streams end with it, so that nothing keeps the drain waiting. */
const serveStdio: Effect.Effect<void, never, McpEndpoint | Stdio.Stdio> = Effect.gen(function*() {
  const self = yield* McpEndpoint
  const stdio = yield* Stdio.Stdio
  yield* StdioServer.serve(self.endpoint, {
    input: Stream.ensuring(stdio.stdin, self.endStreams),
    output: stdio.stdout({ endOnDone: false })
  })
})

/** Nothing but protocol may reach standard output: Effect's loggers write to standard error, the console too (STD-02). */
const quietly = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.andThen(Stdout.guard, Effect.provideService(effect, Logger.LogToStderr, true))

/**
 * Serves standard input and output as part of a program that does other things, as long as the layer is open or the input
 * lasts.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: StdioOptions
): Layer.Layer<never, E | InvalidOptions, Exclude<R, Provided> | Stdio.Stdio> => {
  const serving = Layer.effectDiscard(
    Effect.forkScoped(Effect.andThen(serveStdio, options.onEnd ?? Effect.void))
  )
  const quiet = Layer.merge(Layer.succeed(Logger.LogToStderr, true), Layer.effectDiscard(Stdout.guard))
  return Layer.provide(
    Layer.provide(serving, endpoint(registrations, options)),
    Layer.provideMerge(limitsOf(options), quiet)
  )
}

/**
 * Serves standard input and output, and succeeds when the input has ended, what was in flight is answered and written, and
 * every layer is closed (STD-09).
 *
 * @category running
 * @since 0.1.0
 */
export const runStdio = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: Options
): Effect.Effect<void, E | InvalidOptions, Exclude<R, Provided> | Stdio.Stdio> =>
  serveStdio.pipe(
    Effect.provide(Layer.provideMerge(endpoint(registrations, options), limitsOf(options))),
    quietly,
    Effect.scoped
  )

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
  Layer.provide(Layer.provide(http(options), endpoint(registrations, options)), limitsOf(options))

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
 * {@link layer} with options from configuration.
 *
 * **Example** (A name from the environment)
 *
 * ```ts
 * import { McpServer } from "@mcpfx/server"
 * import { Config, Layer } from "effect"
 *
 * const Server = McpServer.layerConfig(Layer.empty, {
 *   name: Config.String("MCP_NAME"),
 *   version: Config.succeed("1.0.0")
 * })
 * Layer.isLayer(Server) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Config.Wrap<Options>) =>
  Layer.unwrap(Effect.map(Config.unwrap(options), (options) => layer(registrations, options)))

/**
 * {@link layerStdio} with options from configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdioConfig = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Config.Wrap<StdioOptions>) =>
  Layer.unwrap(Effect.map(Config.unwrap(options), (options) => layerStdio(registrations, options)))

/**
 * {@link layerHttp} with options from configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpConfig = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Config.Wrap<HttpOptions>) =>
  Layer.unwrap(Effect.map(Config.unwrap(options), (options) => layerHttp(registrations, options)))

/**
 * {@link runStdio} with options from configuration.
 *
 * @category running
 * @since 0.1.0
 */
export const runStdioConfig = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Config.Wrap<Options>) =>
  Effect.flatMap(Config.unwrap(options), (options) => runStdio(registrations, options))

/**
 * Has every endpoint of a serving layer stop before the server does: nothing new is admitted, open streams end, what is in
 * flight is answered, and only then does the server close its sockets. An idle stream does not hold up the end.
 *
 * @category layers
 * @since 0.1.0
 */
export const drainFirst = <A, E, R>(serving: Layer.Layer<A, E, R>): Layer.Layer<A, E, R> =>
  Layer.unwrap(Effect.map(Health_.CurrentMembers, (above) => {
    const members = Health_.makeMembers(above)
    const stop = Effect.suspend(() =>
      Effect.forEach(members.all(), (member) => member.shutdown, { concurrency: "unbounded", discard: true })
    )
    // Built after the server, and so closed before it.
    return Layer.effectDiscard(Effect.addFinalizer(() => stop)).pipe(
      Layer.provideMerge(serving),
      Layer.provide(Layer.succeed(Health_.CurrentMembers, members))
    )
  }))

/**
 * What the endpoints of the application are doing, for a health route of your own.
 *
 * @category getters
 * @since 0.1.0
 */
export const Health: Effect.Effect<Health_.Health> = Health_.health

/**
 * Announces that the contents of a resource changed: clients that watch it, or something above it, hear of it (SUB-11).
 *
 * @category changes
 * @since 0.1.0
 */
export const resourceUpdated = (uri: string): Effect.Effect<void, never, ChangeBus> =>
  Effect.flatMap(ChangeBus, (bus) => bus.publish({ kind: "resource", uri }))

/**
 * Announces that a list reads differently for some callers although nothing was registered or removed: when what decides
 * about visibility has changed.
 *
 * @category changes
 * @since 0.1.0
 */
export const listChanged = (kind: "tools" | "prompts" | "resources"): Effect.Effect<void, never, ChangeBus> =>
  Effect.flatMap(ChangeBus, (bus) => bus.publish({ kind }))

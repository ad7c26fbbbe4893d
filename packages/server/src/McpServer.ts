/**
 * Puts servers together: registrations in, an endpoint on some transport out.
 *
 * Registrations are Layers. An endpoint builds them anew, into a registry of its own, before it serves anything; one value
 * can therefore make many endpoints. What endpoints share, such as a database, is provided to the endpoint from outside, and
 * built once.
 *
 * What is served over HTTP alone is also in a module of its own, `McpHttp`: a program that imports only that starts sooner.
 * `McpStdio` serves standard input and output, and leaves out what small servers do not need.
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
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Stdio } from "effect/Stdio"
import { ChangeBus } from "./ChangeBus.ts"
import * as Health_ from "./Health.ts"
import { allParts } from "./internal/allParts.ts"
import type { Provided } from "./internal/assemble.ts"
import { endpoint, endpointIn } from "./internal/overHttp.ts"
import type { Declared, ServerOptions } from "./internal/settings.ts"
import type { McpEndpoint } from "./McpEndpoint.ts"
import * as McpStdio from "./McpStdio.ts"
import type { InvalidOptions } from "./ServerError.ts"

export { log } from "./LogBridge.ts"
export { type HttpOptions, layerHttp, layerHttpConfig, toWebHandler, type WebOptions } from "./McpHttp.ts"
export type { StdioOptions } from "./McpStdio.ts"
export { announce, announcement, method, notification } from "./ServerMethod.ts"
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
): Layer.Layer<Endpoint | McpEndpoint, E | InvalidOptions, Exclude<R, Provided>> =>
  Layer.fresh(Layer.provide(endpoint(registrations, options), allParts))

/**
 * {@link layer} with its sessions in a directory of your own, such as one that spreads them over machines.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerWith = <A, E, R, E2, R2>(
  registrations: Layer.Layer<A, E, R>,
  options: Options,
  directory: Layer.Layer<Sessions, E2, R2>
): Layer.Layer<
  Endpoint | McpEndpoint,
  E | E2 | InvalidOptions,
  Exclude<R, Provided> | Exclude<Exclude<R2, SessionFactory>, Provided>
> => Layer.fresh(Layer.provide(endpointIn(registrations, options, directory), allParts))

/**
 * Serves standard input and output as part of a program that does other things, as long as the layer is open or the input
 * lasts.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: McpStdio.StdioOptions
): Layer.Layer<never, E | InvalidOptions, Exclude<R, Provided> | Stdio> =>
  Layer.provide(McpStdio.layerStdio(registrations, options), allParts)

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
): Effect.Effect<void, E | InvalidOptions, Exclude<R, Provided> | Stdio> =>
  Effect.provide(McpStdio.runStdio(registrations, options), allParts)

/**
 * {@link layerStdio} with options from configuration.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdioConfig = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: Config.Wrap<McpStdio.StdioOptions>
) => Layer.unwrap(Effect.map(Config.unwrap(options), (options) => layerStdio(registrations, options)))

/**
 * {@link runStdio} with options from configuration.
 *
 * @category running
 * @since 0.1.0
 */
export const runStdioConfig = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: Config.Wrap<Options>) =>
  Effect.flatMap(Config.unwrap(options), (options) => runStdio(registrations, options))

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

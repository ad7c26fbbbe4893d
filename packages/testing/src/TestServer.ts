/**
 * A server and its client in one layer: no ports, no processes, virtual time.
 *
 * The two are linked in memory, through the same text that would go over a wire.
 *
 * @since 0.1.0
 */
import type { ClientOptions } from "@mcpfx/client/ClientOptions"
import * as McpClient from "@mcpfx/client/McpClient"
import type { McpClientError } from "@mcpfx/client/McpClientError"
import * as Negotiation from "@mcpfx/client/Negotiation"
import type { Version } from "@mcpfx/schema/Revision"
import type { McpEndpoint } from "@mcpfx/server/McpEndpoint"
import * as McpServer from "@mcpfx/server/McpServer"
import type { InvalidOptions } from "@mcpfx/server/ServerError"
import type { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Memory from "@mcpfx/transport/Memory"
import * as Layer from "effect/Layer"

/**
 * What {@link layer} takes besides the registrations; everything has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The server's options; it is called `test` unless they say otherwise. */
  readonly server?: Partial<McpServer.Options> | undefined
  /** The client's options. */
  readonly client?: ClientOptions | undefined
  /** The one revision the client speaks; by default the newest that the server has. */
  readonly revision?: Version | undefined
}

/**
 * Serves `registrations` in memory and connects a client to them.
 *
 * **Example** (Testing a tool)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { Tool } from "@mcpfx/schema"
 * import { McpServer } from "@mcpfx/server"
 * import { TestServer } from "@mcpfx/testing"
 * import { Effect, Schema } from "effect"
 *
 * const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
 * const AddLive = McpServer.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
 *
 * const program = Effect.flatMap(McpClient.McpClient, (client) => client.call(Add, { a: 1, b: 2 }))
 * await Effect.runPromise(Effect.provide(program, TestServer.layer(AddLive))) // => { sum: 3 }
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <A, E, R>(
  registrations: Layer.Layer<A, E, R>,
  options: Options = {}
): Layer.Layer<
  McpClient.McpClient | Endpoint | McpEndpoint,
  E | InvalidOptions | McpClientError,
  Exclude<R, McpServer.Provided>
> =>
  McpClient.layer(
    options.revision === undefined ? options.client : { ...options.client, revisions: [options.revision] }
  ).pipe(
    Layer.provide(Layer.fresh(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))),
    Layer.provide(Memory.layer),
    Layer.provideMerge(McpServer.layer(registrations, { name: "test", version: "0.0.0", ...options.server }))
  )

/**
 * Servers over standard input and output that start soon and weigh little: the functions of `McpServer` without the parts
 * that a server of a few tools does not need. A tool that runs as a task needs `Tasks.layer`, one with a JSON Schema from
 * elsewhere `ForeignSchemas.layer`, provided to the server; without, the server does not start, and says what it lacks.
 *
 * **Example** (A server that greets)
 *
 * ```ts
 * import { NodeRuntime, NodeStdio } from "@effect/platform-node"
 * import { Tool } from "@mcpfx/schema"
 * import { McpStdio, ServerTool } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const Hello = Tool.make("hello", { input: { name: Schema.String } })
 * const HelloLive = ServerTool.tool(Hello, ({ name }) => Effect.succeed(`Hello, ${name}!`))
 *
 * McpStdio.runStdio(HelloLive, { name: "hello", version: "1.0.0" }).pipe(
 *   Effect.provide(NodeStdio.layer),
 *   NodeRuntime.runMain
 * )
 * ```
 *
 * @since 0.1.0
 */
import * as Sessions from "@mcpfx/session/Sessions"
import * as StdioServer from "@mcpfx/transport/StdioServer"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import { assemble, limitsOf, type Provided } from "./internal/assemble.ts"
import { connectionsOnly } from "./internal/connectionsOnly.ts"
import type { ServerOptions } from "./internal/settings.ts"
import * as Stdout from "./internal/stdout.ts"
import { McpEndpoint } from "./McpEndpoint.ts"
import type { InvalidOptions } from "./ServerError.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface StdioOptions extends ServerOptions {
  /** Run when the input has ended and what was in flight is answered: the place to end a program that embeds the server. */
  readonly onEnd?: Effect.Effect<void> | undefined
}

/** Serves standard input until it ends; listen streams end with it, so that nothing keeps the drain waiting. */
const serveStdio: Effect.Effect<void, never, McpEndpoint | Stdio.Stdio> = Effect.gen(function*() {
  const self = yield* McpEndpoint
  const stdio = yield* Stdio.Stdio
  yield* StdioServer.serve(self.endpoint, {
    input: Stream.ensuring(stdio.stdin, self.endStreams),
    output: stdio.stdout({ endOnDone: false })
  })
})

/** An endpoint that has one connection, and sessions for no others. */
const endpoint = <A, E, R>(registrations: Layer.Layer<A, E, R>, options: ServerOptions) =>
  assemble(registrations, options, Sessions.layerConnected, connectionsOnly)

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
  options: ServerOptions
): Effect.Effect<void, E | InvalidOptions, Exclude<R, Provided> | Stdio.Stdio> =>
  serveStdio.pipe(
    Effect.provide(Layer.provideMerge(endpoint(registrations, options), limitsOf(options))),
    quietly,
    Effect.scoped
  )

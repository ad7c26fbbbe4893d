/**
 * A server and its client in one layer: no ports, no processes, virtual time.
 *
 * The two are linked in memory, through the same text that would go over a wire. What the server asks of its client is
 * answered by a script.
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
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import { Endpoint } from "@mcpfx/transport/Endpoint"
import * as Memory from "@mcpfx/transport/Memory"
import type { Principal } from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { layerSteps, Steps, twice } from "./internal/reentry.ts"
import * as TestAnswers from "./TestAnswers.ts"

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
  /** What the client answers when it is asked, in order; it can do what there are answers for. */
  readonly answers?: ReadonlyArray<TestAnswers.Answer> | undefined
  /** Whom the requests come from; nobody in particular by default. */
  readonly principal?: Principal | undefined
  /**
   * Runs every pass over a handler twice on 2026-07-28, and fails the request where the two ask, or take steps, in different
   * ways: such a handler gets lost between its own rounds. What is done outside of a `Step` is then done twice, and a step
   * of the first round as well.
   */
  readonly reentry?: boolean | undefined
}

/**
 * What {@link connect} takes.
 *
 * @category models
 * @since 0.1.0
 */
export type ClientSide = Pick<Options, "answers" | "client" | "principal" | "revision">

const eras = Layer.fresh(Layer.sync(Negotiation.CurrentEraCache, () => Negotiation.makeEraCache()))

const clientOptions = ({ client, revision }: ClientSide): ClientOptions | undefined =>
  revision === undefined ? client : { ...client, revisions: [revision] }

const from = (endpoint: Endpoint["Service"], principal: Principal | undefined): Endpoint["Service"] =>
  principal === undefined ? endpoint : {
    ...endpoint,
    handle: (exchange) =>
      endpoint.handle({ ...exchange, facts: { ...exchange.facts, principal: Option.some(principal) } })
  }

/**
 * Another client of the server in the context: another caller, another revision, other answers. It goes with the scope.
 *
 * **Example** (What others do not see)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { TestServer } from "@mcpfx/testing"
 * import { Effect } from "effect"
 *
 * const ann = { issuer: "https://auth.example.com", subject: "ann", scopes: [], claims: {} }
 *
 * const program = Effect.gen(function*() {
 *   const mine = yield* McpClient.McpClient
 *   const hers = yield* TestServer.connect({ principal: ann })
 *   return [yield* mine.tools, yield* hers.tools]
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const connect = (
  options: ClientSide = {}
): Effect.Effect<McpClient.McpClient["Service"], McpClientError, Endpoint | Scope.Scope> =>
  Effect.gen(function*() {
    const endpoint = from(yield* Endpoint, options.principal)
    const client = McpClient.layer(clientOptions(options)).pipe(
      Layer.provide(TestAnswers.layer(options.answers ?? [])),
      Layer.provide(eras),
      Layer.provide(Layer.succeed(ClientTransport, Memory.transport(endpoint)))
    )
    return Context.get(yield* Layer.build(Layer.fresh(client)), McpClient.McpClient)
  })

const transport = ({ principal }: Options, steps: Steps | undefined) =>
  Layer.effect(
    ClientTransport,
    Effect.gen(function*() {
      const endpoint = from(yield* Endpoint, principal)
      return Memory.transport(steps === undefined ? endpoint : twice(endpoint, steps, yield* Effect.scope))
    })
  )

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
  McpClient.McpClient | TestAnswers.TestAnswers | Endpoint | McpEndpoint,
  E | InvalidOptions | McpClientError,
  Exclude<R, McpServer.Provided>
> => {
  const steps = options.reentry === true ? new Steps() : undefined
  const store: Layer.Layer<never> = steps === undefined ? Layer.empty : layerSteps(steps)
  const server = McpServer.layer(registrations, { name: "test", version: "0.0.0", ...options.server })
  return McpClient.layer(clientOptions(options)).pipe(
    Layer.provideMerge(TestAnswers.layer(options.answers ?? [])),
    Layer.provide(eras),
    Layer.provide(transport(options, steps)),
    Layer.provideMerge(Layer.provide(server, store))
  )
}

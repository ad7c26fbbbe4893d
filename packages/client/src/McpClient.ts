/**
 * A client of one server, on every revision.
 *
 * The era is found by itself, or told. Calls are typed by a contract or raw by name; lists come whole, within bounds;
 * changes, logs and other notifications come as streams. Interrupting a call cancels it on the server.
 *
 * **Example** (A server that runs as a child process)
 *
 * ```ts
 * import { NodeServices } from "@effect/platform-node"
 * import { McpClient } from "@mcpfx/client"
 * import { Tool } from "@mcpfx/schema"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Add = Tool.make("add", { input: { a: Schema.Finite, b: Schema.Finite }, output: { sum: Schema.Finite } })
 *
 * const program = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const { sum } = yield* client.call(Add, { a: 1, b: 2 })
 *   const tools = yield* client.tools
 *   return { sum, names: tools.map(({ name }) => name) }
 * })
 *
 * const Live = McpClient.layerStdio({ command: ["node", "server.js"] }).pipe(Layer.provide(NodeServices.layer))
 * const runnable = Effect.provide(program, Live)
 * ```
 *
 * @since 0.1.0
 */
import type * as Completion from "@mcpfx/schema/Completion"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Progress from "@mcpfx/schema/Progress"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as PromptContract from "@mcpfx/schema/PromptContract"
import type * as Resource from "@mcpfx/schema/Resource"
import type * as ResourceContract from "@mcpfx/schema/ResourceContract"
import type * as Tool from "@mcpfx/schema/Tool"
import type * as ToolContract from "@mcpfx/schema/ToolContract"
import * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as SessionLimits from "@mcpfx/session/SessionLimits"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import * as StdioClient from "@mcpfx/transport/StdioClient"
import * as StreamableHttpClient from "@mcpfx/transport/StreamableHttpClient"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as ClientHandlers from "./ClientHandlers.ts"
import type { ClientOptions } from "./ClientOptions.ts"
import * as Connection from "./Connection.ts"
import * as Calls from "./internal/calls.ts"
import * as Heartbeat from "./internal/heartbeat.ts"
import * as Lists from "./internal/lists.ts"
import { LogLevel } from "./internal/logs.ts"
import * as Oddities from "./internal/oddities.ts"
import * as ProgressEvents from "./internal/progress.ts"
import * as Reads from "./internal/reads.ts"
import * as Requests from "./internal/requests.ts"
import type { McpClientError } from "./McpClientError.ts"
import * as Notifications from "./Notifications.ts"
import * as ResponseCache from "./ResponseCache.ts"
import * as Subscriptions from "./Subscriptions.ts"

/**
 * What a typed call gives: the structured output, or the whole result where the contract has none.
 *
 * @category type-level
 * @since 0.1.0
 */
export type CallOutput<O> = [O] extends [never] ? Tool.CallResult : O

/**
 * What a typed read gives: the value of the content, or the whole result where the contract has none.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ReadOutput<C> = [C] extends [never] ? Resource.ReadResult : C

/**
 * A client of one server.
 *
 * What the server does not offer is not asked for: such a request fails with `NotOffered` and sends nothing, while a list
 * of it is empty, so that a host can list everything of every server (LIF-12 of field practice).
 *
 * @category services
 * @since 0.1.0
 */
export class McpClient extends Context.Service<McpClient, {
  /** What the server said about itself; connects if need be. */
  readonly server: Effect.Effect<Connection.ServerFacts, McpClientError>
  /** Calls a tool by its contract; a declared failure of the tool is a typed failure here. */
  readonly call: {
    <Name extends string, I, O, F>(
      contract: ToolContract.Contract<Name, I, O, F>,
      input: I,
      options?: RequestOptions
    ): Effect.Effect<CallOutput<O>, McpClientError | F>
    <Name extends string, I, O, F>(
      contract: {} extends I ? ToolContract.Contract<Name, I, O, F> : never,
      input?: I,
      options?: RequestOptions
    ): Effect.Effect<CallOutput<O>, McpClientError | F>
  }
  /** Calls a tool by name; a result with `isError` is a result. Output is checked for tools that were listed (TOL-08). */
  readonly callTool: (
    name: string,
    args?: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<Tool.CallResult, McpClientError>
  /** All tools; over HTTP of 2026-07-28 without those whose header annotations are wrong (XH-06). */
  readonly tools: Effect.Effect<ReadonlyArray<Tool.Descriptor>, McpClientError>
  readonly resources: Effect.Effect<ReadonlyArray<Resource.Descriptor>, McpClientError>
  /** All templates; none where a server has resources and does not know the method. */
  readonly resourceTemplates: Effect.Effect<ReadonlyArray<Resource.TemplateDescriptor>, McpClientError>
  readonly prompts: Effect.Effect<ReadonlyArray<Prompt.Descriptor>, McpClientError>
  /** Reads a resource by its contract, or a member of a template by the contract and its params. */
  readonly read: {
    <Uri extends string, C>(
      contract: ResourceContract.Contract<Uri, C>,
      options?: RequestOptions
    ): Effect.Effect<ReadOutput<C>, McpClientError>
    <Uri extends string, P, C>(
      contract: ResourceContract.TemplateContract<Uri, P, C>,
      params: P,
      options?: RequestOptions
    ): Effect.Effect<ReadOutput<C>, McpClientError>
  }
  /** Reads a resource by its URI; one that is not there is `ResourceNotFound` on every revision (RES-07). */
  readonly readResource: (
    uri: string,
    options?: RequestOptions
  ) => Effect.Effect<Resource.ReadResult, McpClientError>
  /** Gets a prompt by its contract. */
  readonly prompt: {
    <Name extends string, A>(
      contract: PromptContract.Contract<Name, A>,
      args: A,
      options?: RequestOptions
    ): Effect.Effect<Prompt.GetResult, McpClientError>
    <Name extends string, A>(
      contract: {} extends A ? PromptContract.Contract<Name, A> : never,
      args?: A,
      options?: RequestOptions
    ): Effect.Effect<Prompt.GetResult, McpClientError>
  }
  /** Gets a prompt by name. */
  readonly getPrompt: (
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: RequestOptions
  ) => Effect.Effect<Prompt.GetResult, McpClientError>
  /** Values that may follow what was typed; `filled` are the arguments that stand already (CMP-04). */
  readonly complete: (
    ref: Completion.Reference,
    argument: { readonly name: string; readonly value: string },
    filled?: Readonly<Record<string, string>>
  ) => Effect.Effect<Completion.Result["completion"], McpClientError>
  /** The level of log messages from now on: asked for once a session on older revisions, with each request on 2026-07-28. */
  readonly setLogLevel: (level: Logging.Level) => Effect.Effect<void, McpClientError>
  /** Whether the server is there: `ping`, and on 2026-07-28 `server/discover`. */
  readonly ping: Effect.Effect<void, McpClientError>
  /** Subscribes to changes, and waits for the server's word; until the scope closes. */
  readonly subscribe: Subscriptions.Subscriptions["subscribe"]
  /** Log messages of the server, from now on. */
  readonly logs: Stream.Stream<Logging.MessageParams>
  /** Notifications of one method, from now on. */
  readonly notifications: <Name extends string, Params>(
    method: Method.NotificationMethod<Name, Params>
  ) => Stream.Stream<Params>
  /** A request of any method of the protocol. */
  readonly request: <Name extends string, Params, Result>(
    method: Method.RequestMethod<Name, Params, Result>,
    params: Params,
    options?: RequestOptions
  ) => Effect.Effect<Result, McpClientError>
  /** A request of any name, offered or not, its result unread. */
  readonly requestRaw: (
    method: string,
    params?: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpClientError>
  /** A notification of any name. */
  readonly notifyRaw: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void, McpClientError>
}>()("@mcpfx/client/McpClient") {}

/**
 * A client over the transport in the context; closing the scope ends the connection, and what waits for an answer then
 * fails at once (SHT-06 of field practice).
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  options: ClientOptions = {}
): Effect.fn.Return<McpClient["Service"], McpClientError, ClientTransport | Scope.Scope> {
  const answerers = yield* ClientHandlers.Answerers
  const validator = yield* JsonSchemaValidator.JsonSchemaValidator
  const limits = yield* SessionLimits.SessionLimits
  const notifications = Notifications.make()
  const cache = ResponseCache.make(options.cacheCapacity)
  const known = new Lists.KnownTools()
  const logLevel = new LogLevel()
  const odd = Oddities.make()
  const connection = yield* Connection.make({
    transport: yield* ClientTransport,
    handler: ClientHandlers.make(answerers, notifications),
    declared: ClientHandlers.declared(answerers, options.capabilities),
    options,
    prepare: (live) => {
      cache.clear()
      known.clear()
      return logLevel.restore(live)
    }
  })
  const requests = Requests.make(connection, logLevel, options)
  const lists = Lists.make({ connection, requests, cache, known, odd, options })
  const calls = Calls.make({ connection, requests, lists, known, validator, odd, options })
  const reads = Reads.make(requests, cache)
  const timeout = Duration.fromInputUnsafe(options.timeout ?? limits.requestTimeout)
  const subscriptions = Subscriptions.make(connection, notifications, timeout)
  yield* forgetOn(notifications, cache, known)
  if (options.lazy !== true) yield* connection.live

  return McpClient.of({
    server: connection.live,
    call: calls.call,
    callTool: calls.callTool,
    tools: lists.tools,
    resources: lists.resources,
    resourceTemplates: lists.resourceTemplates,
    prompts: lists.prompts,
    read: reads.read,
    readResource: reads.readResource,
    prompt: reads.prompt,
    getPrompt: reads.getPrompt,
    complete: reads.complete,
    setLogLevel: (level) => logLevel.set(connection, level),
    ping: connection.use(Methods.Ping.name, (live) => Heartbeat.ping(live, { timeout: options.timeout })),
    subscribe: subscriptions.subscribe,
    logs: notifications.stream(Methods.LoggingMessage),
    notifications: notifications.stream,
    request: requests.request,
    requestRaw: requests.requestRaw,
    notifyRaw: requests.notifyRaw
  })
})

/** A notification about a list or a resource drops what it makes stale (CCH-06). */
const forgetOn = (
  notifications: Notifications.Notifications,
  cache: ResponseCache.ResponseCache,
  known: Lists.KnownTools
) =>
  Effect.all([
    notifications.listen(Methods.ToolsListChanged, () => {
      cache.invalidate({ kind: "tools" })
      known.clear()
    }),
    notifications.listen(Methods.PromptsListChanged, () => cache.invalidate({ kind: "prompts" })),
    notifications.listen(Methods.ResourcesListChanged, () => cache.invalidate({ kind: "resources" })),
    notifications.listen(Methods.ResourcesUpdated, ({ uri }) => cache.invalidate({ kind: "resource", uri }))
  ], { discard: true })

/**
 * The client over any transport.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: ClientOptions): Layer.Layer<McpClient, McpClientError, ClientTransport> =>
  Layer.effect(McpClient, make(options))

/**
 * The server's command, and how the client behaves.
 *
 * @category models
 * @since 0.1.0
 */
export interface StdioOptions extends ClientOptions, StdioClient.Options {}

/**
 * The client of a server that runs as a child process; the process ends with the layer.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdio = (options: StdioOptions): Layer.Layer<McpClient, McpClientError, ChildProcessSpawner> =>
  Layer.provide(layer(options), StdioClient.layer(options))

/**
 * The server's address, and how the client behaves.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpOptions extends ClientOptions, Omit<StreamableHttpClient.Options, "reconnect"> {
  /** When streams that end are opened again; the connection itself is the business of `reconnect`. */
  readonly streams?: StreamableHttpClient.Options["reconnect"]
}

/**
 * The client of a server over Streamable HTTP.
 *
 * **Example** (A server behind an address)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { Layer } from "effect"
 * import { FetchHttpClient } from "effect/http"
 *
 * const Live = McpClient.layerHttp({ url: "https://example.com/mcp" }).pipe(Layer.provide(FetchHttpClient.layer))
 * Layer.isLayer(Live) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttp = (options: HttpOptions): Layer.Layer<McpClient, McpClientError, HttpClient.HttpClient> =>
  Layer.provide(layer(options), StreamableHttpClient.layer({ ...options, reconnect: options.streams }))

/**
 * {@link layerHttp} with options from the program's configuration, all of them or some.
 *
 * **Example** (The address from the environment)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { Config, Layer } from "effect"
 *
 * const Live = McpClient.layerHttpConfig(Config.map(Config.String("MCP_URL"), (url) => ({ url })))
 * Layer.isLayer(Live) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layerHttpConfig = (
  options: Config.Config<HttpOptions>
): Layer.Layer<McpClient, McpClientError | Config.ConfigError, HttpClient.HttpClient> =>
  Layer.unwrap(Effect.map(options, layerHttp))

/**
 * {@link layerStdio} with options from the program's configuration, all of them or some.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStdioConfig = (
  options: Config.Config<StdioOptions>
): Layer.Layer<McpClient, McpClientError | Config.ConfigError, ChildProcessSpawner> =>
  Layer.unwrap(Effect.map(options, layerStdio))

/**
 * How far a request has come, and at last what it gave.
 *
 * @category models
 * @since 0.1.0
 */
export type ProgressEvent<A> =
  | { readonly _tag: "Progress"; readonly progress: Progress.Params }
  | { readonly _tag: "Result"; readonly result: A }

/**
 * A request as a stream: its progress, in order, and its result last. Ending the stream early cancels the request on the
 * server.
 *
 * **Example** (A bar for a long call)
 *
 * ```ts
 * import { McpClient } from "@mcpfx/client"
 * import { Effect, Stream } from "effect"
 *
 * const index = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const events = McpClient.progress((onProgress) => client.callTool("index", { path: "/" }, { onProgress }))
 *   yield* Stream.runForEach(events, (event) =>
 *     event._tag === "Progress"
 *       ? Effect.log(`${event.progress.progress} of ${event.progress.total ?? "?"}`)
 *       : Effect.log("done"))
 * })
 * ```
 *
 * @category progress
 * @since 0.1.0
 */
export const progress: <A, E, R>(
  run: (onProgress: (progress: Progress.Params) => Effect.Effect<void>) => Effect.Effect<A, E, R>
) => Stream.Stream<ProgressEvent<A>, E, Exclude<R, Scope.Scope>> = ProgressEvents.events

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
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as PromptContract from "@mcpfx/schema/PromptContract"
import type * as Resource from "@mcpfx/schema/Resource"
import type * as ResourceContract from "@mcpfx/schema/ResourceContract"
import type * as Task from "@mcpfx/schema/Task"
import type * as Tool from "@mcpfx/schema/Tool"
import type * as ToolContract from "@mcpfx/schema/ToolContract"
import type { RequestOptions } from "@mcpfx/session/Peer"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import * as HttpSseClient from "@mcpfx/transport/HttpSseClient"
import * as StdioClient from "@mcpfx/transport/StdioClient"
import * as StreamableHttpClient from "@mcpfx/transport/StreamableHttpClient"
import type * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type { ChildProcessSpawner } from "effect/process/ChildProcessSpawner"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { ClientOptions } from "./ClientOptions.ts"
import type { ServerFacts } from "./Connection.ts"
import * as Assembly from "./internal/assembly.ts"
import type { McpClientError } from "./McpClientError.ts"
import type { Subscriptions } from "./Subscriptions.ts"
import type { CallOptions as TaskCallOptions, Handle } from "./Tasks.ts"

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
 * The server of a client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Server extends ServerFacts {
  /** The identifiers of the extensions that both sides have announced (EXT-02). */
  readonly extensions: ReadonlyArray<string>
}

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
  /** What the server said about itself, and what client and server have in common; connects if need be. */
  readonly server: Effect.Effect<Server, McpClientError>
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
  /**
   * Calls a tool as a task and gives its handle: on 2025-11-25 where the server and the tool say that they may be tasks, on
   * 2026-07-28 where both sides have announced the extension and the server makes one of it. `NotOffered` elsewhere.
   */
  readonly callTask: {
    <Name extends string, I, O, F>(
      contract: ToolContract.Contract<Name, I, O, F>,
      input: I,
      options?: RequestOptions & TaskCallOptions
    ): Effect.Effect<Handle<CallOutput<O>, F>, McpClientError>
    <Name extends string, I, O, F>(
      contract: {} extends I ? ToolContract.Contract<Name, I, O, F> : never,
      input?: I,
      options?: RequestOptions & TaskCallOptions
    ): Effect.Effect<Handle<CallOutput<O>, F>, McpClientError>
    (
      name: string,
      args?: JsonRpc.JsonObject,
      options?: RequestOptions & TaskCallOptions
    ): Effect.Effect<Handle<Tool.CallResult>, McpClientError>
  }
  /** A task of an earlier call, of this client or of one before it; asks the server nothing by itself. */
  readonly task: {
    (id: string): Handle<Tool.CallResult>
    <Name extends string, I, O, F>(
      id: string,
      contract: ToolContract.Contract<Name, I, O, F>
    ): Handle<CallOutput<O>, F>
  }
  /** The tasks of this caller, on 2025-11-25 where the server lists them. */
  readonly tasks: Effect.Effect<ReadonlyArray<Task.Task>, McpClientError>
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
  readonly subscribe: Subscriptions["subscribe"]
  /** Log messages of the server, from now on. */
  readonly logs: Stream.Stream<Logging.MessageParams>
  /** Notifications of one method, from now on. */
  readonly notifications: <Name extends string, Params>(
    method: Method.NotificationMethod<Name, Params>
  ) => Stream.Stream<Params>
  /** A request of any method, of the protocol or of your own. */
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
export const make: (
  options?: ClientOptions
) => Effect.Effect<McpClient["Service"], McpClientError, ClientTransport | Scope.Scope> = Assembly.make

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
  /**
   * Whether a server that refuses `initialize` with 400, 404 or 405 is tried over HTTP+SSE of 2024-11-05 (SSE-06); on by
   * default. What is found is kept with the eras.
   */
  readonly sse?: boolean | undefined
}

const httpTransport = (options: HttpOptions) =>
  Effect.gen(function*() {
    const transport = yield* StreamableHttpClient.make({ ...options, reconnect: options.streams })
    const { headers, sse, url } = options
    return sse === false ? transport : { ...transport, fallback: yield* HttpSseClient.make({ headers, url }) }
  })

/**
 * The client of a server over Streamable HTTP, or over HTTP+SSE if the server has no other.
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
  Layer.provide(layer(options), Layer.effect(ClientTransport, httpTransport(options)))

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

export { progress, type ProgressEvent } from "./internal/progress.ts"

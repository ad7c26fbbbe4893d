/**
 * A client of one server, on every revision.
 *
 * The era is found by itself, or told. Calls are typed by a contract or raw by name; lists come whole, within bounds;
 * changes, logs and other notifications come as streams. Interrupting a call cancels it on the server.
 *
 * @since 0.1.0
 */
import type * as Completion from "@mcpfx/schema/Completion"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as Resource from "@mcpfx/schema/Resource"
import type * as Tool from "@mcpfx/schema/Tool"
import type { Contract } from "@mcpfx/schema/ToolContract"
import * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import type { RequestOptions } from "@mcpfx/session/Peer"
import { ClientTransport } from "@mcpfx/transport/ClientTransport"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import * as ClientHandlers from "./ClientHandlers.ts"
import type { ClientOptions } from "./ClientOptions.ts"
import * as Connection from "./Connection.ts"
import * as Calls from "./internal/calls.ts"
import * as Lists from "./internal/lists.ts"
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
 * @category services
 * @since 0.1.0
 */
export class McpClient extends Context.Service<McpClient, {
  /** What the server said about itself; connects if need be. */
  readonly server: Effect.Effect<Connection.ServerFacts, McpClientError>
  /** Calls a tool by its contract; a declared failure of the tool is a typed failure here. */
  readonly call: {
    <Name extends string, I, O, F>(
      contract: Contract<Name, I, O, F>,
      input: I,
      options?: RequestOptions
    ): Effect.Effect<CallOutput<O>, McpClientError | F>
    <Name extends string, I, O, F>(
      contract: {} extends I ? Contract<Name, I, O, F> : never,
      input?: I,
      options?: RequestOptions
    ): Effect.Effect<CallOutput<O>, McpClientError | F>
  }
  /** Calls a tool by name; a result with `isError` is a result. */
  readonly callTool: (
    name: string,
    args?: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<Tool.CallResult, McpClientError>
  /** All tools; over HTTP of 2026-07-28 without those whose header annotations are wrong (XH-06). */
  readonly tools: Effect.Effect<ReadonlyArray<Tool.Descriptor>, McpClientError>
  readonly resources: Effect.Effect<ReadonlyArray<Resource.Descriptor>, McpClientError>
  readonly resourceTemplates: Effect.Effect<ReadonlyArray<Resource.TemplateDescriptor>, McpClientError>
  readonly prompts: Effect.Effect<ReadonlyArray<Prompt.Descriptor>, McpClientError>
  readonly readResource: (
    uri: string,
    options?: RequestOptions
  ) => Effect.Effect<Resource.ReadResult, McpClientError>
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
  /** The level of log messages from now on: asked for once on older revisions, with each request on 2026-07-28. */
  readonly setLogLevel: (level: Logging.Level) => Effect.Effect<void, McpClientError>
  /** Whether the server is there: `ping`, and on 2026-07-28 `server/discover`. */
  readonly ping: Effect.Effect<void, McpClientError>
  /** Subscribes to changes, waits for the server's word, and gives them as a stream until the scope closes. */
  readonly subscribe: (
    interest: Subscriptions.Interest
  ) => Effect.Effect<Stream.Stream<Subscriptions.Change, McpClientError>, McpClientError, Scope.Scope>
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
  /** A request of any name, its result unread. */
  readonly requestRaw: (
    method: string,
    params?: JsonRpc.JsonObject,
    options?: RequestOptions
  ) => Effect.Effect<JsonRpc.JsonObject, McpClientError>
  /** A notification of any name. */
  readonly notifyRaw: (method: string, params?: JsonRpc.JsonObject) => Effect.Effect<void, McpClientError>
}>()("@mcpfx/client/McpClient") {}

/**
 * A client over the transport in the context; its scope ends the connection.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(options: ClientOptions = {}) {
  const transport = yield* ClientTransport
  const answerers = yield* ClientHandlers.Answerers
  const validator = yield* JsonSchemaValidator.JsonSchemaValidator
  const notifications = Notifications.make()
  const connection = yield* Connection.make(
    transport,
    ClientHandlers.make(answerers, notifications),
    ClientHandlers.declared(answerers, options.capabilities),
    options
  )
  const cache = ResponseCache.make(options.cacheCapacity)
  const requests = Requests.make(connection, cache, options)
  const lists = Lists.make(connection, requests, cache, options)
  const calls = Calls.make(connection, requests, lists, validator, options)
  const subscriptions = Subscriptions.make(connection, notifications)
  yield* invalidateOn(notifications, cache)
  if (options.lazy !== true) yield* connection.live

  return McpClient.of({
    server: connection.live,
    call: calls.call,
    callTool: calls.callTool,
    tools: lists.tools,
    resources: lists.resources,
    resourceTemplates: lists.resourceTemplates,
    prompts: lists.prompts,
    readResource: requests.readResource,
    getPrompt: requests.getPrompt,
    complete: requests.complete,
    setLogLevel: requests.setLogLevel,
    ping: requests.ping,
    subscribe: subscriptions.subscribe,
    logs: notifications.stream(Methods.LoggingMessage),
    notifications: notifications.stream,
    request: requests.request,
    requestRaw: requests.requestRaw,
    notifyRaw: requests.notifyRaw
  })
})

/** A notification about a list or a resource drops the answers it makes stale (CCH-06). */
const invalidateOn = (notifications: Notifications.Notifications, cache: ResponseCache.ResponseCache) =>
  Effect.all([
    notifications.listen(Methods.ToolsListChanged, () => cache.invalidate({ kind: "tools" })),
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

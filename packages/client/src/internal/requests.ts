/** The plain requests of a client: one method each, with kept answers where the server allows them. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import type { InputRequired } from "@mcpfx/schema/InputRequired"
import type * as Logging from "@mcpfx/schema/Logging"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import * as Outcome from "@mcpfx/schema/Outcome"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as Effect from "effect/Effect"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection, Live } from "../Connection.ts"
import type { McpClient } from "../McpClient.ts"
import { fail, InputNeeded, mapPeer, type McpClientError } from "../McpClientError.ts"
import { isPart, type ResponseCache, type Table } from "../ResponseCache.ts"

type Service = McpClient["Service"]

export interface Requests extends
  Pick<
    Service,
    "request" | "requestRaw" | "notifyRaw" | "readResource" | "getPrompt" | "complete" | "setLogLevel" | "ping"
  >
{
  /** A request whose answers may be kept in `table`. */
  readonly cached: <Name extends string, Params extends object, Result>(
    table: Table<Result>,
    method: Method.RequestMethod<Name, Params, Result>,
    params: Params,
    options?: RequestOptions
  ) => Effect.Effect<Result, McpClientError>
  /** The caller's options over the client's own. */
  readonly optionsFor: (live: Live, options: RequestOptions | undefined) => RequestOptions
}

/** What a server asks for that nobody here can give. */
export const inputNeeded = (method: string, { inputRequests = {} }: InputRequired): McpClientError => {
  const asks = Object.values(inputRequests).map(({ method }): Capabilities.Ask =>
    method === "elicitation/create" ? "elicitation.form" : method === "roots/list" ? "roots" : "sampling"
  )
  return fail(new InputNeeded({ required: Capabilities.required(asks) }), method)
}

export const make = (connection: Connection, cache: ResponseCache, defaults: ClientOptions): Requests => {
  let logLevel: Logging.Level | undefined
  let generation = 0

  /** On 2026-07-28 each request says which logs it wants (LOG-03). */
  const optionsFor: Requests["optionsFor"] = (live, options) => {
    if (live.generation !== generation) {
      generation = live.generation
      cache.clear()
    }
    const modernLogs = logLevel !== undefined && live.revision.era === "modern"
    return {
      ...options,
      timeout: options?.timeout ?? defaults.timeout,
      maxTimeout: options?.maxTimeout ?? defaults.maxTimeout,
      meta: modernLogs ? { ...options?.meta, [MetaKey.logLevel]: logLevel } : options?.meta
    }
  }

  const request: Service["request"] = (method, params, options) =>
    connection.use(method.name, (live) => live.session.peer.request(method, params, optionsFor(live, options)))

  const cached: Requests["cached"] = (table, method, params, options) =>
    Effect.clockWith((clock) => {
      const kept = table.get(params, clock.currentTimeMillisUnsafe())
      if (kept !== undefined) return Effect.succeed(kept)
      return Effect.map(request(method, params, options), (result) => {
        table.put(params, result, clock.currentTimeMillisUnsafe())
        return result
      })
    })

  const reads = cache.table<Outcome.ResourceRead>((change, params) =>
    change.kind === "resource" && "uri" in params && typeof params.uri === "string" &&
    (isPart(params.uri, change.uri) || isPart(change.uri, params.uri))
  )

  return {
    request,
    cached,
    optionsFor,
    requestRaw: (method, params = {}, options) =>
      connection.use(method, (live) => live.session.peer.requestRaw(method, params, optionsFor(live, options))),
    notifyRaw: (method, params = {}) => connection.use(method, (live) => live.session.peer.notifyRaw(method, params)),
    readResource: (uri, options) =>
      Effect.flatMap(
        cached(reads, Methods.ResourcesRead, { uri }, options),
        (outcome) =>
          Outcome.isInputRequired(outcome)
            ? Effect.fail(inputNeeded(Methods.ResourcesRead.name, outcome))
            : Effect.succeed(outcome)
      ),
    getPrompt: (name, args, options) =>
      Effect.flatMap(
        request(Methods.PromptsGet, args === undefined ? { name } : { name, arguments: args }, options),
        (outcome) =>
          Outcome.isInputRequired(outcome)
            ? Effect.fail(inputNeeded(Methods.PromptsGet.name, outcome))
            : Effect.succeed(outcome)
      ),
    complete: (ref, argument, filled) =>
      Effect.map(
        request(Methods.CompletionComplete, {
          ref,
          argument,
          ...(filled === undefined ? undefined : { context: { arguments: filled } })
        }),
        ({ completion }) => completion
      ),
    setLogLevel: (level) =>
      connection.use(Methods.LoggingSetLevel.name, (live) => {
        logLevel = level
        return live.revision.era === "modern"
          ? Effect.void
          : Effect.asVoid(live.session.peer.request(Methods.LoggingSetLevel, { level }))
      }),
    ping: Effect.flatMap(connection.live, ({ revision, session }) =>
      mapPeer(Methods.Ping.name)(
        revision.era === "modern"
          ? Effect.asVoid(session.peer.request(Methods.Discover, {}))
          : Effect.asVoid(session.peer.request(Methods.Ping, {}))
      ))
  }
}

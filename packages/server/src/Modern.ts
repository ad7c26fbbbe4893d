/**
 * Requests of 2026-07-28: each stands alone. What is known about the client is what `_meta` of the request says, and
 * everything the request leads to ends with it.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as McpError from "@mcpfx/schema/McpError"
import * as Meta from "@mcpfx/schema/Meta"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as InFlight from "@mcpfx/session/InFlight"
import * as Progress from "@mcpfx/session/Progress"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Telemetry from "@mcpfx/session/Telemetry"
import type { Admission, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange, Facts, Outlet } from "@mcpfx/transport/Exchange"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Dispatcher } from "./Dispatcher.ts"
import { modernRefusal, rejected, scopeRefusal } from "./internal/admission.ts"
import { named } from "./internal/entries.ts"
import type { Registry } from "./Registry.ts"

type Request = RequestContext["Service"]

const noMeta: JsonRpc.JsonObject = {}

/** What is known of a request that brings everything with it. */
export class Single implements Request {
  readonly method: string
  readonly id: JsonRpc.RequestId
  readonly revision: Revision
  readonly sessionId = undefined
  readonly facts: Facts
  readonly clientCapabilities: Capabilities.Client
  readonly clientInfo: Implementation.Implementation | undefined
  readonly meta: JsonRpc.JsonObject
  readonly progressToken: string | number | undefined
  readonly progress: Progress.Reporter | undefined
  readonly logLevel: Logging.Level | undefined
  readonly notify: Request["notify"]
  readonly asker = undefined
  readonly round = 1

  constructor(
    request: JsonRpc.Request,
    revision: Revision,
    facts: Facts,
    outlet: Outlet,
    client: Pick<Meta.Envelope, "clientCapabilities" | "clientInfo" | "logLevel">
  ) {
    this.method = request.method
    this.id = request.id
    this.revision = revision
    this.facts = facts
    this.clientCapabilities = client.clientCapabilities
    this.clientInfo = client.clientInfo
    const meta = request.params?.["_meta"]
    this.meta = JsonRpc.isJsonObject(meta) ? meta : noMeta
    const notify: Request["notify"] = <Name extends string, Params>(
      method: Method.NotificationMethod<Name, Params>,
      params: Params
    ): Effect.Effect<void> => {
      const codec = revision.notification(method)
      // A notification that the revision does not have is left out.
      return codec === undefined
        ? Effect.void
        : Effect.suspend(() => outlet.push(JsonRpc.notification(method.name, codec.encodeParams(params))))
    }
    this.notify = notify
    // A listen stream carries changes and nothing else (SUB-10).
    const listens = request.method === Methods.SubscriptionsListen.name
    this.logLevel = listens ? undefined : client.logLevel
    const token = listens ? undefined : Meta.progressToken(request.params)
    this.progressToken = token
    this.progress = token === undefined
      ? undefined
      : Progress.make({ token, send: (params) => notify(Methods.Progress, params) })
  }
}

const admitted: Exit.Exit<Admission> = Exit.succeed({})

/**
 * What serving requests one by one takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly dispatcher: Dispatcher["Service"]
  readonly registry: Registry["Service"]
  /** What handlers run with. */
  readonly context: Context.Context<never>
}

/**
 * Starts requests, each with a scope of its own, and admits or refuses them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Modern {
  /** Checks and starts a request; the effect is an `Exit`. `key` is what the table knows it by. */
  readonly start: (
    exchange: Exchange,
    request: JsonRpc.Request,
    context: Request,
    inFlight: InFlight.InFlight,
    key: unknown
  ) => Exit.Exit<Admission, Rejected>
}

const refusals: Readonly<Record<InFlight.Refusal, McpError.McpError>> = {
  Taken: new McpError.InvalidRequest({ detail: "A request of this id is in flight" }),
  Full: new McpError.TooManyRequests({ limit: "inFlight", retryAfter: 1 }),
  Closed: new McpError.ServerShuttingDown()
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Modern => {
  const { context: base, dispatcher, registry } = options
  const listener = Telemetry.listener(base)

  const refuse = (request: JsonRpc.Request, context: Request): Rejected | undefined => {
    const entry = named(registry.snapshot(), request)
    if (entry !== undefined) {
      const refusal = scopeRefusal(entry, context) ??
        (context.revision.era === "modern" ? modernRefusal(entry, request, context) : undefined)
      if (refusal !== undefined) return refusal
    }
    return dispatcher.has(request.method, context)
      ? undefined
      : rejected(new McpError.MethodNotFound({ method: request.method }), context.revision)
  }

  const run = (request: JsonRpc.Request, context: Request) => {
    const effect = dispatcher.request(request, context)
    return listener === undefined ? effect : listener.serve(
      effect,
      {
        method: request.method,
        params: request.params,
        id: request.id,
        revision: context.revision,
        sessionId: undefined,
        transport: context.facts.transport
      },
      context.facts
    )
  }

  return {
    start: (exchange, request, context, inFlight, key) => {
      const refusal = refuse(request, context)
      if (refusal !== undefined) return Exit.fail(refusal)
      const refused = inFlight.start({
        id: request.id,
        key,
        method: request.method,
        outlet: exchange.outlet,
        revision: context.revision,
        context: Context.add(base, RequestContext, context),
        effect: run(request, context)
      })
      if (refused !== undefined) return Exit.fail(rejected(refusals[refused], context.revision))
      return inFlight.has(key) ? Exit.succeed({ disconnected: () => void inFlight.interrupt(key) }) : admitted
    }
  }
}

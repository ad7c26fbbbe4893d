/**
 * Requests that stand alone: those of 2026-07-28, and those of older revisions where no session is kept. What is known about
 * the client came with the request, and everything the request leads to ends with it.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type * as InFlight from "@mcpfx/session/InFlight"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Telemetry from "@mcpfx/session/Telemetry"
import type { Admission, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange } from "@mcpfx/transport/Exchange"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Dispatcher } from "./Dispatcher.ts"
import { modernRefusal, rejected, scopeRefusal } from "./internal/admission.ts"
import { named } from "./internal/entries.ts"
import { type Client, Single } from "./internal/single.ts"
import type { Registry } from "./Registry.ts"

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
 * A request and where it is kept while it runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Start {
  readonly exchange: Exchange
  readonly request: JsonRpc.Request
  readonly client: Client
  readonly inFlight: InFlight.InFlight
  /** What the table knows it by. */
  readonly key: unknown
}

/**
 * Starts requests, each with a scope of its own, and admits or refuses them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Modern {
  /**
   * Checks a request and starts it. The effect is an `Exit`; a client that leaves interrupts a request of 2026-07-28, not
   * one of an older revision (HTTP-26, HTTP-62).
   */
  readonly start: (start: Start) => Exit.Exit<Admission, Rejected>
}

const refusals: Readonly<Record<InFlight.Refusal, McpError.McpError>> = {
  Taken: new McpError.InvalidRequest({ detail: "A request of this id is in flight" }),
  Full: new McpError.TooManyRequests({ limit: "requestsInFlight", retryAfter: 1 }),
  Closed: new McpError.ServerShuttingDown()
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Modern => {
  const { context: base, dispatcher, registry } = options
  const listener = Telemetry.listener(base)

  const refuse = (request: JsonRpc.Request, context: Single): Rejected | undefined => {
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

  const run = (request: JsonRpc.Request, context: Single) => {
    const effect = Effect.suspend(() => dispatcher.request(request, context))
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
    start: ({ client, exchange, inFlight, key, request }) => {
      const context = new Single(request, client, exchange.outlet)
      const refusal = refuse(request, context)
      if (refusal !== undefined) return Exit.fail(refusal)
      const refused = inFlight.start({
        id: request.id,
        key,
        method: request.method,
        outlet: exchange.outlet,
        revision: client.revision,
        context: Context.add(base, RequestContext, context),
        effect: run(request, context),
        watcher: context
      })
      if (refused !== undefined) return Exit.fail(rejected(refusals[refused], client.revision))
      return client.revision.era === "modern" && inFlight.has(key)
        ? Exit.succeed({ disconnected: () => void inFlight.interrupt(key) })
        : admitted
    }
  }
}

/**
 * Requests that stand alone: those of 2026-07-28, and those of older revisions where no session is kept. What is known about
 * the client came with the request, and everything the request leads to ends with it.
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
import type { Dispatcher } from "../Dispatcher.ts"
import type { Registry } from "../Registry.ts"
import { modernRefusal, rejected, scopeRefusal } from "./admission.ts"
import type { Asks } from "./asks.ts"
import { concerned, named } from "./entries.ts"
import { isExit } from "./exit.ts"
import type { Http } from "./http.ts"
import type { Answer } from "./lane.ts"
import { foreign, stateOf } from "./retry.ts"
import { type Client, Single } from "./single.ts"

const admitted: Exit.Exit<Admission> = Exit.succeed({})

/** What serving requests one by one takes. */
export interface Options {
  readonly dispatcher: Dispatcher["Service"]
  readonly registry: Registry["Service"]
  /** What handlers run with. */
  readonly context: Context.Context<never>
  /** How they ask; `undefined` where none of them can. */
  readonly asks: Asks | undefined
  /** What a transport has to say against a request of 2026-07-28 for an entry. */
  readonly refusal: Http["refusal"]
}

/** A request and where it is kept while it runs. */
export interface Start {
  readonly exchange: Exchange
  readonly request: JsonRpc.Request
  readonly client: Client
  readonly inFlight: InFlight.InFlight
  /** What the table knows it by. */
  readonly key: unknown
}

/** Starts requests, each with a scope of its own, and admits or refuses them. */
export interface Modern {
  /**
   * Checks a request and starts it. The effect is an `Exit`; a client that leaves interrupts a request of 2026-07-28, not
   * one of an older revision (HTTP-26, HTTP-62).
   */
  readonly start: (start: Start) => Exit.Exit<Admission, Rejected>
}

const refusals: Readonly<Record<InFlight.Refusal, () => McpError.McpError>> = {
  Taken: () => new McpError.InvalidRequest({ detail: "A request of this id is in flight" }),
  Full: () => new McpError.TooManyRequests({ limit: "requestsInFlight", retryAfter: 1 }),
  Closed: () => new McpError.ServerShuttingDown()
}

export const make = (options: Options): Modern => {
  const { asks, context: base, dispatcher, refusal: refusalOfTransport, registry } = options
  const listener = Telemetry.listener(base)

  const refuse = (request: JsonRpc.Request, context: Single): Rejected | undefined => {
    const snapshot = registry.snapshot()
    const itself = () => context
    const entry = named(snapshot, request, itself)
    if (entry === undefined) {
      const other = concerned(snapshot, request, itself)
      const refusal = other === undefined ? undefined : scopeRefusal(other, context)
      if (refusal !== undefined) return refusal
    } else {
      const refusal = scopeRefusal(entry, context) ??
        (context.revision.era === "modern"
          ? modernRefusal(entry, context) ?? refusalOfTransport(entry, request, context)
          : undefined)
      if (refusal !== undefined) return refusal
    }
    return dispatcher.has(request.method, context)
      ? undefined
      : rejected(dispatcher.absent(request.method, context), context.revision)
  }

  const serve = (request: JsonRpc.Request, context: Single): Answer => {
    const answer = dispatcher.request(request, context)
    // Rounds look at the fiber that serves the request. What has ended already has none.
    return context.asks === undefined || isExit(answer) ? answer : Effect.withFiber((fiber) => {
      context.fiber = fiber
      return answer
    })
  }

  const begin = (request: JsonRpc.Request, context: Single): Answer => {
    const state = context.revision.era === "modern" ? stateOf(request) : undefined
    if (state === undefined && listener === undefined) return serve(request, context)
    const first = Effect.suspend(() => serve(request, context))
    const effect = state === undefined
      ? first
      : Effect.andThen(asks === undefined ? foreign : asks.resume(context, request, state), first)
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
      const modern = client.revision.era === "modern"
      const context = new Single(request, client, exchange.outlet)
      const refusal = refuse(request, context)
      if (refusal !== undefined) return Exit.fail(refusal)
      if (modern) {
        context.asks = asks
        context.request = request
      }
      const refused = inFlight.start({
        id: request.id,
        key,
        method: request.method,
        outlet: exchange.outlet,
        revision: client.revision,
        begin: () => begin(request, context),
        context: () => Context.add(base, RequestContext, context),
        watcher: context
      })
      if (refused !== undefined) return Exit.fail(rejected(refusals[refused](), client.revision))
      return modern && inFlight.has(key)
        ? Exit.succeed({ disconnected: () => void inFlight.interrupt(key) })
        : admitted
    }
  }
}

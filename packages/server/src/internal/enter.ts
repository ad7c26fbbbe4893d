/** Gives an effect the facts of its request, and a scope that ends with it. */
import { RequestContext } from "@mcpfx/session/RequestContext"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { RequestServices } from "../Entry.ts"
import * as LogBridge from "../LogBridge.ts"

type Request = RequestContext["Service"]

/** Whoever runs requests gives each a scope and, mostly, its context already: then there is nothing to add. */
const isEntered = (
  context: Context.Context<Scope.Scope>,
  request: Request
): context is Context.Context<RequestServices> => Context.getOrUndefined(context, RequestContext) === request

const hasScope = (context: Context.Context<never>): context is Context.Context<Scope.Scope> =>
  Context.getOrUndefined(context, Scope.Scope) !== undefined

const enter = (context: Context.Context<Scope.Scope>, request: Request): Context.Context<RequestServices> => {
  const entered = isEntered(context, request) ? context : Context.add(context, RequestContext, request)
  const { principal } = request.facts
  const identified = Option.isSome(principal) && Context.get(entered, CurrentPrincipal) !== principal
    ? Context.add(entered, CurrentPrincipal, principal)
    : entered
  return LogBridge.listen(identified, request.logLevel)
}

export const entering = <A, E>(
  effect: Effect.Effect<A, E, RequestServices>,
  request: Request
): Effect.Effect<A, E> =>
  Effect.contextWith((context: Context.Context<never>) => {
    if (!hasScope(context)) {
      return Effect.scoped(
        Effect.updateContext(effect, (scoped: Context.Context<Scope.Scope>) => enter(scoped, request))
      )
    }
    return Effect.updateContext(effect, (_: Context.Context<never>) => enter(context, request))
  })

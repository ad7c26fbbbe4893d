/** Gives an effect the facts of its request, and a scope that ends with it. */
import { RequestContext } from "@mcpfx/session/RequestContext"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { RequestServices } from "../Entry.ts"
import * as LogBridge from "../LogBridge.ts"
import { isExit } from "./exit.ts"

type Request = RequestContext["Service"]

const hasScope = (context: Context.Context<never>): context is Context.Context<Scope.Scope> =>
  Context.getOrUndefined(context, Scope.Scope) !== undefined

const isEntered = (
  context: Context.Context<Scope.Scope>,
  request: Request
): context is Context.Context<RequestServices> => Context.getOrUndefined(context, RequestContext) === request

/** Whoever runs requests gives each a scope; without one there is that of the fiber. */
const scoped = (context: Context.Context<never>): Context.Context<Scope.Scope> => {
  if (hasScope(context)) return context
  const scope = Scope.makeUnsafe()
  Fiber.getCurrent()?.addObserver(() => void Effect.runForkWith(context)(Scope.close(scope, Exit.void)))
  return Context.add(context, Scope.Scope, scope)
}

/** Mostly everything is there already, and nothing is added. */
const enter = (outer: Context.Context<never>, request: Request): Context.Context<RequestServices> => {
  const context = scoped(outer)
  const entered = isEntered(context, request) ? context : Context.add(context, RequestContext, request)
  const { principal } = request.facts
  const identified = Option.isSome(principal) && Context.get(entered, CurrentPrincipal) !== principal
    ? Context.add(entered, CurrentPrincipal, principal)
    : entered
  return LogBridge.listen(identified, request.logLevel)
}

/** Whether the fiber that asks, and so will run the effect, has everything there already: mostly it does. */
const isServed = <A, E>(
  effect: Effect.Effect<A, E, RequestServices>,
  request: Request
): effect is Effect.Effect<A, E> => {
  const context = Fiber.getCurrent()?.context
  return context !== undefined && hasScope(context) && isEntered(context, request) &&
    enter(context, request) === context
}

export const entering = <A, E>(
  effect: Effect.Effect<A, E, RequestServices>,
  request: Request
): Effect.Effect<A, E> =>
  isExit(effect) || isServed(effect, request)
    ? effect
    : Effect.updateContext(effect, (context: Context.Context<never>) => enter(context, request))

/** Which parts of a context belong to the moment and not to the program that was put together. */
import { RequestContext } from "@mcpfx/session/RequestContext"
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import type * as Context from "effect/Context"
import { CurrentEnclosing } from "./enclosing.ts"
import { CurrentGroup, CurrentInteraction, CurrentStep } from "./interaction.ts"

/** The references of Effect's run-time, its spans, scopes and the memo map of layers. */
const ofTheRuntime =
  /^effect\/(?:Clock|ConfigProvider|Console|ErrorReporter|ExecutionPlan|Layer|Logger|ManagedRuntime|Metric|Random|References|Schedule|Scheduler|Scope|Tracer)(?:\/|$)/

const ofTheMoment: ReadonlySet<string> = new Set([
  RequestContext.key,
  CurrentPrincipal.key,
  CurrentEnclosing.key,
  CurrentInteraction.key,
  CurrentGroup.key,
  CurrentStep.key
])

/**
 * Whether a layer must not keep what stands under this key for the requests that come later: the clock, loggers, spans
 * and the like are those of the request, not those of the moment in which the handler was registered.
 */
export const isAmbient = (key: string): boolean => ofTheMoment.has(key) || ofTheRuntime.test(key)

const bases = new WeakMap<object, Context.Context<never>>()

/** Notes what stood in the context where a registry was built: what the endpoint was given from outside. */
export const rememberBase = (registry: object, base: Context.Context<never>): void => {
  bases.set(registry, base)
}

/** `undefined` for a registry made by other means, as tests do. */
export const baseOf = (registry: object): Context.Context<never> | undefined => bases.get(registry)

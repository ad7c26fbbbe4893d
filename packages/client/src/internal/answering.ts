/** Runs a handler of asks with the services that its layer was built with. */
import { CurrentPrincipal } from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Tracer from "effect/Tracer"
import { AskContext } from "../AskContext.ts"

/** What belongs to the moment in which the layer was built, and not to the program. */
const ofTheMoment: ReadonlySet<string> = new Set([
  CurrentPrincipal.key,
  Layer.CurrentMemoMap.key,
  Scope.Scope.key,
  Tracer.ParentSpanKey
])

/** Runs a handler; the layer's type has to say that its requirements are there. */
export type Run = <A, E, R>(
  handler: Effect.Effect<A, E, R>,
  facts: AskContext["Service"]
) => Effect.Effect<A, E>

/** Takes hold of the services that the layer is being built with. */
export const capture: Effect.Effect<Run> = Effect.contextWith((context: Context.Context<never>) => {
  const captured = [...context.mapUnsafe].filter(([key]) => !ofTheMoment.has(key))
  const run: Run = <A, E, R>(handler: Effect.Effect<A, E, R>, facts: AskContext["Service"]) =>
    Effect.scopedWith((scope) =>
      Effect.contextWith((ambient: Context.Context<never>) => {
        const all = new Map(ambient.mapUnsafe)
        for (const [key, value] of captured) all.set(key, value)
        all.set(AskContext.key, facts)
        all.set(Scope.Scope.key, scope)
        return Effect.provideContext(handler, Context.makeUnsafe<R>(all))
      })
    )
  return Effect.succeed(run)
})

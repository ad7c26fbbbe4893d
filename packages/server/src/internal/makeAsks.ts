/** Brings together what the rounds of an endpoint need, from inside and outside of it. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ReplayGuard } from "../ReplayGuard.ts"
import * as RequestState from "../RequestState.ts"
import { StateStore } from "../StateStore.ts"
import { StepStore } from "../StepStore.ts"
import type { MakeAsks } from "./asking.ts"
import { Asks } from "./asks.ts"
import type { Settings } from "./settings.ts"

/** The service that seals states: one from outside, or one of the endpoint's own. */
const sealing = (settings: Settings) =>
  Effect.flatMap(
    Effect.serviceOption(RequestState.RequestState),
    Option.match({
      onSome: (outer) => Effect.succeed(outer),
      onNone: () =>
        Effect.map(
          Layer.build(
            settings.stateKeys === undefined ? RequestState.layerRandom : RequestState.layer(settings.stateKeys)
          ),
          Context.get(RequestState.RequestState)
        )
    })
  )

export const makeAsks: MakeAsks = (settings) =>
  Effect.gen(function*() {
    return new Asks({
      state: yield* sealing(settings),
      limits: settings.limits,
      serverInfo: settings.info,
      states: Option.getOrUndefined(yield* Effect.serviceOption(StateStore)),
      guard: Option.getOrUndefined(yield* Effect.serviceOption(ReplayGuard)),
      steps: Option.getOrUndefined(yield* Effect.serviceOption(StepStore))
    })
  })

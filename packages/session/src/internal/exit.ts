import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Whether an effect has ended already, and need not be run. */
export const isExit = <A, E, R>(effect: Effect.Effect<A, E, R>): effect is Exit.Exit<A, E> => Exit.isExit(effect)

import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** Whether an effect has its outcome already: nearly every admission does, and then nothing has to be run. */
export const isExit = <A, E>(effect: Effect.Effect<A, E>): effect is Exit.Exit<A, E> => Exit.isExit(effect)

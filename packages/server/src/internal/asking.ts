/**
 * Where the modules that ask leave what takes a question through the rounds of 2026-07-28. `Input` and `Step` do so when
 * they are loaded, so a program that has neither is spared the engine, and needs none: nothing in it could have asked.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { InvalidOptions } from "../ServerError.ts"
import type { Asks } from "./asks.ts"
import type { Settings } from "./settings.ts"

/** Makes what all rounds of an endpoint share. */
export type MakeAsks = (settings: Settings) => Effect.Effect<Asks, InvalidOptions, Scope.Scope>

const brought: { make: MakeAsks | undefined } = { make: undefined }

export const bring = (make: MakeAsks): void => {
  brought.make = make
}

/** `undefined` where nothing asks: a state that comes back then is nobody's. */
export const asksOf = (settings: Settings): Effect.Effect<Asks | undefined, InvalidOptions, Scope.Scope> =>
  Effect.suspend(() => brought.make?.(settings) ?? Effect.undefined)

import type * as Effect from "effect/Effect"
import * as AuthError from "../AuthError.ts"

/** Fails for what the program itself was told. */
export const misconfigured = (detail: string): Effect.Effect<never, AuthError.AuthError> =>
  AuthError.fail(new AuthError.Misconfigured({ detail }))

import { type Exclusive, makeExclusive as makeExclusiveHere, TokenStoreError } from "@mcpfx/auth/TokenStore"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type { FileLockError } from "../FileLockError.ts"
import { hold } from "./contender.ts"

const failed = (error: FileLockError): TokenStoreError =>
  new TokenStoreError({ operation: "lock", detail: error.message, cause: error })

/** `exclusive` across processes: those of this process queue here, and one at a time goes for the lock file. */
export const makeExclusive = (
  files: FileSystem.FileSystem,
  pathOf: (key: string) => string,
  wait: Duration.Input | undefined
): Exclusive => {
  const patience = Duration.fromInputUnsafe(wait ?? "1 minute")
  const here = makeExclusiveHere({ wait: patience })
  const settings = { wait: Duration.toMillis(patience), stale: 15_000 }
  return (key, effect) =>
    here(
      key,
      // Its own failures are not those of the lock, though they may look the same.
      hold(files, pathOf(key), settings, Effect.result(effect)).pipe(
        Effect.mapError(failed),
        Effect.flatMap(Effect.fromResult)
      )
    )
}

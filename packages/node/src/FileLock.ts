/**
 * A lock across the processes of a machine, and, with less certainty, across machines that share a folder.
 *
 * The lock is a file that says which process holds it. One whose process is gone is taken over at once, after a crash as
 * well; a process that lives keeps it for as long as it runs what it holds it for, asleep or busy though it may be. Where
 * nobody can see whether it lives (another machine, another container, a system other than Linux) it counts as gone when
 * its file has shown no sign of life for `stale`, which is counted while the one who waits is awake; should it live after
 * all, what it runs is interrupted.
 *
 * **Example** (One at a time)
 *
 * ```ts
 * import { NodeServices } from "@effect/platform-node"
 * import { FileLock } from "@mcpfx/node"
 * import { Effect } from "effect"
 *
 * const refresh = Effect.log("nobody else is here")
 *
 * export const program = refresh.pipe(
 *   FileLock.withLock("/var/lib/app/refresh.lock", { wait: "10 seconds" }),
 *   Effect.provide(NodeServices.layer)
 * )
 * ```
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type { FileLockError } from "./FileLockError.ts"
import { hold } from "./internal/contender.ts"

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How long to wait for the lock. Default 1 minute. */
  readonly wait?: Duration.Input | undefined
  /** How long an owner of whom nothing else can be known may show no sign of life. Default 15 seconds. */
  readonly stale?: Duration.Input | undefined
}

const millis = (input: Duration.Input): number => Duration.toMillis(Duration.fromInputUnsafe(input))

/**
 * Runs an effect while this fiber alone, of all processes, holds the lock of a path. The file is made there, and removed
 * when the effect has ended in any way; its folder has to be there. The lock may not be taken again from within.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withLock = (path: string, options?: Options) => {
  const settings = { wait: millis(options?.wait ?? "1 minute"), stale: millis(options?.stale ?? "15 seconds") }
  return <A, E, R>(
    effect: Effect.Effect<A, E, R>
  ): Effect.Effect<A, E | FileLockError, R | FileSystem.FileSystem> =>
    Effect.flatMap(FileSystem.FileSystem, (files) => hold(files, path, settings, effect))
}

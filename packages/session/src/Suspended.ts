/**
 * How the end of a handler that waits for answers is told from the end of one that was cancelled.
 *
 * On 2026-07-28 a handler that asks its client is interrupted and runs again with the answer. Its finalizers run, with a
 * cause that is annotated here.
 *
 * **Example** (A cancellation is none)
 *
 * ```ts
 * import { Suspended } from "@mcpfx/session"
 * import { Exit } from "effect"
 *
 * Suspended.isSuspended(Exit.interrupt()) // => false
 * ```
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"

/**
 * Stands in the annotations of the interruption.
 *
 * @category annotations
 * @since 0.1.0
 */
export class Suspended extends Context.Service<Suspended, true>()("@mcpfx/session/Suspended") {}

/**
 * What a fiber is interrupted with.
 *
 * @category annotations
 * @since 0.1.0
 */
export const annotations: Context.Context<never> = Context.make(Suspended, true)

/**
 * Whether something ended only because answers are awaited.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSuspended = (self: Exit.Exit<unknown, unknown> | Cause.Cause<unknown>): boolean => {
  const cause = Cause.isCause(self) ? self : Exit.isFailure(self) ? self.cause : undefined
  return cause !== undefined && Cause.hasInterruptsOnly(cause) &&
    Context.getOrUndefined(Cause.annotations(cause), Suspended) === true
}

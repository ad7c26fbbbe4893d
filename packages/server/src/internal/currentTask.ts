/** The task that a handler runs as, apart from what runs tasks. */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/**
 * A call that runs as a task, or may become one.
 *
 * @category models
 * @since 0.1.0
 */
export interface Running {
  /** The id of the task; `undefined` while there is none. */
  readonly id: () => string | undefined
  /** Makes a task of the call, where it is none and can be one. */
  readonly detach: Effect.Effect<void>
}

/**
 * The task that the current handler runs as; `undefined` in calls that are none and cannot become one.
 *
 * @category references
 * @since 0.1.0
 */
export const CurrentTask = Context.Reference<Running | undefined>("@mcpfx/server/CurrentTask", {
  defaultValue: () => undefined
})

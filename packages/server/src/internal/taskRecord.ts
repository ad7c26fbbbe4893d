/**
 * The port of kept tasks, apart from what can be behind it: most programs keep them in memory, and should not load a
 * database.
 */
import type { TaskRecord } from "@mcpfx/session/TaskState"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { TaskStoreUnavailable } from "../ServerError.ts"

/**
 * A page of the tasks of one principal.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskPage {
  /** In the order of their ids. */
  readonly records: ReadonlyArray<TaskRecord>
  /** Whether there are more behind the last one. */
  readonly more: boolean
}

/**
 * Where tasks are kept. A record that has expired need not be kept any more: whoever reads one looks at its time.
 *
 * @category services
 * @since 0.1.0
 */
export class TaskStore extends Context.Service<TaskStore, {
  /** The name of this process in the records of the tasks that it runs; another one after each start. */
  readonly owner: string
  /** Whether the process of that name still runs its tasks: what is not finished of others was lost with them. */
  readonly isAlive: (owner: string) => Effect.Effect<boolean, TaskStoreUnavailable>
  /** Keeps a new task, unless `limit` of them are kept already. */
  readonly create: (record: TaskRecord, limit: number) => Effect.Effect<"Created" | "Full", TaskStoreUnavailable>
  readonly get: (id: string) => Effect.Effect<Option.Option<TaskRecord>, TaskStoreUnavailable>
  /** Replaces the record of `record.id` if it still is the one of version `expected`, as one step. */
  readonly update: (
    record: TaskRecord,
    expected: number
  ) => Effect.Effect<"Updated" | "Conflict" | "Missing", TaskStoreUnavailable>
  /** At most `limit` tasks of a principal, those with ids after `after`, which need not exist any more. */
  readonly list: (options: {
    readonly principal: string
    readonly after: string | undefined
    readonly limit: number
  }) => Effect.Effect<TaskPage, TaskStoreUnavailable>
  /** Removes a task; succeeds where there is none. */
  readonly remove: (id: string) => Effect.Effect<void, TaskStoreUnavailable>
  /** Removes what has expired at `now`, in milliseconds since the epoch; does nothing in stores that do so by themselves. */
  readonly expire: (now: number) => Effect.Effect<void, TaskStoreUnavailable>
}>()("@mcpfx/server/TaskStore") {}

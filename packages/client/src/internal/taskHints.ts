/** Word of the server that a task has changed: it makes a look come sooner, and is never relied on (TKL-07). */
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Task from "@mcpfx/schema/Task"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Connection } from "../Connection.ts"
import type { Notifications } from "../Notifications.ts"

export interface Hints {
  /** Waits so many milliseconds, or until there is word that the task has changed since the last wait. */
  readonly pause: (millis: number) => Effect.Effect<void>
}

const sources: ReadonlyArray<Method.NotificationMethod<string, Task.StatusParams>> = [
  Methods.TasksStatus,
  Methods.TasksChanged
]

/** Listens while the scope is open; `listens` says whether to open a stream for it where that takes one. */
export const hints = (
  connection: Connection,
  notifications: Notifications,
  id: string,
  listens: boolean
): Effect.Effect<Hints, never, Scope.Scope> =>
  Effect.gen(function*() {
    let heard = false
    let wake: (() => void) | undefined
    const hear = (params: Task.StatusParams): void => {
      if (params.taskId !== id) return
      heard = true
      wake?.()
    }
    yield* Effect.forEach(sources, (source) => notifications.listen(source, hear), { discard: true })
    if (listens) yield* Effect.forkScoped(Effect.ignore(listen(connection, id)))
    const word = Effect.callback<void>((resume) => {
      wake = () => resume(Effect.void)
      if (heard) wake()
      return Effect.sync(() => {
        wake = undefined
      })
    })
    return {
      pause: (millis) =>
        Effect.andThen(
          Effect.raceFirst(word, Effect.sleep(Duration.millis(millis))),
          Effect.sync(() => {
            heard = false
            wake = undefined
          })
        )
    }
  })

const listen = (connection: Connection, id: string) =>
  connection.use(Methods.SubscriptionsListen.name, (live) =>
    live.revision.request(Methods.TasksUpdate) === undefined
      ? Effect.void
      : live.session.peer.request(Methods.SubscriptionsListen, { notifications: { taskIds: [id] } }, {
        timeout: Duration.infinity,
        maxTimeout: Duration.infinity
      }))

/** Telling listeners of tasks how those stand, in the extension (TKX-13). */
import * as Methods from "@mcpfx/schema/Methods"
import * as Effect from "effect/Effect"
import type { Also } from "../Listen.ts"
import type { Lane, Request } from "./lane.ts"
import type { TaskEngine } from "./taskEngine.ts"
import { detailed } from "./taskRoutes.ts"
import { principalOf } from "./taskStart.ts"

/** What waits to be told, each task once. */
class Dirty {
  private readonly ids: Set<string>
  private wake: (() => void) | undefined = undefined

  constructor(ids: ReadonlyArray<string>) {
    this.ids = new Set(ids)
  }

  add(id: string): void {
    this.ids.add(id)
    this.wake?.()
  }

  take(): ReadonlyArray<string> {
    const taken = Array.from(this.ids)
    this.ids.clear()
    return taken
  }

  readonly some: Effect.Effect<void> = Effect.callback<void>((resume) => {
    if (this.ids.size > 0) return resume(Effect.void)
    this.wake = () => {
      this.wake = undefined
      resume(Effect.void)
    }
    return Effect.sync(() => {
      this.wake = undefined
    })
  })
}

const follow = (
  engine: TaskEngine,
  lane: Lane,
  ids: ReadonlyArray<string>,
  context: Request
): Also["follow"] =>
(meta) =>
  Effect.gen(function*() {
    const principal = principalOf(context)
    // Where each stands is told first, since it may have changed before there was anybody to hear of it.
    const dirty = new Dirty(ids)
    yield* Effect.acquireRelease(
      Effect.sync(() => ids.map((id) => engine.ofCaller(id, principal)?.watch(() => dirty.add(id)))),
      (forget) => Effect.sync(() => forget.forEach((forget) => forget?.()))
    )
    const tell = (id: string) =>
      Effect.matchEffect(engine.find(id, principal), {
        onFailure: () => Effect.void,
        onSuccess: (record) => context.notify(Methods.TasksChanged, { ...detailed(lane.revision, record), ...meta })
      })
    const round = Effect.andThen(
      dirty.some,
      Effect.suspend(() => Effect.forEach(dirty.take(), tell, { discard: true }))
    )
    yield* Effect.forkScoped(Effect.forever(Effect.andThen(round, Effect.sleep(lane.settings.limits.coalesce))))
  })

/** The tasks that a listener may hear of: those that are there, and its own. */
export const also = (
  engine: TaskEngine,
  lane: Lane,
  wanted: ReadonlyArray<string>,
  context: Request
): Effect.Effect<Also> =>
  Effect.map(
    Effect.filter(
      Array.from(new Set(wanted)).slice(0, lane.settings.limits.tasks),
      (id) => Effect.match(engine.find(id, principalOf(context)), { onFailure: () => false, onSuccess: () => true })
    ),
    (taskIds) => ({ filter: { taskIds }, follow: follow(engine, lane, taskIds, context) })
  )

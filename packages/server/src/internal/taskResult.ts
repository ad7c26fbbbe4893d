/**
 * `tasks/result` on 2025-11-25: waits for the end of a task, and meanwhile carries what the task asks to the client, on its own
 * stream (TKL-05, TKL-06).
 */
import type * as McpError from "@mcpfx/schema/McpError"
import type { Asker } from "@mcpfx/session/Peer"
import * as RequestContext from "@mcpfx/session/RequestContext"
import { isTerminal, type TaskRecord } from "@mcpfx/session/TaskState"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Scope from "effect/Scope"
import { Unanswered } from "../ServerError.ts"
import type { Request } from "./lane.ts"
import { push } from "./push.ts"
import { related } from "./taskContext.ts"
import type { TaskEngine } from "./taskEngine.ts"
import type { Asked, Live } from "./taskLive.ts"

/** Asks say which task they belong to (TKL-06). */
const marking = (asker: Asker, id: string): Asker => ({
  request: (method, params, options) =>
    asker.request(method, params, { ...options, meta: { ...options?.meta, ...related(id) } })
})

/** How long a question waits that could not be sent: whatever it was to be sent on may be back by then. */
const retryDelay = "1 second"

/** Asks the client, unless the question ends before it answers. A stream that is gone gives the question back. */
const carry = (engine: TaskEngine, live: Live, asked: Asked, context: Request): Effect.Effect<void> => {
  const giveBack = Effect.sync(() => {
    if (asked.carrier !== context) return
    asked.carrier = undefined
    live.tick()
  })
  const answered = Effect.matchEffect(push(context).ask(asked.question), {
    onFailure: (error) =>
      error instanceof Unanswered && error.reason === "closed"
        ? Effect.sleep(retryDelay)
        : Effect.sync(() => void engine.settle(live, asked, Exit.fail(error))),
    onSuccess: (answer) => Effect.sync(() => void engine.settle(live, asked, Exit.succeed(answer)))
  })
  const over = Effect.ignore(Deferred.await(asked.answer))
  // Another stream may have taken it over, as one does whose client has lost this one.
  const taken = Effect.suspend((): Effect.Effect<void> =>
    asked.carrier === context ? Effect.flatMap(live.after(live.ticks), () => taken) : Effect.void
  )
  return Effect.ensuring(Effect.raceFirst(answered, Effect.raceFirst(over, taken)), giveBack)
}

/** Waits for the end of a task that runs here; succeeds as well when its time is over. */
const attend = Effect.fnUntraced(function*(
  engine: TaskEngine,
  live: Live,
  request: Request
): Effect.fn.Return<void, never, Scope.Scope> {
  const { asker } = request
  yield* Effect.acquireRelease(
    Effect.sync(() => void live.streams.push(request)),
    () =>
      Effect.sync(() => {
        live.streams.splice(live.streams.indexOf(request), 1)
        live.tick()
      })
  )
  if (asker !== undefined) {
    const context = RequestContext.extend(request, { asker: marking(asker, live.record.id) })
    // What an older request carries may be lost with its stream: the newest one carries all.
    for (const asked of live.questions.values()) asked.carrier = undefined
    live.tick()
    while (!live.over) {
      const seen = live.ticks
      const asked = live.streams.at(-1) === request ? live.uncarried() : undefined
      if (asked === undefined) yield* live.after(seen)
      else {
        asked.carrier = context
        yield* Effect.forkScoped(carry(engine, live, asked, context), { startImmediately: true })
      }
    }
  }
  while (!live.over) yield* live.after(live.ticks)
})

/** The task once it has ended. */
export const ended = (
  engine: TaskEngine,
  id: string,
  principal: string,
  request: Request
): Effect.Effect<TaskRecord, McpError.McpError> =>
  Effect.suspend(() => {
    const live = engine.ofCaller(id, principal)
    return live === undefined || isTerminal(live.record)
      ? engine.ended(id, principal)
      : Effect.andThen(Effect.scoped(attend(engine, live, request)), Effect.suspend(() => engine.ended(id, principal)))
  })

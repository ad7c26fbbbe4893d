/** From a call to a task that runs. */
import * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Outcome from "@mcpfx/schema/Outcome"
import type * as Task from "@mcpfx/schema/Task"
import type * as Tool from "@mcpfx/schema/Tool"
import type { Peer } from "@mcpfx/session/Peer"
import * as TaskState from "@mcpfx/session/TaskState"
import * as Principal from "@mcpfx/transport/Principal"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { TaskPolicy, ToolEntry } from "../Entry.ts"
import { CurrentTask } from "./currentTask.ts"
import { entering } from "./enter.ts"
import type { Gate } from "./entryRoutes.ts"
import { CurrentInteraction } from "./interaction.ts"
import type { Lane, Request } from "./lane.ts"
import { contextOf, interactionOf, type Reach } from "./taskContext.ts"
import type { Handled, Plan, TaskEngine } from "./taskEngine.ts"
import type { Live } from "./taskLive.ts"

/** The tasks of one endpoint. */
export interface Tasks {
  readonly engine: TaskEngine
  /** Who is at the other end of a session of this process; said by whoever opens sessions. */
  readonly peers: { of: (sessionId: string) => Peer | undefined }
}

/** A call that becomes a task, or may. */
export interface Start {
  readonly tasks: Tasks
  readonly lane: Lane
  readonly gate: Gate
  readonly policy: TaskPolicy
  readonly entry: ToolEntry
  readonly params: Tool.CallParams
  readonly request: Request
  readonly dialect: TaskState.Dialect
}

export const principalOf = (context: Request): string => Principal.key(context.facts.principal)

const whole = (duration: Duration.Input): number => Math.max(1, Math.round(Duration.toMillis(duration)))

/** The shortest time that is granted, so that there is one in which a result can be fetched. */
const minTtl = 1000

export const planOf = ({ lane, params, policy, request }: Start): Plan => {
  const { maxTaskTtl, taskPollInterval, taskTtl } = lane.settings.limits
  const asked = params.task?.ttl
  const ttl = asked === undefined
    ? policy.ttl ?? taskTtl
    : Math.max(minTtl, Math.min(asked, Duration.toMillis(maxTaskTtl)))
  const millis = whole(ttl)
  return {
    principal: principalOf(request),
    method: Methods.ToolsCall.name,
    ttl: Number.isFinite(millis) ? millis : null,
    pollInterval: whole(policy.pollInterval ?? taskPollInterval)
  }
}

/** The handle of a task (TKL-02, TKX-04). */
export const created = (live: Live, { dialect, policy }: Start): Task.Created => ({
  resultType: "task",
  task: TaskState.toTask(live.record, dialect),
  ...(dialect === "core" && policy.immediateResponse !== undefined && {
    _meta: { [MetaKey.modelImmediateResponse]: policy.immediateResponse }
  })
})

/** The result of the handler, and what it means on this revision that the arguments are wrong (TOL-13, TOL-14). */
export const outcomeOf = ({ entry, lane, params }: Start) =>
  Effect.catchTag(
    Effect.suspend(() => entry.run(params)),
    "InvalidArguments",
    (error) => {
      const text = error.describe()
      return lane.revision.features.invalidArguments === "error"
        ? Effect.fail(new McpError.InvalidParams({ detail: text }))
        : Effect.succeed<Tool.CallResult>({ content: [{ type: "text", text }], isError: true })
    }
  )

/** Tells the session of a task when its status changes, on 2025-11-25: one notice at a time, the last state last. */
const announcing = ({ request, tasks }: Start, live: Live) => {
  let told: Task.Status = live.record.status
  let sending = false
  const send: Effect.Effect<void> = Effect.suspend(() => {
    const task = TaskState.toTask(live.record, "core")
    const peer = request.sessionId === undefined ? undefined : tasks.peers.of(request.sessionId)
    if (task.status === told || peer === undefined) return Effect.void
    told = task.status
    return Effect.andThen(Effect.ignore(peer.notify(Methods.TasksStatus, task)), send)
  })
  return (): void => {
    if (sending) return
    sending = true
    tasks.engine.records.fork(Effect.ensuring(
      send,
      Effect.sync(() => {
        sending = false
      })
    ))
  }
}

/** The request as the handler of the task sees it. */
export const requestOf = ({ dialect, request, tasks }: Start, live: Live): Request => {
  const reach: Reach = {
    peer: () => request.sessionId === undefined ? undefined : tasks.peers.of(request.sessionId),
    waiting: () => live.streams.at(-1)?.notify
  }
  return contextOf(tasks.engine, live, request, dialect, reach)
}

/** What outlives a request of the context that it runs with. */
export const outliving = (context: Context.Context<never>): Context.Context<never> => {
  const map = new Map(context.mapUnsafe)
  map.delete(Scope.Scope.key)
  return Context.makeUnsafe<never>(map)
}

/** Begins the task of a call, and answers with its handle. A call that is given up before that leaves no task behind. */
export const begin = (start: Start): Effect.Effect<Outcome.ToolCall, McpError.McpError> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const { dialect, gate, lane, request, tasks: { engine } } = start
    const run = (live: Live): Outcome.ToolCall => {
      if (dialect === "core") live.notice = announcing(start, live)
      const handled: Handled = gate(entering(Effect.scoped(outcomeOf(start)), requestOf(start, live)))
      const answer = created(live, start)
      const around = outliving(context).pipe(
        Context.add(CurrentInteraction, interactionOf(engine, live, request)),
        Context.add(CurrentTask, { id: () => live.record.id, detach: Effect.void })
      )
      engine.run(live, handled, lane.revision, around)
      return answer
    }
    // The store may have the record by the time of an interruption, so creating one is not cut off.
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(
        engine.open(planOf(start)),
        (live) => Effect.as(Effect.onInterrupt(restore(Effect.void), () => engine.drop(live)), live)
      ).pipe(Effect.map(run))
    )
  })

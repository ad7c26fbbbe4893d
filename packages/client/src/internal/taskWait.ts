/** Waiting for a task: looking at it as often as the server says, answering what it asks, and fetching its result. */
import * as InputRequired from "@mcpfx/schema/InputRequired"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import * as Outcome from "@mcpfx/schema/Outcome"
import type * as Progress from "@mcpfx/schema/Progress"
import * as Task from "@mcpfx/schema/Task"
import type * as Tool from "@mcpfx/schema/Tool"
import type { RequestOptions } from "@mcpfx/session/Peer"
import type * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Connection, Live } from "../Connection.ts"
import { BadAnswer, fail, type McpClientError, Refused, TaskCancelled, TimedOut } from "../McpClientError.ts"
import type { Notifications } from "../Notifications.ts"
import type { Options } from "../Tasks.ts"
import { answerAll, type Parts as Answering } from "./inputAnswers.ts"
import { isPassing } from "./passing.ts"
import type { Requests } from "./requests.ts"
import { type Hints, hints } from "./taskHints.ts"

export interface Parts extends Answering {
  readonly connection: Connection
  readonly notifications: Notifications
  readonly requests: Requests
  readonly tasks: Options
}

/** What a task is waited for with. */
export interface Plan {
  readonly id: string
  /** How it stood when it was last heard of. */
  readonly first?: Task.Task | undefined
  /** Tells of progress, which comes under the token of the call. */
  readonly onProgress?: RequestOptions["onProgress"]
  readonly token?: JsonRpc.RequestId | undefined
}

export interface TaskWait {
  readonly look: (id: string) => Effect.Effect<Task.GetResult, McpClientError>
  readonly wait: (plan: Plan) => Effect.Effect<Tool.CallResult, McpClientError>
  /** Waits for a task that was made of a call: who gives up the call gives up the task. */
  readonly instead: (
    task: Task.Task,
    options: RequestOptions | undefined,
    token: JsonRpc.RequestId | undefined
  ) => Effect.Effect<Tool.CallResult, McpClientError>
  readonly changes: (id: string) => Stream.Stream<Task.Task, McpClientError>
  readonly cancel: (id: string) => Effect.Effect<void, McpClientError>
}

const method = Methods.ToolsCall.name
const forever: RequestOptions = { timeout: Duration.infinity, maxTimeout: Duration.infinity }
const abandoning: RequestOptions = { timeout: "5 seconds" }
/** How often in a row a task may not be to be seen. */
const maxFailures = 10
/** How much progress waits for a slow reader; past it, the oldest goes. */
const backlog = 1024
/** How often in a row a task that asks on and on is looked at without a pause. */
const maxQuick = 10
const usualInterval = 1000
const longestPause = 30_000

const decodeInputs = Schema.decodeUnknownResult(InputRequired.InputRequests)

/** The result of the call, from the wire of its revision. */
const read = (live: Live, wire: unknown): Effect.Effect<Tool.CallResult, McpClientError> => {
  const codec = live.revision.request(Methods.ToolsCall)
  const decoded = codec?.decodeResult(wire)
  if (decoded === undefined || Result.isFailure(decoded)) {
    const detail = decoded === undefined ? "the revision has no calls" : decoded.failure.message()
    return Effect.fail(fail(new BadAnswer({ detail }), method))
  }
  const outcome = decoded.success
  return Outcome.isTask(outcome) || Outcome.isInputRequired(outcome)
    ? Effect.fail(fail(new BadAnswer({ detail: "the result of a task is none of a call" }), method))
    : Effect.succeed(outcome)
}

/** How tasks are looked at. */
class Looks {
  readonly parts: Parts
  private readonly listens: boolean
  private readonly shortest: number

  constructor(parts: Parts) {
    const { connection, tasks } = parts
    this.parts = parts
    this.listens = tasks.listen ?? connection.transport !== "http"
    this.shortest = Duration.toMillis(tasks.minPollInterval ?? "50 millis")
  }

  readonly look = (id: string): Effect.Effect<Task.GetResult, McpClientError> =>
    this.parts.requests.request(Methods.TasksGet, { taskId: id })

  hints(id: string): Effect.Effect<Hints, never, Scope.Scope> {
    return hints(this.parts.connection, this.parts.notifications, id, this.listens)
  }

  /** A look that comes when it is time; one that fails in passing is tried again, later and later. */
  later(task: Task.Task, hints: Hints): Effect.Effect<Task.GetResult, McpClientError> {
    const interval = Math.max(this.shortest, task.pollIntervalMs ?? usualInterval)
    const attempt = (failures: number): Effect.Effect<Task.GetResult, McpClientError> =>
      Effect.andThen(
        hints.pause(failures === 0 ? interval : Math.max(interval, Math.min(interval * 2 ** failures, longestPause))),
        Effect.catch(this.look(task.taskId), (error) =>
          failures < maxFailures && isPassing(error.reason) ? attempt(failures + 1) : Effect.fail(error))
      )
    return attempt(0)
  }

  /** How a task stands, and each change of it that is seen. */
  changes(id: string): Stream.Stream<Task.Task, McpClientError> {
    return Stream.unwrap(Effect.map(this.hints(id), (hints) => {
      const next = (last: Task.GetResult): Effect.Effect<Task.GetResult, McpClientError> =>
        Effect.flatMap(this.later(last, hints), (task) => isSame(task, last) ? next(task) : Effect.succeed(task))
      return Stream.unfold<Task.GetResult | undefined, Task.Task, McpClientError, never>(undefined, (last) => {
        if (last !== undefined && Task.isTerminal(last.status)) return Effect.undefined
        return Effect.map(last === undefined ? this.look(id) : next(last), (task) => [taskOf(task), task] as const)
      })
    }))
  }
}

/**
 * Answers what is asked and was not answered yet (TKX-12); an answer that was lost on its way, or is not taken in yet, is sent
 * again. Whether there was anything new to answer, so that the next look need not wait (TKX-09).
 */
const answer = Effect.fnUntraced(function*(
  parts: Parts,
  live: Live,
  task: Task.GetResult,
  given: Map<string, JsonRpc.JsonObject>
) {
  const inputs = decodeInputs(task.inputRequests ?? {})
  if (Result.isFailure(inputs)) {
    return yield* fail(new BadAnswer({ detail: "what the task asks cannot be read" }), method)
  }
  const asked = Object.entries(inputs.success)
  const asks = asked.filter(([key]) => !given.has(key))
  // What is not asked any more never is again (TKX-08).
  for (const key of given.keys()) if (!Object.hasOwn(inputs.success, key)) given.delete(key)
  if (asked.length === 0) return false
  for (const [key, value] of yield* answerAll(parts, { live, during: method, round: 1, asks })) given.set(key, value)
  const inputResponses = Object.fromEntries(asked.map(([key]) => [key, given.get(key) ?? {}]))
  const sent = parts.requests.request(Methods.TasksUpdate, { taskId: task.taskId, inputResponses })
  return yield* Effect.matchEffect(sent, {
    onFailure: (error) => isPassing(error.reason) ? Effect.succeed(false) : Effect.fail(error),
    onSuccess: () => Effect.succeed(asks.length > 0)
  })
})

const resultOf = (
  { connection, requests }: Parts,
  id: string,
  options?: RequestOptions
): Effect.Effect<Tool.CallResult, McpClientError> =>
  Effect.flatMap(
    requests.request(Methods.TasksResult, { taskId: id }, options),
    (wire) => Effect.flatMap(connection.live, (live) => read(live, wire))
  )

/** What became of a task that has ended. */
const conclude = (parts: Parts, live: Live, task: Task.GetResult): Effect.Effect<Tool.CallResult, McpClientError> => {
  if (task.status === "cancelled") return Effect.fail(fail(new TaskCancelled({ taskId: task.taskId }), method))
  // It is there already: who does not answer now is gone.
  if (live.revision.era === "legacy") return resultOf(parts, task.taskId)
  const { error, result } = task
  const missing = fail(new BadAnswer({ detail: `a task is ${task.status} and does not say with what` }), method)
  if (task.status === "failed") {
    return Effect.fail(error === undefined ? missing : fail(new Refused({ ...error }), method))
  }
  return result === undefined ? Effect.fail(missing) : read(live, result)
}

const follow = Effect.fnUntraced(function*(looks: Looks, { first, id }: Plan) {
  const { parts } = looks
  const hints = yield* looks.hints(id)
  const given = new Map<string, JsonRpc.JsonObject>()
  let quick = 0
  let task: Task.GetResult = first === undefined || Task.isTerminal(first.status) || first.status === "input_required"
    ? yield* looks.look(id)
    : yield* looks.later(first, hints)
  while (true) {
    const live = yield* parts.connection.live
    if (Task.isTerminal(task.status)) return yield* conclude(parts, live, task)
    if (task.status === "input_required" && live.revision.era === "legacy") {
      // What is asked comes while the result is waited for (TKL-06).
      const result = yield* Effect.result(resultOf(parts, id, forever))
      if (Result.isSuccess(result)) return result.success
      if (!isPassing(result.failure.reason)) return yield* result.failure
    } else if (task.status === "input_required" && (yield* answer(parts, live, task, given)) && quick++ < maxQuick) {
      task = yield* looks.look(id)
      continue
    }
    quick = 0
    task = yield* looks.later(task, hints)
  }
})

/** Hands progress over while `waiting` runs, in order; what has come by its end comes before it. */
const withProgress = <A, E>(
  notifications: Notifications,
  { onProgress, token }: Plan,
  waiting: Effect.Effect<A, E, Scope.Scope>
): Effect.Effect<A, E> => {
  if (onProgress === undefined || token === undefined) return Effect.scoped(waiting)
  return Effect.scoped(Effect.gen(function*() {
    const queue = yield* Queue.sliding<Progress.Params, Cause.Done>(backlog)
    yield* notifications.listen(Methods.Progress, (params) => {
      if (params.progressToken === token) Queue.offerUnsafe(queue, params)
    })
    const telling = yield* Effect.forkScoped(Stream.runForEach(Stream.fromQueue(queue), onProgress))
    const result = yield* waiting
    Queue.endUnsafe(queue)
    yield* Fiber.await(telling)
    return result
  }))
}

export const make = (parts: Parts): TaskWait => {
  const { notifications, requests, tasks } = parts
  const longest = Duration.fromInputUnsafe(tasks.timeout ?? "24 hours")
  const looks = new Looks(parts)

  const wait: TaskWait["wait"] = (plan) =>
    withProgress(notifications, plan, follow(looks, plan)).pipe(
      Effect.timeoutOrElse({
        duration: longest,
        orElse: () => Effect.fail(fail(new TimedOut({ millis: Duration.toMillis(longest) }), method))
      })
    )

  return {
    look: looks.look,
    wait,
    instead: (task, options, token) => {
      const waiting = wait({ id: task.taskId, first: task, onProgress: options?.onProgress, token })
      const abandon = Effect.ignore(requests.request(Methods.TasksCancel, { taskId: task.taskId }, abandoning))
      return Effect.onInterrupt(waiting, () => abandon)
    },
    changes: (id) => looks.changes(id),
    cancel: (id) =>
      Effect.matchEffect(requests.request(Methods.TasksCancel, { taskId: id }), {
        // On 2025-11-25 a task that has ended is not cancelled any more, and says so.
        onFailure: (error) =>
          Effect.matchEffect(looks.look(id), {
            onFailure: () => Effect.fail(error),
            onSuccess: (task) => Task.isTerminal(task.status) ? Effect.void : Effect.fail(error)
          }),
        onSuccess: () => Effect.void
      })
  }
}

const isSame = (one: Task.Task, other: Task.Task): boolean =>
  one.status === other.status && one.statusMessage === other.statusMessage && one.lastUpdatedAt === other.lastUpdatedAt

/** The task without what its state brings with it. */
export const taskOf = (task: Task.GetResult): Task.Task => ({
  taskId: task.taskId,
  status: task.status,
  ...(task.statusMessage !== undefined && { statusMessage: task.statusMessage }),
  createdAt: task.createdAt,
  lastUpdatedAt: task.lastUpdatedAt,
  ttlMs: task.ttlMs,
  ...(task.pollIntervalMs !== undefined && { pollIntervalMs: task.pollIntervalMs })
})

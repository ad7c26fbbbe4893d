/** The methods of tasks, in both dialects. */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type { RequestCodec, Revision } from "@mcpfx/schema/Revision"
import type * as Task from "@mcpfx/schema/Task"
import * as TaskState from "@mcpfx/session/TaskState"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import * as Pages from "../Pages.ts"
import type { Lane, Request, Route, Wire } from "./lane.ts"
import { related } from "./taskContext.ts"
import { dialectOf, hasList } from "./taskDialect.ts"
import type { TaskEngine } from "./taskEngine.ts"
import type { Asked } from "./taskLive.ts"
import { ended } from "./taskResult.ts"
import { principalOf } from "./taskStart.ts"

type TaskRecord = TaskState.TaskRecord

/** A result as the request itself would have got it. */
const resultOn = (revision: Revision, { method }: TaskRecord, result: JsonRpc.JsonObject): JsonRpc.JsonObject =>
  revision.requestByName(method)?.encodeResult(result) ?? result

const serving = <Params, Result_>(
  wire: Wire<Params, Result_>,
  run: (params: Params, context: Request) => Effect.Effect<Result_, McpError.McpError>
): Route =>
(request, context) => {
  const params = wire.decode(request)
  return Result.isFailure(params)
    ? Effect.fail(params.failure)
    : Effect.map(run(params.success, context), wire.encode)
}

// On 2025-11-25.

const resultOf = (revision: Revision, record: TaskRecord): Effect.Effect<JsonRpc.JsonObject, McpError.McpError> => {
  const { id, outcome } = record
  if (outcome === undefined) return Effect.fail(new McpError.InvalidRequest({ detail: "The task was cancelled" }))
  if (outcome._tag === "Error") return Effect.fail(new McpError.PeerError(outcome.error))
  const result = resultOn(revision, record, outcome.result)
  const meta = result["_meta"]
  return Effect.succeed({ ...result, _meta: { ...(JsonRpc.isJsonObject(meta) ? meta : undefined), ...related(id) } })
}

const addCore = (lane: Lane, engine: TaskEngine): void => {
  lane.add(
    Methods.TasksGet,
    (wire) =>
      serving(
        wire,
        ({ taskId }, context) =>
          Effect.map(engine.find(taskId, principalOf(context)), (record) => TaskState.toTask(record, "core"))
      )
  )
  lane.add(Methods.TasksResult, (wire) =>
    serving(wire, ({ taskId }, context) =>
      Effect.flatMap(
        ended(engine, taskId, principalOf(context), context),
        (record) => resultOf(lane.revision, record)
      )))
  lane.add(
    Methods.TasksCancel,
    (wire) =>
      serving(
        wire,
        ({ taskId }, context) =>
          Effect.flatMap(engine.cancel(taskId, principalOf(context)), ({ changed, record }) => {
            const task = TaskState.toTask(record, "core")
            return changed
              ? Effect.succeed({ task })
              : Effect.fail(new McpError.InvalidParams({ detail: `The task has ended already: ${task.status}` }))
          })
      )
  )
  lane.add(Methods.TasksList, (wire) =>
    serving(wire, ({ cursor }, context) => {
      if (!hasList(context)) return Effect.fail(new McpError.MethodNotFound({ method: context.method }))
      const after = cursor === undefined ? Result.succeed(undefined) : Pages.lastOf("tasks", cursor)
      if (Result.isFailure(after)) return Effect.fail(after.failure)
      const page = engine.list(principalOf(context), after.success, lane.settings.limits.pageSize)
      return Effect.map(page, ({ more, records }): Task.ListResult => {
        const last = records.at(-1)
        return {
          tasks: records.map((record) => TaskState.toTask(record, "core")),
          ...(more && last !== undefined && { nextCursor: Pages.cursor("tasks", last.id) })
        }
      })
    }))
}

// In the extension.

/** A task with what its state brings with it (TKX-04). */
export const detailed = (revision: Revision, record: TaskRecord): Task.StatusParams => {
  const { inputs, outcome } = record
  return {
    ...TaskState.toTask(record, "extension"),
    ...(record.status === "input_required" && { inputRequests: inputs }),
    ...(outcome?._tag === "Result" && { result: resultOn(revision, record, outcome.result) }),
    ...(outcome?._tag === "Error" && { error: outcome.error })
  }
}

const inputs: ReadonlyMap<string, Method.RequestMethod<string, unknown, unknown>> = new Map(
  [Methods.ElicitationCreate, Methods.SamplingCreateMessage, Methods.RootsList].map((method) => [method.name, method])
)

const codecOf = (revision: Revision, asked: Asked): RequestCodec<unknown, unknown> | undefined => {
  const method = inputs.get(asked.question.request.method)
  return method === undefined ? undefined : revision.input(method)
}

/** Answers to what the task asks; keys that are not open are left alone (TKX-09). */
const update = (
  lane: Lane,
  engine: TaskEngine
): (params: Task.UpdateParams, context: Request) => Effect.Effect<{}, McpError.McpError> =>
(params, context) => {
  const { inputResponses, taskId } = params
  const live = engine.ofCaller(taskId, principalOf(context))
  if (live === undefined) {
    return Effect.flatMap(engine.find(taskId, principalOf(context)), (record) =>
      TaskState.isTerminal(record)
        ? Effect.succeed({})
        : Effect.fail(new McpError.InvalidParams({ detail: "The task runs in another process" })))
  }
  const answers: Array<readonly [asked: Asked, answer: JsonRpc.JsonObject]> = []
  for (const [key, response] of Object.entries(inputResponses)) {
    const asked = live.questions.get(key)
    if (asked === undefined) continue
    const answer = codecOf(lane.revision, asked)?.decodeResult(response)
    if (answer === undefined || Result.isFailure(answer) || !JsonRpc.isJsonObject(answer.success)) {
      return Effect.fail(new McpError.InvalidParams({ detail: `The answer to ${key} does not fit what was asked` }))
    }
    answers.push([asked, answer.success])
  }
  for (const [asked, answer] of answers) engine.settle(live, asked, Exit.succeed(answer))
  return Effect.succeed({})
}

const addExtension = (lane: Lane, engine: TaskEngine): void => {
  lane.add(
    Methods.TasksGet,
    (wire) =>
      serving(
        wire,
        ({ taskId }, context) =>
          Effect.map(engine.find(taskId, principalOf(context)), (record) => detailed(lane.revision, record))
      )
  )
  lane.add(Methods.TasksUpdate, (wire) => serving(wire, update(lane, engine)))
  lane.add(
    Methods.TasksCancel,
    (wire) => serving(wire, ({ taskId }, context) => Effect.as(engine.cancel(taskId, principalOf(context)), {}))
  )
}

/** Adds the methods that the lane's revision has. */
export const addTasks = (lane: Lane, engine: TaskEngine): void => {
  const dialect = dialectOf(lane.revision)
  if (dialect === "core") addCore(lane, engine)
  else if (dialect === "extension") addExtension(lane, engine)
}

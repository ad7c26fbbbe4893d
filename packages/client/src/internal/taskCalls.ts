/** Calls as tasks, tasks found again, and all tasks there are. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import * as Outcome from "@mcpfx/schema/Outcome"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Task from "@mcpfx/schema/Task"
import type * as Tool from "@mcpfx/schema/Tool"
import { type AnyContract, type Contract, isContract } from "@mcpfx/schema/ToolContract"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection, Live } from "../Connection.ts"
import type { CallOutput, McpClient } from "../McpClient.ts"
import { fail, type McpClientError, NotOffered } from "../McpClientError.ts"
import * as Pages from "../Pages.ts"
import type { CallOptions, Handle, Options } from "../Tasks.ts"
import { type Calls, typed } from "./calls.ts"
import { byContract, type Call, Course } from "./callStart.ts"
import type { KnownTools, Lists } from "./lists.ts"
import type { Requests } from "./requests.ts"
import { make as makeWait, type Parts as WaitParts, type TaskWait } from "./taskWait.ts"

export interface Parts {
  readonly connection: Connection
  readonly requests: Requests
  readonly lists: Lists
  readonly known: KnownTools
  readonly options: ClientOptions
  readonly waits: TaskWait
  readonly calls: Calls
}

const method = Methods.ToolsCall.name

export const optionsOf = (tasks: ClientOptions["tasks"]): Options => typeof tasks === "object" ? tasks : {}

/** What a client says about tasks on a revision, where the program wants it (EXT-06, TKL-01, TKX-15). */
export const declaredOn = (
  declared: Capabilities.Client,
  revision: Revision,
  tasks: ClientOptions["tasks"]
): Capabilities.Client => {
  if (!tasks) return declared
  if (revision.era === "modern") {
    return { ...declared, extensions: { ...declared.extensions, [Task.extensionId]: {} } }
  }
  if (optionsOf(tasks).asks !== true) return declared
  const requests = {
    ...(declared.sampling !== undefined && { sampling: { createMessage: {} } }),
    ...(declared.elicitation !== undefined && { elicitation: { create: {} } })
  }
  return Object.keys(requests).length === 0 ? declared : { ...declared, tasks: { list: {}, cancel: {}, requests } }
}

type Read<A, E> = (result: Tool.CallResult) => Effect.Effect<A, McpClientError | E>

const handleOf = <A, E>(
  waits: TaskWait,
  id: string,
  read: Read<A, E>,
  more?: Omit<Parameters<TaskWait["wait"]>[0], "id">
): Handle<A, E> => {
  // What was said when the task was made is news once.
  let first = more?.first
  return {
    id,
    status: waits.look(id),
    changes: waits.changes(id),
    wait: Effect.suspend(() => {
      const plan = { ...more, id, first }
      first = undefined
      return Effect.flatMap(waits.wait(plan), read)
    }),
    cancel: waits.cancel(id)
  }
}

/** Whether a tool may be called as a task on 2025-11-25; looked up where nothing is known of it (TOL-23). */
const allows = ({ known, lists }: Parts, call: Call): Effect.Effect<boolean, McpClientError> => {
  if (call.support !== undefined) return Effect.succeed(call.support !== "never")
  const listed = known.get(call.name)
  const tool = listed === undefined
    ? Effect.map(lists.tools, (tools) => tools.find(({ name }) => name === call.name))
    : Effect.succeed(listed)
  return Effect.map(tool, (tool) => {
    const support = tool?.execution?.taskSupport
    return support === "optional" || support === "required"
  })
}

const isOffered = ({ capabilities, revision }: Live): boolean =>
  revision.era === "legacy"
    ? capabilities.tasks?.requests?.tools?.call !== undefined
    : revision.requests.has(Methods.TasksUpdate.name) && Capabilities.hasExtension(capabilities, Task.extensionId)

/** Nothing is sent where the server does not do tasks, or the tool does not (EXT-04, TKL-01). */
const check = (parts: Parts, call: Call): Effect.Effect<void, McpClientError> =>
  Effect.flatMap(parts.connection.live, (live) => {
    const refuse = (what: string) =>
      Effect.fail(fail(new NotOffered({ what, revision: live.revision.version }), method))
    if (!isOffered(live)) return refuse("calls as tasks")
    return live.revision.era === "modern"
      ? Effect.void
      : Effect.flatMap(allows(parts, call), (allowed) => allowed ? Effect.void : refuse(`${call.name} as a task`))
  })

type GivenOptions = RequestOptions & CallOptions

const start = <A, E>(parts: Parts, call: Call, read: Read<A, E>, options: GivenOptions | undefined) => {
  const course = new Course()
  const ttl = options?.ttl === undefined ? undefined : Math.round(Duration.toMillis(options.ttl))
  const sent = parts.calls.start(
    {
      ...call,
      task: ttl === undefined ? {} : { ttl },
      options: {
        ...options,
        onSent: (id) => {
          course.token = id
          options?.onSent?.(id)
        }
      }
    },
    course,
    (outcome) =>
      Effect.succeed<Handle<A, E>>(
        Outcome.isTask(outcome)
          ? handleOf(parts.waits, outcome.task.taskId, read, {
            first: outcome.task,
            onProgress: options?.onProgress,
            token: course.token
          })
          : done(read(outcome))
      )
  )
  return Effect.andThen(check(parts, call), sent)
}

export const make = (parts: Parts): Pick<McpClient["Service"], "callTask" | "task" | "tasks"> => {
  const { calls, connection, options: defaults, requests, waits } = parts

  function callTask<Name extends string, I, O, F>(
    contract: Contract<Name, I, O, F>,
    input?: I,
    options?: GivenOptions
  ): Effect.Effect<Handle<CallOutput<O>, F>, McpClientError>
  function callTask(
    name: string,
    args?: JsonRpc.JsonObject,
    options?: GivenOptions
  ): Effect.Effect<Handle<Tool.CallResult>, McpClientError>
  function callTask(
    tool: string | AnyContract,
    input?: JsonRpc.JsonObject,
    options?: GivenOptions
  ): Effect.Effect<Handle<unknown, unknown>, McpClientError> {
    return Effect.suspend((): Effect.Effect<Handle<unknown, unknown>, McpClientError> => {
      if (typeof tool === "string") {
        return start(parts, calls.byName(tool, input, options), (result) => calls.checked(tool, result), options)
      }
      const call = byContract(tool, input, options)
      return Result.isFailure(call)
        ? Effect.fail(call.failure)
        : start(parts, call.success, (result) => typed(tool, result), options)
    })
  }

  function task(id: string): Handle<Tool.CallResult>
  function task<Name extends string, I, O, F>(
    id: string,
    contract: Contract<Name, I, O, F>
  ): Handle<CallOutput<O>, F>
  function task(id: string, contract?: AnyContract): Handle<unknown, unknown> {
    return contract !== undefined && isContract(contract)
      ? handleOf(waits, id, (result) => typed(contract, result))
      : handleOf(waits, id, Effect.succeed)
  }

  return {
    callTask,
    task,
    tasks: Effect.flatMap(connection.live, (live) =>
      Pages.all({
        server: live.info?.name ?? connection.target,
        bounds: { ...Pages.defaults, ...defaults.pages },
        key: ({ taskId }: Task.Task) => taskId,
        page: (cursor) =>
          Effect.map(
            requests.request(Methods.TasksList, cursor === undefined ? {} : { cursor }),
            ({ nextCursor, tasks }) => ({ items: tasks, nextCursor })
          )
      }))
  }
}

/** What stands for a task where the server answered at once. */
const done = <A, E>(result: Effect.Effect<A, McpClientError | E>): Handle<A, E> => ({
  id: undefined,
  status: Effect.undefined,
  changes: Stream.empty,
  wait: result,
  cancel: Effect.void
})

/** How a client waits for tasks, and all that has to do with them. */
export const waitsOf = (parts: Omit<WaitParts, "tasks">): TaskWait =>
  makeWait({ ...parts, tasks: optionsOf(parts.options.tasks) })

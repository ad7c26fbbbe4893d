/**
 * Asks of the server that run as tasks of this client, on 2025-11-25: the same rules as for tasks of a server, in memory, for
 * the one server that the client is connected to (TKL-01).
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type * as Handler from "@mcpfx/session/Handler"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as TaskState from "@mcpfx/session/TaskState"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import type { ClientOptions } from "../ClientOptions.ts"

type Service = Handler.Handler["Service"]
type Request = RequestContext["Service"]
type Answer = Effect.Effect<JsonRpc.ResultBody, McpError.McpError>

const most = 100
const usualTtl = Duration.toMillis("1 hour")
const longestTtl = Duration.toMillis("24 hours")
const shortestTtl = 1000
const pollInterval = 1000

interface Row {
  record: TaskState.TaskRecord
  fiber: Fiber.Fiber<unknown, unknown> | undefined
  readonly watchers: Set<() => void>
}

const declared = ({ requests }: NonNullable<Capabilities.Client["tasks"]>, method: string): boolean =>
  method === Methods.SamplingCreateMessage.name
    ? requests?.sampling?.createMessage !== undefined
    : method === Methods.ElicitationCreate.name && requests?.elicitation?.create !== undefined

class Receiver {
  private readonly rows = new Map<string, Row>()
  private readonly inner: Service
  private readonly scope: Scope.Scope
  private readonly context: Context.Context<never>

  constructor(inner: Service, scope: Scope.Scope, context: Context.Context<never>) {
    this.inner = inner
    this.scope = scope
    this.context = context
  }

  /** `undefined` for what has nothing to do with tasks. */
  answer(request: JsonRpc.Request, context: Request): Answer | undefined {
    const { tasks } = context.clientCapabilities
    if (tasks === undefined) return undefined
    const { method, params } = request
    if (JsonRpc.isJsonObject(params?.["task"]) && declared(tasks, method)) {
      return this.begin(request, params["task"], context)
    }
    switch (method) {
      case Methods.TasksGet.name:
        return this.with(request, (row) => written(context.revision, Methods.TasksGet, this.shown(row)))
      case Methods.TasksCancel.name:
        return this.with(request, (row) => this.cancel(row, context.revision))
      case Methods.TasksResult.name:
        return this.with(request, (row) => this.result(row))
      case Methods.TasksList.name: {
        const tasks = Array.from(this.rows.values(), (row) => this.shown(row))
        return params?.["cursor"] === undefined
          ? written(context.revision, Methods.TasksList, { tasks })
          : Effect.fail(new McpError.InvalidCursor({}))
      }
      default:
        return undefined
    }
  }

  private now(): number {
    return Context.get(this.context, Clock.Clock).currentTimeMillisUnsafe()
  }

  private run<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return Fiber.runIn(Effect.runForkWith(this.context)(effect), this.scope)
  }

  private shown(row: Row) {
    return TaskState.toTask(row.record, "core")
  }

  private change(row: Row, event: TaskState.Event): boolean {
    const next = TaskState.step(row.record, event, this.now())
    if (next === row.record) return false
    row.record = next
    for (const watcher of Array.from(row.watchers)) watcher()
    return true
  }

  private begin(request: JsonRpc.Request, wish: JsonRpc.JsonObject, context: Request): Answer {
    return Effect.suspend((): Answer => {
      if (this.rows.size >= most) return Effect.fail(new McpError.TooManyRequests({ limit: "tasks" }))
      const asked = wish["ttl"]
      const ttl = typeof asked === "number" ? Math.max(shortestTtl, Math.min(asked, longestTtl)) : usualTtl
      const id = SecureRandom.uuidV4Unsafe()
      const { method } = request
      const record = TaskState.begin(
        { id, principal: "", owner: "", method, ttl: Math.round(ttl), pollInterval },
        this.now()
      )
      const row: Row = { record, fiber: undefined, watchers: new Set() }
      this.rows.set(id, row)
      const handled = Effect.andThen(Effect.yieldNow, Effect.suspend(() => this.inner.request(request, context)))
      row.fiber = this.run(Effect.onExit(handled, (exit) => this.ended(row, exit, context.revision)))
      this.run(Effect.delay(Effect.sync(() => this.forget(row)), Duration.millis(ttl)))
      const codec = context.revision.requestByName(method)
      return Effect.succeed(codec?.encodeResult({ resultType: "task", task: this.shown(row) }) ?? {})
    })
  }

  private ended(
    row: Row,
    exit: Exit.Exit<JsonRpc.ResultBody, McpError.McpError>,
    revision: Revision
  ): Effect.Effect<void> {
    if (Exit.isSuccess(exit) && JsonRpc.isJsonObject(exit.value)) {
      const result: JsonRpc.JsonObject = { ...exit.value }
      this.change(row, { _tag: "Ended", outcome: { _tag: "Result", result }, message: undefined })
      return Effect.void
    }
    const failure = Exit.isFailure(exit) ? Cause.findError(exit.cause) : undefined
    const known = failure !== undefined && Result.isSuccess(failure)
    const error = McpError.toWire(known ? failure.success : new McpError.InternalError(), revision)
    const changed = this.change(row, { _tag: "Ended", outcome: { _tag: "Error", error }, message: error.message })
    return known || !changed || !Exit.isFailure(exit)
      ? Effect.void
      : Effect.logError(`${row.record.method} failed in a task`, exit.cause)
  }

  private forget(row: Row): void {
    this.rows.delete(row.record.id)
    row.fiber?.interruptUnsafe()
    for (const watcher of Array.from(row.watchers)) watcher()
  }

  private with(request: JsonRpc.Request, use: (row: Row) => Answer): Answer {
    return Effect.suspend(() => {
      const id = request.params?.["taskId"]
      const row = typeof id === "string" ? this.rows.get(id) : undefined
      return row === undefined
        ? Effect.fail(new McpError.TaskNotFound({ taskId: typeof id === "string" ? id : "" }))
        : use(row)
    })
  }

  private cancel(row: Row, revision: Revision): Answer {
    if (!this.change(row, { _tag: "Cancelled", message: "The task was cancelled by request" })) {
      return Effect.fail(new McpError.InvalidParams({ detail: `The task has ended already: ${row.record.status}` }))
    }
    row.fiber?.interruptUnsafe()
    return written(revision, Methods.TasksCancel, { task: this.shown(row) })
  }

  private result(row: Row): Answer {
    const { id, outcome } = row.record
    if (!this.rows.has(id)) return Effect.fail(new McpError.TaskNotFound({ taskId: id }))
    if (!TaskState.isTerminal(row.record)) return Effect.andThen(changed(row), Effect.suspend(() => this.result(row)))
    if (outcome === undefined) return Effect.fail(new McpError.InvalidRequest({ detail: "The task was cancelled" }))
    if (outcome._tag === "Error") return Effect.fail(new McpError.PeerError(outcome.error))
    const meta = outcome.result["_meta"]
    return Effect.succeed({
      ...outcome.result,
      _meta: { ...(JsonRpc.isJsonObject(meta) ? meta : undefined), [MetaKey.relatedTask]: { taskId: id } }
    })
  }
}

const changed = (row: Row): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const watcher = () => {
      row.watchers.delete(watcher)
      resume(Effect.void)
    }
    row.watchers.add(watcher)
    return Effect.sync(() => void row.watchers.delete(watcher))
  })

const written = <Name extends string, Params, Result_>(
  revision: Revision,
  method: Method.RequestMethod<Name, Params, Result_>,
  result: Result_
): Answer => Effect.succeed(revision.request(method)?.encodeResult(result) ?? {})

/** What lets asks run as tasks, where the options say so. */
export const make = (
  tasks: ClientOptions["tasks"]
): Effect.Effect<(inner: Service) => Service, never, Scope.Scope> =>
  typeof tasks !== "object" || tasks.asks !== true
    ? Effect.succeed((inner) => inner)
    : Effect.gen(function*() {
      const scope = yield* Effect.scope
      const context = yield* Effect.context<never>()
      return (inner) => {
        const receiver = new Receiver(inner, scope, context)
        return {
          ...inner,
          request: (request, context) => receiver.answer(request, context) ?? inner.request(request, context)
        }
      }
    })

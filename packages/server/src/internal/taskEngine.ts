/**
 * Runs tasks: each handler is one fiber of the endpoint, whatever becomes of the request, the connection and the session that
 * it came from. The record of a task changes by the rules of `TaskState` alone; its end is in the store before anybody hears
 * of it.
 */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type { Revision } from "@mcpfx/schema/Revision"
import * as TaskState from "@mcpfx/session/TaskState"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as SecureRandom from "effect/crypto/SecureRandom"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { AskTimeout, Cancelled, type InputError } from "../ServerError.ts"
import type { Question } from "./interaction.ts"
import { Asked, Live } from "./taskLive.ts"
import type { TaskPage } from "./taskRecord.ts"
import { type Options as Records, TaskWriter } from "./taskWriter.ts"

type TaskRecord = TaskState.TaskRecord

export interface Options extends Records {
  readonly random: SecureRandom.SecureRandom["Service"]
  readonly askTimeout: Duration.Duration
}

/** What the client, or the contract, says about a new task. */
export interface Plan {
  readonly principal: string
  readonly method: string
  /** In milliseconds. */
  readonly ttl: number | null
  readonly pollInterval: number
}

/** How a request came out, in the neutral shape. */
export type Handled = Effect.Effect<JsonObject, McpError.McpError>

const idBytes = 18
/** Milliseconds since the epoch in so many digits of base 36 are good until the year 5188. */
const timeDigits = 9
const sweepEvery = "1 minute"
const cancelled = "The task was cancelled by request"

/** The first lines of what went wrong, for the status of the task. */
const brief = (text: string): string => text.length <= 500 ? text : `${text.slice(0, 499)}…`

const failureText = (result: JsonObject): string | undefined => {
  if (result["isError"] !== true) return undefined
  const content = result["content"]
  const first: unknown = Array.isArray(content) ? content[0] : undefined
  return typeof first === "object" && first !== null && "text" in first && typeof first.text === "string"
    ? brief(first.text)
    : undefined
}

export class TaskEngine {
  private readonly options: Options
  readonly records: TaskWriter
  private readonly live = new Map<string, Live>()
  private readonly running = new Map<string, number>()
  private sweeping = false
  private closed = false

  constructor(options: Options) {
    this.options = options
    this.records = new TaskWriter(options)
  }

  /** How many tasks run in this endpoint. */
  get size(): number {
    return this.live.size
  }

  // What a client may ask for.

  /** Begins a task; it is kept by then (TKX-05). */
  open(plan: Plan): Effect.Effect<Live, McpError.McpError> {
    return Effect.suspend(() => {
      const { limits, random, store } = this.options
      if (this.closed) return Effect.fail(new McpError.ServerShuttingDown())
      const { principal } = plan
      const before = this.running.get(principal) ?? 0
      if (before >= limits.tasksPerPrincipal) {
        return Effect.fail(new McpError.TooManyRequests({ limit: "tasksPerPrincipal" }))
      }
      this.running.set(principal, before + 1)
      const created = Effect.flatMap(random.randomBytes(idBytes), (bytes) => {
        const now = this.records.now()
        const id = `${now.toString(36).padStart(timeDigits, "0")}-${Base64Url.encode(bytes)}`
        const record = TaskState.begin({ ...plan, id, owner: store.owner }, now)
        return Effect.flatMap(this.records.guarded(store.create(record, limits.tasks)), (outcome) => {
          if (outcome === "Full") return Effect.fail(new McpError.TooManyRequests({ limit: "tasks" }))
          const live = new Live(record)
          this.live.set(id, live)
          this.sweep()
          return Effect.succeed(live)
        })
      })
      return Effect.onExit(
        created,
        (exit) => Exit.isFailure(exit) ? Effect.sync(() => this.leave(principal)) : Effect.void
      )
    })
  }

  /** Takes back a task that nobody has heard of: its handler has not begun. */
  drop(live: Live): Effect.Effect<void> {
    return Effect.suspend(() => {
      live.gone = true
      this.leaveLive(live)
      return Effect.ignore(this.records.guarded(this.options.store.remove(live.record.id)))
    })
  }

  /** The task of this id, if it is this caller's (TKL-10): anybody else's is not found either. */
  find(id: string, principal: string): Effect.Effect<TaskRecord, McpError.McpError> {
    return Effect.suspend(() => {
      const live = this.ofCaller(id, principal)
      if (live !== undefined) return Effect.succeed(live.record)
      const { store } = this.options
      return Effect.flatMap(
        this.records.guarded(store.get(id)),
        (found) =>
          Option.isNone(found) || found.value.principal !== principal ||
            TaskState.isExpired(found.value, this.records.now())
            ? Effect.fail(new McpError.TaskNotFound({ taskId: id }))
            : this.records.current(found.value)
      )
    })
  }

  /** The task while it runs here. */
  ofCaller(id: string, principal: string): Live | undefined {
    const live = this.live.get(id)
    return live === undefined || live.gone || live.record.principal !== principal ? undefined : live
  }

  /** Ends a task as cancelled and interrupts its handler, without waiting for it; whether it had not ended before. */
  cancel(
    id: string,
    principal: string
  ): Effect.Effect<{ readonly record: TaskRecord; readonly changed: boolean }, McpError.McpError> {
    const event: TaskState.Event = { _tag: "Cancelled", message: cancelled }
    const elsewhere = (record: TaskRecord, tries: number): ReturnType<TaskEngine["cancel"]> => {
      const next = TaskState.step(record, event, this.records.now())
      if (next === record) return Effect.succeed({ record, changed: false })
      return Effect.flatMap(this.records.guarded(this.options.store.update(next, record.version)), (outcome) => {
        if (outcome === "Updated") return Effect.succeed({ record: next, changed: true })
        return tries === 0
          ? Effect.fail(new McpError.InternalError())
          : Effect.flatMap(this.find(id, principal), (record) => elsewhere(record, tries - 1))
      })
    }
    return Effect.suspend(() => {
      const live = this.ofCaller(id, principal)
      if (live === undefined) return Effect.flatMap(this.find(id, principal), (record) => elsewhere(record, 5))
      return Effect.uninterruptible(Effect.map(this.records.commit(live, event), (changed) => {
        if (changed) this.stop(live)
        return { record: live.record, changed }
      }))
    })
  }

  list(principal: string, after: string | undefined, limit: number): Effect.Effect<TaskPage, McpError.McpError> {
    return Effect.flatMap(
      this.records.guarded(this.options.store.list({ principal, after, limit })),
      ({ more, records }) =>
        Effect.map(
          Effect.forEach(records, (record) => {
            const live = this.live.get(record.id)
            return live === undefined ? this.records.current(record) : Effect.succeed(live.record)
          }),
          (records) => ({ more, records })
        )
    )
  }

  /** The task once it has ended, wherever it runs. */
  ended(id: string, principal: string): Effect.Effect<TaskRecord, McpError.McpError> {
    return Effect.suspend(() => {
      const live = this.ofCaller(id, principal)
      if (live !== undefined) {
        return live.over
          ? Effect.succeed(live.record)
          : Effect.flatMap(live.after(live.ticks), () => this.ended(id, principal))
      }
      return Effect.flatMap(this.find(id, principal), (record) =>
        TaskState.isTerminal(record)
          ? Effect.succeed(record)
          : Effect.delay(this.ended(id, principal), Duration.millis(record.pollInterval)))
    })
  }

  // What its handler does.

  /** Runs the handler of a task, and makes of its outcome the end of the task. */
  run(live: Live, handled: Handled, revision: Revision, context: Context.Context<never>): void {
    // The client has its answer before the handler begins.
    const body = Effect.onExit(
      Effect.andThen(Effect.yieldNow, handled),
      (exit) => this.finish(live, exit, revision)
    )
    this.adopt(live, Effect.runForkWith(context)(body))
  }

  /** Takes a fiber that runs already as the handler of a task; it calls {@link finish} itself. */
  adopt(live: Live, fiber: Fiber.Fiber<unknown, unknown>): void {
    live.fiber = this.records.own(fiber)
    const { ttl } = live.record
    if (ttl !== null) live.timer = this.records.fork(Effect.delay(this.expire(live), Duration.millis(ttl)))
    if (live.over) this.stop(live)
  }

  finish(live: Live, exit: Exit.Exit<JsonObject, McpError.McpError>, revision: Revision): Effect.Effect<void> {
    return this.eventOf(exit, live, revision).pipe(
      Effect.flatMap((event) => this.records.commit(live, event)),
      Effect.andThen(Effect.sync(() => this.leaveLive(live)))
    )
  }

  /** Asks a question on behalf of the handler, and waits for its answer. */
  ask(live: Live, question: Question): Effect.Effect<JsonObject, InputError> {
    return Effect.suspend(() => {
      const asked = new Asked(live.freshKey(question), question)
      const timeout = question.timeout ?? this.options.askTimeout
      const [ask] = question.asks
      live.questions.set(asked.key, asked)
      this.records.change(live, { _tag: "Asked", key: asked.key, request: question.request })
      return Deferred.await(asked.answer).pipe(
        Effect.timeoutOrElse({
          duration: timeout,
          orElse: () => Effect.fail(new AskTimeout({ ask, millis: Duration.toMillis(timeout) }))
        }),
        Effect.ensuring(Effect.sync(() => this.settle(live, asked, Exit.fail(new Cancelled({ ask })))))
      )
    })
  }

  /** Ends a question; whether it was open. */
  settle(live: Live, asked: Asked, answer: Exit.Exit<JsonObject, InputError>): boolean {
    if (!live.questions.delete(asked.key)) return false
    this.records.change(live, { _tag: "Settled", key: asked.key })
    Deferred.doneUnsafe(asked.answer, answer)
    return true
  }

  // The end of the endpoint.

  /** Begins no task any more, and waits until those that run have ended, for so long at most. */
  drain(deadline: Duration.Input): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.closed = true
      // What waits for a client waits in vain by now.
      const fibers = Array.from(this.live.values())
        .flatMap(({ fiber, record }) => fiber === undefined || record.status === "input_required" ? [] : [fiber])
      return Effect.asVoid(Effect.timeoutOption(Fiber.awaitAll(fibers), deadline))
    })
  }

  /** From now on interruption is the end of the endpoint: what it ends is lost. */
  closeUnsafe(): void {
    this.closed = true
  }

  // Inside.

  private eventOf(
    exit: Exit.Exit<JsonObject, McpError.McpError>,
    live: Live,
    revision: Revision
  ): Effect.Effect<TaskState.Event> {
    if (Exit.isSuccess(exit)) {
      const result = exit.value
      return Effect.succeed({ _tag: "Ended", outcome: { _tag: "Result", result }, message: failureText(result) })
    }
    if (Cause.hasInterruptsOnly(exit.cause) && (this.closed || live.over)) return Effect.succeed(TaskState.lost)
    const failure = Cause.findError(exit.cause)
    const error = McpError.toWire(Result.isSuccess(failure) ? failure.success : new McpError.InternalError(), revision)
    const event: TaskState.Event = { _tag: "Ended", outcome: { _tag: "Error", error }, message: brief(error.message) }
    return Result.isSuccess(failure)
      ? Effect.succeed(event)
      : Effect.as(Effect.logError(`${live.record.method} failed in a task`, exit.cause), event)
  }

  /** Interrupts the handler; the log hears of one that does not end. */
  private stop(live: Live): void {
    const { fiber } = live
    if (fiber === undefined || fiber.pollUnsafe() !== undefined) return
    fiber.interruptUnsafe()
    const { taskGrace } = this.options.limits
    this.records.fork(Effect.timeoutOrElse(Effect.asVoid(Fiber.await(fiber)), {
      duration: taskGrace,
      orElse: () => Effect.logWarning(`the handler of a task goes on after its end: ${live.record.method}`)
    }))
  }

  /** The time of a task is over: it is forgotten, and its handler does not go on. */
  private expire(live: Live): Effect.Effect<void> {
    return Effect.andThen(
      Effect.sync(() => {
        live.gone = true
        live.timer = undefined
        live.tick()
        this.stop(live)
      }),
      Effect.ignore(this.records.guarded(this.options.store.remove(live.record.id)))
    )
  }

  /** The handler has ended. What could not be saved stays until it is. */
  private leaveLive(live: Live): void {
    this.leave(live.record.principal)
    live.timer?.interruptUnsafe()
    live.timer = undefined
    live.fiber = undefined
    if (live.gone || live.saved === live.record.version) this.live.delete(live.record.id)
  }

  private leave(principal: string): void {
    const rest = (this.running.get(principal) ?? 1) - 1
    if (rest > 0) this.running.set(principal, rest)
    else this.running.delete(principal)
  }

  /** From the first task on, what has expired is removed, and what could not be saved is tried again. */
  private sweep(): void {
    if (this.sweeping) return
    this.sweeping = true
    const once = Effect.suspend(() => {
      const unsaved = Array.from(this.live.values()).filter((live) => live.fiber === undefined && live.over)
      return Effect.andThen(
        Effect.forEach(unsaved, (live) =>
          Effect.andThen(
            live.lock.withPermits(1)(this.records.save(live)),
            Effect.sync(() => {
              const done = live.gone || live.saved === live.record.version ||
                TaskState.isExpired(live.record, this.records.now())
              if (done) this.live.delete(live.record.id)
            })
          ), { discard: true }),
        Effect.ignore(this.records.guarded(this.options.store.expire(this.records.now())))
      )
    })
    this.records.fork(Effect.forever(Effect.delay(once, sweepEvery)))
  }
}

/**
 * Keeps the records of tasks: what changes while a task runs is saved soon, its end before anybody hears of it. Another process
 * may change a record as well; whoever comes second sees what the first has done.
 */
import * as McpError from "@mcpfx/schema/McpError"
import * as TaskState from "@mcpfx/session/TaskState"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import type { TaskStoreUnavailable } from "../ServerError.ts"
import type { ServerLimits } from "../ServerLimits.ts"
import type { Live } from "./taskLive.ts"
import type { TaskStore } from "./taskRecord.ts"

type TaskRecord = TaskState.TaskRecord

export interface Options {
  readonly store: TaskStore["Service"]
  readonly limits: ServerLimits
  /** Owns the fibers of all tasks. */
  readonly scope: Scope.Scope
  readonly context: Context.Context<never>
}

/** How often in a row another process may come first; a store that never agrees is one that cannot be reached. */
const contested = 10
const attempts = Schedule.exponential("50 millis").pipe(Schedule.upTo({ times: 5 }))

export class TaskWriter {
  private readonly options: Options

  constructor(options: Options) {
    this.options = options
  }

  now(): number {
    return Context.get(this.options.context, Clock.Clock).currentTimeMillisUnsafe()
  }

  own<A, E>(fiber: Fiber.Fiber<A, E>): Fiber.Fiber<A, E> {
    return Fiber.runIn(fiber, this.options.scope)
  }

  /** Runs something that ends with the endpoint. */
  fork<A, E>(effect: Effect.Effect<A, E>): Fiber.Fiber<A, E> {
    return this.own(Effect.runForkWith(this.options.context)(effect))
  }

  /** What the store cannot do is in the log; the client hears that something broke. */
  guarded<A>(effect: Effect.Effect<A, TaskStoreUnavailable>): Effect.Effect<A, McpError.McpError> {
    return Effect.timeout(effect, this.options.limits.storeTimeout).pipe(
      Effect.catch((error) =>
        Effect.andThen(Effect.logError("a task could not be looked up", error), new McpError.InternalError())
      )
    )
  }

  /** A record of the store; one that is not finished and whose process is gone has failed (TKL-03). */
  current(record: TaskRecord): Effect.Effect<TaskRecord, McpError.McpError> {
    const { store } = this.options
    if (TaskState.isTerminal(record) || record.owner === store.owner) return Effect.succeed(record)
    return Effect.flatMap(this.guarded(store.isAlive(record.owner)), (alive) => {
      if (alive) return Effect.succeed(record)
      const next = TaskState.step(record, TaskState.lost, this.now())
      return Effect.as(this.guarded(store.update(next, record.version)), next)
    })
  }

  /** A change that needs not be kept before others hear of it. */
  change(live: Live, event: TaskState.Event): boolean {
    const next = TaskState.step(live.record, event, this.now())
    if (next === live.record || live.gone) return false
    live.publish(next)
    this.saveSoon(live)
    return true
  }

  /** A change that is kept before anybody hears of it; whether there was one. */
  commit(live: Live, event: TaskState.Event): Effect.Effect<boolean> {
    const write = (tries: number): Effect.Effect<boolean> =>
      Effect.suspend(() => {
        const next = TaskState.step(live.record, event, this.now())
        if (next === live.record || live.gone) return Effect.succeed(false)
        // It is told all the same, and saved when the store is back.
        const told = Effect.sync(() => {
          live.publish(next)
          return true
        })
        return Effect.matchEffect(this.stored(next, live.saved), {
          onFailure: (error) => Effect.andThen(Effect.logError("the end of a task could not be kept", error), told),
          onSuccess: (outcome) => {
            if (outcome !== "Updated") {
              const again = Effect.suspend(() => tries === 0 ? told : write(tries - 1))
              return Effect.flatMap(this.reconcile(live), (known) => known ? again : told)
            }
            live.saved = next.version
            live.publish(next)
            return Effect.succeed(true)
          }
        })
      })
    return live.lock.withPermits(1)(write(contested))
  }

  private stored(record: TaskRecord, expected: number) {
    return this.options.store.update(record, expected).pipe(
      Effect.timeout(this.options.limits.storeTimeout),
      Effect.retry(attempts)
    )
  }

  /** Another process has changed the record: if it has ended there, it has ended. Whether the store could tell. */
  private reconcile(live: Live): Effect.Effect<boolean> {
    return Effect.match(this.guarded(this.options.store.get(live.record.id)), {
      onFailure: () => false,
      onSuccess: (found) => {
        if (Option.isNone(found)) {
          live.gone = true
          live.tick()
        } else {
          live.saved = found.value.version
          if (TaskState.isTerminal(found.value)) live.publish(found.value)
        }
        if (live.over) live.fiber?.interruptUnsafe()
        return true
      }
    })
  }

  private saveSoon(live: Live): void {
    if (live.saving) return
    live.saving = true
    this.fork(Effect.ensuring(
      live.lock.withPermits(1)(this.save(live)),
      Effect.sync(() => {
        live.saving = false
      })
    ))
  }

  save(live: Live, tries = contested): Effect.Effect<void> {
    return Effect.suspend((): Effect.Effect<void> => {
      const { record } = live
      if (live.saved === record.version || live.gone) return Effect.void
      return Effect.matchEffect(
        Effect.timeout(this.options.store.update(record, live.saved), this.options.limits.storeTimeout),
        {
          onFailure: (error) => Effect.logWarning("a task could not be kept", error),
          onSuccess: (outcome) => {
            if (outcome === "Updated") {
              live.saved = record.version
              return this.save(live)
            }
            return Effect.flatMap(
              this.reconcile(live),
              (known) => known && tries > 0 ? this.save(live, tries - 1) : Effect.void
            )
          }
        }
      )
    })
  }
}

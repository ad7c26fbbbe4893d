/**
 * What is known of a task, and what may follow what in its life: the same for both sides and both dialects. Pure: no clock, no
 * store.
 *
 * @since 0.1.0
 */
import * as Codes from "@mcpfx/schema/Codes"
import { type JsonObject, WireError } from "@mcpfx/schema/JsonRpc"
import * as Task from "@mcpfx/schema/Task"
import * as Schema from "effect/Schema"

const Json = Schema.Record(Schema.String, Schema.Unknown)

/**
 * How the request of a task ended: with a result of its method, in the neutral shape, or with an error.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskOutcome = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Result"), result: Json }),
  Schema.Struct({ _tag: Schema.Literal("Error"), error: WireError })
])

/**
 * @category models
 * @since 0.1.0
 */
export type TaskOutcome = typeof TaskOutcome.Type

/**
 * What is kept of a task: what the other side may be told about it, whom it belongs to and who runs it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskRecord = Schema.Struct({
  /** Names the task and gives access to it: not to be guessed. */
  id: Schema.String,
  /** Whom it belongs to: a `Principal.key`. */
  principal: Schema.String,
  /** The process that runs it. */
  owner: Schema.String,
  /** Grows with each change. */
  version: Schema.Int,
  /** The method of the request. */
  method: Schema.String,
  status: Task.Status,
  statusMessage: Schema.optionalKey(Schema.String),
  /** In milliseconds since the epoch, as all times here. */
  createdAt: Schema.Int,
  updatedAt: Schema.Int,
  /** How long the task is kept from its creation, in milliseconds; `null` is for ever. */
  ttl: Schema.NullOr(Schema.Int),
  /** How long the other side should wait between two looks, in milliseconds. */
  pollInterval: Schema.Int,
  /** What the task asks for, by key. */
  inputs: Schema.Record(Schema.String, Json),
  outcome: Schema.optionalKey(TaskOutcome)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface TaskRecord extends Schema.Schema.Type<typeof TaskRecord> {}

/**
 * What happens to a task.
 *
 * @category models
 * @since 0.1.0
 */
export type Event =
  /** Its handler asks for something, under a key that was never used in this task (TKX-08). */
  | { readonly _tag: "Asked"; readonly key: string; readonly request: JsonObject }
  /** What was asked for under the key is there, or is not wanted any more. */
  | { readonly _tag: "Settled"; readonly key: string }
  /** Its handler says how far it has come. */
  | { readonly _tag: "Told"; readonly message: string }
  /** Its handler is done. */
  | { readonly _tag: "Ended"; readonly outcome: TaskOutcome; readonly message: string | undefined }
  | { readonly _tag: "Cancelled"; readonly message: string }

/**
 * What a new task is made from.
 *
 * @category models
 * @since 0.1.0
 */
export interface Seed {
  readonly id: string
  readonly principal: string
  readonly owner: string
  readonly method: string
  readonly ttl: number | null
  readonly pollInterval: number
}

/**
 * A task that begins now, `working` (TKL-03).
 *
 * @category constructors
 * @since 0.1.0
 */
export const begin = (seed: Seed, now: number): TaskRecord => ({
  ...seed,
  version: 1,
  status: "working",
  createdAt: now,
  updatedAt: now,
  inputs: {}
})

/**
 * Whether a task has ended and will not change any more.
 *
 * @category getters
 * @since 0.1.0
 */
export const isTerminal = (record: TaskRecord): boolean => Task.isTerminal(record.status)

/**
 * When a task may be forgotten, in milliseconds since the epoch; `Infinity` for never.
 *
 * @category getters
 * @since 0.1.0
 */
export const expiresAt = ({ createdAt, ttl }: TaskRecord): number =>
  ttl === null ? Number.POSITIVE_INFINITY : createdAt + ttl

/**
 * Whether a task may be forgotten at `now`, in milliseconds since the epoch.
 *
 * @category getters
 * @since 0.1.0
 */
export const isExpired = (record: TaskRecord, now: number): boolean => expiresAt(record) <= now

const without = (inputs: TaskRecord["inputs"], key: string): TaskRecord["inputs"] => {
  const { [key]: _, ...rest } = inputs
  return rest
}

/** The members an event changes; `undefined` when it changes nothing. */
const change = (record: TaskRecord, event: Event): Partial<TaskRecord> | undefined => {
  switch (event._tag) {
    case "Asked":
      return Object.hasOwn(record.inputs, event.key)
        ? undefined
        : { status: "input_required", inputs: { ...record.inputs, [event.key]: event.request } }
    case "Settled": {
      if (!Object.hasOwn(record.inputs, event.key)) return undefined
      const inputs = without(record.inputs, event.key)
      return { inputs, status: Object.keys(inputs).length === 0 ? "working" : "input_required" }
    }
    case "Told":
      return record.statusMessage === event.message ? undefined : { statusMessage: event.message }
    case "Ended":
      return {
        status: event.outcome._tag === "Result" ? "completed" : "failed",
        outcome: event.outcome,
        inputs: {},
        ...(event.message !== undefined && { statusMessage: event.message })
      }
    case "Cancelled":
      return { status: "cancelled", statusMessage: event.message, inputs: {} }
  }
}

/**
 * The task after an event; the same one when the event changes nothing, as every event does to a task that has ended.
 *
 * **Example** (A task that was cancelled does not complete)
 *
 * ```ts
 * import { TaskState } from "@mcpfx/session"
 *
 * const seed = { id: "1", principal: "", owner: "a", method: "tools/call", ttl: 60_000, pollInterval: 1_000 }
 * const task = TaskState.begin(seed, 0)
 * const cancelled = TaskState.step(task, { _tag: "Cancelled", message: "by request" }, 1)
 * const outcome = { _tag: "Result", result: {} } as const
 * TaskState.step(cancelled, { _tag: "Ended", outcome, message: undefined }, 2).status // => "cancelled"
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const step = (record: TaskRecord, event: Event, now: number): TaskRecord => {
  if (isTerminal(record)) return record
  const changed = change(record, event)
  if (changed === undefined) return record
  // A clock that was set back does not make a task younger.
  return { ...record, ...changed, version: record.version + 1, updatedAt: Math.max(record.updatedAt, now) }
}

/**
 * How a task is shown: on 2025-11-25 (`core`) or in the extension.
 *
 * @category models
 * @since 0.1.0
 */
export type Dialect = "core" | "extension"

/** A result that says that a tool failed fails the task on 2025-11-25 and completes it in the extension (TKL-08, TKX-07). */
const statusIn = (record: TaskRecord, dialect: Dialect): Task.Status =>
  dialect === "core" && record.outcome?._tag === "Result" && record.outcome.result["isError"] === true
    ? "failed"
    : record.status

const iso = (millis: number): string => new Date(millis).toISOString()

/**
 * A task as a dialect shows it, without what its state brings with it.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toTask = (record: TaskRecord, dialect: Dialect): Task.Task => ({
  taskId: record.id,
  status: statusIn(record, dialect),
  ...(record.statusMessage !== undefined && { statusMessage: record.statusMessage }),
  createdAt: iso(record.createdAt),
  lastUpdatedAt: iso(record.updatedAt),
  ttlMs: record.ttl,
  pollIntervalMs: record.pollInterval
})

/** An error whose `data` names its reason. */
const failure = (message: string, reason: string): TaskOutcome => ({
  _tag: "Error",
  error: { code: Codes.internalError, message, data: { reason } }
})

/**
 * How a task ends whose process is gone: the reason is `server_restarted`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const lost: Event = {
  _tag: "Ended",
  outcome: failure("The task was lost when its server was restarted", "server_restarted"),
  message: "server_restarted"
}

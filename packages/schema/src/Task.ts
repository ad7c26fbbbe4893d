/**
 * Work that outlives its request: the tasks of 2025-11-25 and of the `io.modelcontextprotocol/tasks` extension of
 * 2026-07-28, under the extension's names.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { meta, page, requestMeta, result } from "./internal/fields.ts"
import { JsonObject, open } from "./internal/json.ts"
import { WireError } from "./JsonRpc.ts"
import * as Pagination from "./Pagination.ts"

/**
 * The name of the extension.
 *
 * @category models
 * @since 0.1.0
 */
export const extensionId = "io.modelcontextprotocol/tasks"

/**
 * @category schemas
 * @since 0.1.0
 */
export const Status = Schema.Literals(["working", "input_required", "completed", "failed", "cancelled"])

/**
 * @category models
 * @since 0.1.0
 */
export type Status = typeof Status.Type

/**
 * Whether a task in this state will not change any more.
 *
 * @category getters
 * @since 0.1.0
 */
export const isTerminal = (status: Status): boolean =>
  status === "completed" || status === "failed" || status === "cancelled"

/**
 * The wish to run a request as a task, on 2025-11-25. `ttl` is in milliseconds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Augmentation = Schema.Struct({ ttl: Schema.optionalKey(Schema.Int) })

/**
 * @category models
 * @since 0.1.0
 */
export interface Augmentation extends Schema.Schema.Type<typeof Augmentation> {}

const fields = {
  taskId: Schema.String,
  status: Status,
  statusMessage: Schema.optionalKey(Schema.String),
  /** ISO 8601. */
  createdAt: Schema.String,
  /** ISO 8601. */
  lastUpdatedAt: Schema.String,
  /** Milliseconds from creation; `null` is for ever. */
  ttlMs: Schema.NullOr(Schema.Int),
  /** Milliseconds to wait between two looks. */
  pollIntervalMs: Schema.optionalKey(Schema.Int)
}

/**
 * The state of a task (TKL-03). On the wire of 2025-11-25 `ttlMs` is `ttl` and `pollIntervalMs` is `pollInterval`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Task = Schema.Struct(fields)

/**
 * @category models
 * @since 0.1.0
 */
export interface Task extends Schema.Schema.Type<typeof Task> {}

/**
 * The answer to a request that has become a task (TKL-02, TKX-04).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Created = open({ resultType: Schema.Literal("task"), task: Task, ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface Created extends Schema.Schema.Type<typeof Created> {}

/**
 * The params of `tasks/get`, `tasks/result` and `tasks/cancel`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = Schema.Struct({ taskId: Schema.String, ...requestMeta })

/**
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

const outcome = {
  /** What the task asks for while `input_required`; the extension only. */
  inputRequests: Schema.optionalKey(JsonObject),
  /** The result of the request once `completed`; the extension only. */
  result: Schema.optionalKey(JsonObject),
  /** The error of the request once `failed`; the extension only. */
  error: Schema.optionalKey(WireError)
}

/**
 * The answer to `tasks/get`: the task, and in the extension what its state brings with it (TKX-04).
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetResult = open({ ...fields, ...outcome, ...result })

/**
 * @category models
 * @since 0.1.0
 */
export interface GetResult extends Schema.Schema.Type<typeof GetResult> {}

/**
 * The answer to `tasks/result` on 2025-11-25: the result of the request itself (TKL-05).
 *
 * @category schemas
 * @since 0.1.0
 */
export const PayloadResult = JsonObject

/**
 * The answer to `tasks/cancel`: the task on 2025-11-25, nothing in the extension (TKL-08, TKX-09).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CancelResult = open({ task: Schema.optionalKey(Task), ...result })

/**
 * @category models
 * @since 0.1.0
 */
export interface CancelResult extends Schema.Schema.Type<typeof CancelResult> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const ListParams = Pagination.Params

/**
 * @category models
 * @since 0.1.0
 */
export interface ListParams extends Pagination.Params {}

/**
 * The answer to `tasks/list`, on 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListResult = open({ tasks: Schema.Array(Task), ...page, ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * The params of `tasks/update`, in the extension: answers to what the task asked for.
 *
 * @category schemas
 * @since 0.1.0
 */
export const UpdateParams = Schema.Struct({ taskId: Schema.String, inputResponses: JsonObject, ...requestMeta })

/**
 * @category models
 * @since 0.1.0
 */
export interface UpdateParams extends Schema.Schema.Type<typeof UpdateParams> {}

/**
 * The params of `notifications/tasks/status` on 2025-11-25 and of `notifications/tasks` in the extension.
 *
 * @category schemas
 * @since 0.1.0
 */
export const StatusParams = Schema.Struct({ ...fields, ...outcome, ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface StatusParams extends Schema.Schema.Type<typeof StatusParams> {}

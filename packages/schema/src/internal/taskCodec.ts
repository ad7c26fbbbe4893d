/** The two dialects of tasks: that of 2025-11-25 and that of the extension on 2026-07-28. */
import * as Schema from "effect/Schema"
import { isJsonObject, type JsonObject, WireError } from "../JsonRpc.ts"
import * as Task from "../Task.ts"
import { type Reader, reader } from "./codec.ts"
import { page } from "./fields.ts"
import { JsonObject as AnyObject } from "./json.ts"
import { compose, member, omit, type Project, rename } from "./project.ts"
import { tolerant } from "./tolerant.ts"

const Struct = Schema.Struct

const common = {
  taskId: Schema.String,
  status: Task.Status,
  statusMessage: Schema.optionalKey(Schema.String),
  createdAt: Schema.String,
  lastUpdatedAt: Schema.String
}

/** A task on the wire of 2025-11-25. */
export const coreFields = {
  ...common,
  ttl: Schema.NullOr(Schema.Int),
  pollInterval: Schema.optionalKey(Schema.Int)
}

/** What the extension's state brings with it. */
const outcome = {
  inputRequests: Schema.optionalKey(AnyObject),
  result: Schema.optionalKey(AnyObject),
  error: Schema.optionalKey(WireError)
}

/** A task on the wire of the extension. */
export const extensionFields = {
  ...common,
  ttlMs: Schema.NullOr(Schema.Int),
  pollIntervalMs: Schema.optionalKey(Schema.Int)
}

export const extensionDetails = { ...extensionFields, ...outcome }

/** From the neutral names to those of 2025-11-25, and back. */
export const toCore: Project = compose(
  omit("inputRequests", "result", "error"),
  rename("ttlMs", "ttl"),
  rename("pollIntervalMs", "pollInterval")
)
export const fromCore: Project = compose(
  omit("inputRequests", "result", "error", "ttlMs", "pollIntervalMs"),
  rename("ttl", "ttlMs"),
  rename("pollInterval", "pollIntervalMs")
)

const members: ReadonlySet<string> = new Set(Object.keys(extensionFields))

/** Takes the members of a task out of an object into its member `task`. */
export const nest: Project = (flat) => {
  const entries = Object.entries(flat)
  return {
    ...Object.fromEntries(entries.filter(([name]) => !members.has(name))),
    task: Object.fromEntries(entries.filter(([name]) => members.has(name)))
  }
}

/** Puts the members of `task` beside the others. */
export const flatten: Project = (self) => {
  const task = self["task"]
  return isJsonObject(task) ? { ...omit("task")(self), ...task } : self
}

const created: Reader<Task.Created> = reader(Task.Created.schema)

/** A result that is a task, of 2025-11-25: it has the member `task`, and the neutral `resultType` is added. */
export const createdCore: Reader<Task.Created> = {
  schema: Struct({ task: Struct(coreFields), _meta: Schema.optionalKey(AnyObject) }),
  read: (wire) => created.read({ ...member("task", fromCore)(wire), resultType: "task" })
}

/** As {@link createdCore}, of the extension: the task's members lie beside `resultType: "task"`. */
export const createdExtension: Reader<Task.Created> = {
  schema: Struct({ ...extensionFields, resultType: Schema.Literal("task"), _meta: Schema.optionalKey(AnyObject) }),
  read: (wire) => created.read(nest(wire))
}

/** Whether a result of 2025-11-25 is a task rather than what was asked for. */
export const isCreatedCore = (wire: JsonObject): boolean => wire["task"] !== undefined && wire["content"] === undefined

/** How results that may be a task are written on 2025-11-25: `plain` unless they are. */
export const writeCore = (plain: Project): Project => {
  const task = compose(omit("resultType"), member("task", toCore))
  return (result) => result["resultType"] === "task" ? task(result) : plain(result)
}

const got = reader(Task.GetResult.schema)
const cancelled = reader(Task.CancelResult.schema)
const listed = reader(Task.ListResult.schema)
const status = reader(Task.StatusParams)

const through = <A>(self: Reader<A>, schema: Schema.Codec<unknown, unknown>, prepare: Project): Reader<A> =>
  tolerant({ schema, read: (wire) => self.read(prepare(wire)) })

const meta = { _meta: Schema.optionalKey(AnyObject) }
const flatCore = Struct({ ...coreFields, ...meta })

export const core = {
  got: through(got, flatCore, compose(omit("resultType"), fromCore)),
  cancelled: through(cancelled, flatCore, compose(omit("resultType"), fromCore, nest)),
  listed: through(listed, Struct({ tasks: Schema.Array(Struct(coreFields)), ...page, ...meta }), (wire) => {
    const tasks = wire["tasks"]
    return Array.isArray(tasks)
      ? { ...wire, tasks: tasks.map((task) => isJsonObject(task) ? fromCore(task) : task) }
      : wire
  }),
  status: { schema: flatCore, read: (wire: JsonObject) => status.read(fromCore(wire)) }
}

export const extension = {
  got: tolerant(got),
  cancelled: tolerant({ schema: cancelled.schema, read: (wire: JsonObject) => cancelled.read(omit("task")(wire)) }),
  status
}

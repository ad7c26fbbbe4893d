/** The requests and notifications of tasks, and those that may end in one, in both dialects. */
import * as Schema from "effect/Schema"
import * as Methods from "../Methods.ts"
import type * as Task from "../Task.ts"
import { either, type Reader, reader, type RequestSpec } from "./codec.ts"
import { onNotification, onRequest } from "./definition.ts"
import { JsonObject, open } from "./json.ts"
import { compose, members, omit, type Project, same } from "./project.ts"
import * as readers from "./readers.ts"
import * as requests from "./requests.ts"
import { inputRequests } from "./rounds.ts"
import type { Shapes } from "./shapes.ts"
import * as tasks from "./taskCodec.ts"

const Struct = Schema.Struct

/** A request of 2025-11-25 whose answer may be a task. */
const mayBecomeTask = <P, R>(
  parts: (shapes: Shapes) => RequestSpec<P, R>
) =>
(s: Shapes) => {
  const plain = parts(s)
  const created: Reader<R | Task.Created> = tasks.createdCore
  const fallback: Reader<R | Task.Created> = plain.readResult
  return {
    ...plain,
    result: Schema.Union([plain.result, tasks.createdCore.schema]),
    readResult: either(fallback, (wire) => tasks.isCreatedCore(wire) ? created : undefined),
    writeResult: tasks.writeCore(plain.writeResult)
  }
}

export const toolsCall = onRequest(Methods.ToolsCall, mayBecomeTask(requests.toolsCallParts))
export const sampling = onRequest(Methods.SamplingCreateMessage, mayBecomeTask(requests.samplingParts))
export const elicitation = onRequest(Methods.ElicitationCreate, mayBecomeTask(requests.elicitationParts))

const params = (s: Shapes) => ({
  params: reader(Struct({ taskId: Schema.String, ...s.requestMeta })),
  writeParams: same
})

const writeFlat: Project = compose(omit("resultType"), tasks.toCore)

export const get = onRequest(Methods.TasksGet, (s) => ({
  ...params(s),
  result: tasks.core.got.schema,
  readResult: tasks.core.got,
  writeResult: writeFlat
}))

export const cancel = onRequest(Methods.TasksCancel, (s) => ({
  ...params(s),
  result: tasks.core.cancelled.schema,
  readResult: tasks.core.cancelled,
  writeResult: compose(tasks.flatten, writeFlat)
}))

const payload = open({ _meta: Schema.optionalKey(JsonObject) })

export const result = onRequest(Methods.TasksResult, (s) => ({
  ...params(s),
  result: payload,
  readResult: reader(payload),
  writeResult: same
}))

export const list = onRequest(Methods.TasksList, (s) => ({
  params: reader(Struct({ cursor: Schema.optionalKey(Schema.String), ...s.requestMeta })),
  writeParams: same,
  result: tasks.core.listed.schema,
  readResult: tasks.core.listed,
  writeResult: compose(omit("resultType"), members("tasks", tasks.toCore))
}))

export const status = onNotification(Methods.TasksStatus, () => ({
  params: tasks.core.status,
  writeParams: tasks.toCore
}))

export const extensionGet = onRequest(Methods.TasksGet, (s) => ({
  ...params(s),
  result: Struct({ ...tasks.extensionDetails, ...s.result.fields }),
  readResult: tasks.extension.got,
  writeResult: compose(inputRequests(s), s.result.project)
}))

export const extensionCancel = onRequest(Methods.TasksCancel, (s) => ({
  ...params(s),
  result: Struct(s.result.fields),
  readResult: tasks.extension.cancelled,
  writeResult: compose(omit("task"), s.result.project)
}))

export const extensionUpdate = onRequest(Methods.TasksUpdate, (s) => ({
  params: reader(Struct({ taskId: Schema.String, inputResponses: JsonObject, ...s.requestMeta })),
  writeParams: same,
  result: Struct(s.result.fields),
  readResult: readers.empty,
  writeResult: s.result.project
}))

export const extensionChanged = onNotification(Methods.TasksChanged, (s) => ({
  params: tasks.extension.status,
  writeParams: inputRequests(s)
}))

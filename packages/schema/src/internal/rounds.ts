/** The requests that may end in a round on 2026-07-28 (MRT-02). */
import * as Schema from "effect/Schema"
import type { InputRequired } from "../InputRequired.ts"
import * as Methods from "../Methods.ts"
import type * as Task from "../Task.ts"
import { either, type Reader, type RequestSpec } from "./codec.ts"
import { onRequest } from "./definition.ts"
import { JsonObject } from "./json.ts"
import { member, type Project, values } from "./project.ts"
import * as readers from "./readers.ts"
import * as requests from "./requests.ts"
import type { Shapes } from "./shapes.ts"
import * as tasks from "./taskCodec.ts"

const Struct = Schema.Struct

/** Writes what a round, or a task, asks for. */
export const inputRequests = (s: Shapes): Project =>
  values("inputRequests", (request) => {
    switch (request["method"]) {
      case "elicitation/create":
        return member("params", s.elicit.write)(request)
      case "sampling/createMessage":
        return member("params", s.sample.write)(request)
      default:
        return request
    }
  })

/** The wire shape of a round. */
const roundSchema = (s: Shapes) =>
  Struct({
    inputRequests: Schema.optionalKey(Schema.Record(
      Schema.String,
      Schema.Union([
        Struct({ method: Schema.Literal("elicitation/create"), params: s.elicit.schema }),
        Struct({ method: Schema.Literal("sampling/createMessage"), params: s.sample.schema }),
        Struct({
          method: Schema.Literal("roots/list"),
          params: Schema.optionalKey(Struct({ _meta: Schema.optionalKey(JsonObject) }))
        })
      ])
    )),
    requestState: Schema.optionalKey(Schema.String),
    resultType: Schema.Literal("input_required"),
    _meta: Schema.optionalKey(JsonObject)
  }).check(Schema.makeFilter(
    (round) => round.inputRequests !== undefined || round.requestState !== undefined,
    { expected: "inputRequests, requestState or both" }
  ))

/** A request whose answer may be a round. */
const mayAsk = <P, R>(parts: (shapes: Shapes) => RequestSpec<P, R>) => (s: Shapes) => {
  const plain = parts(s)
  const round: Reader<R | InputRequired> = readers.inputRequired
  const fallback: Reader<R | InputRequired> = plain.readResult
  const ask = inputRequests(s)
  return {
    ...plain,
    result: Schema.Union([roundSchema(s), plain.result]),
    readResult: either(fallback, (wire) => wire["resultType"] === "input_required" ? round : undefined),
    writeResult: (result: Parameters<Project>[0]) =>
      result["resultType"] === "input_required" ? ask(result) : plain.writeResult(result)
  }
}

const toolsCallParts = mayAsk(requests.toolsCallParts)

export const toolsCall = onRequest(Methods.ToolsCall, toolsCallParts)
export const resourcesRead = onRequest(Methods.ResourcesRead, mayAsk(requests.resourcesReadParts))
export const promptsGet = onRequest(Methods.PromptsGet, mayAsk(requests.promptsGetParts))

/** With the tasks extension a call may also end in a task (TKX-03). */
export const toolsCallOrTask = onRequest(Methods.ToolsCall, (s) => {
  const plain = toolsCallParts(s)
  type Outcome = Task.Created | (typeof plain.readResult extends Reader<infer R> ? R : never)
  const created: Reader<Outcome> = tasks.createdExtension
  const fallback: Reader<Outcome> = plain.readResult
  return {
    ...plain,
    result: Schema.Union([tasks.createdExtension.schema, plain.result]),
    readResult: either(fallback, (wire) => wire["resultType"] === "task" ? created : undefined),
    writeResult: (result: Parameters<Project>[0]) =>
      result["resultType"] === "task" ? tasks.flatten(result) : plain.writeResult(result)
  }
})

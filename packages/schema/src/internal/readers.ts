/** What is asked of results when they are read: the neutral shapes, whatever the revision, and a little patience. */
import type * as Schema from "effect/Schema"
import * as Completion from "../Completion.ts"
import * as Content from "../Content.ts"
import * as Elicitation from "../Elicitation.ts"
import { InputRequired } from "../InputRequired.ts"
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import * as Lifecycle from "../Lifecycle.ts"
import * as Roots from "../Roots.ts"
import * as Sampling from "../Sampling.ts"
import * as Subscription from "../Subscription.ts"
import * as Tool from "../Tool.ts"
import { after, map, quick, type Reader, reader } from "./codec.ts"
import { isPlainResult } from "./plainCall.ts"
import { compose, each, fill, member, members, type Project } from "./project.ts"
import * as Prompt from "./promptShapes.ts"
import * as Resource from "./resourceShapes.ts"
import { tolerant } from "./tolerant.ts"

/** Blocks of unknown types are put into an opaque block before anything is asked of them. */
const wrap: Project = (block) => {
  const type = block["type"]
  return typeof type === "string" && !Content.knownTypes.has(type) ? { type: "opaque", block } : block
}

const wrapAll = members("content", wrap)
const wrapEach = members("messages", member("content", wrap))

const read = <A>(schema: Schema.Codec<A, unknown>, prepare?: Project): Reader<JsonObject & A> =>
  tolerant(prepare === undefined ? reader(schema) : after(reader(schema), prepare))

export const initialize = read(Lifecycle.InitializeResult.schema)
export const discover = read(Lifecycle.DiscoverResult.schema)
export const empty = read(Lifecycle.EmptyResult.schema)
export const tools = read(Tool.ListResult.schema)
export const call = quick(
  read(Tool.CallResult.schema, compose(fill("content", []), wrapAll)),
  isPlainResult
)
export const resources = read(Resource.ListResult.schema)
export const templates = read(Resource.TemplatesListResult.schema)
export const contents = read(Resource.ReadResult.schema)
export const prompts = read(Prompt.ListResult.schema)
export const messages = read(Prompt.GetResult.schema, wrapEach)
export const completion = read(Completion.Result.schema)
export const listened = read(Subscription.ListenResult.schema)
export const roots = read(Roots.ListResult.schema)
export const sampled = read(Sampling.CreateResult.schema, (result) => {
  const content = result["content"]
  if (!Array.isArray(content)) return isJsonObject(content) ? member("content", wrapAll)(result) : result
  const next = each(content, wrapAll)
  return next === content ? result : { ...result, content: next }
})
export const elicited = read(Elicitation.Result.schema)

const round = map(
  read(InputRequired.schema),
  (result) => result.inputRequests === undefined && result.requestState === undefined ? undefined : result
)

/** A round: it asks for something, or at least says where it is (MRT-03). An ask that is `null` is none to pass over. */
export const inputRequired: typeof round = {
  schema: round.schema,
  read: (wire) => {
    const asks = wire["inputRequests"]
    return isJsonObject(asks) && Object.values(asks).includes(null) ? undefined : round.read(wire)
  }
}

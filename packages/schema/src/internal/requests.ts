/** The requests, each built from the shapes of whichever revision has it. */
import * as Schema from "effect/Schema"
import * as Completion from "../Completion.ts"
import { Level } from "../Logging.ts"
import * as Methods from "../Methods.ts"
import * as Subscription from "../Subscription.ts"
import { after, quick, type Reader, reader } from "./codec.ts"
import { onRequest } from "./definition.ts"
import { hundredValues } from "./downgrade.ts"
import { coreFilter, SubscriptionMeta } from "./filter.ts"
import { JsonObject } from "./json.ts"
import { isPlainCall } from "./plainCall.ts"
import { compose, member, members, omit, type Project, same } from "./project.ts"
import * as readers from "./readers.ts"
import type { Fields, Members, Shapes } from "./shapes.ts"

const Struct = Schema.Struct
const list = <A>(item: Schema.Codec<A, unknown>) => Schema.Array(item)
const cursor = { cursor: Schema.optionalKey(Schema.String) }
const nextCursor = { nextCursor: Schema.optionalKey(Schema.String) }
const text = Schema.optionalKey(Schema.String)

/** Reads a result of this revision: what means nothing on it is not looked at. */
const results = <A>(shapes: Shapes, self: Reader<A>): Reader<A> => after(self, shapes.unread)

const empty = (shapes: Shapes) => ({
  result: Struct(shapes.result.fields),
  readResult: results(shapes, readers.empty),
  writeResult: shapes.result.project
})

const noParams = (shapes: Shapes) => ({ params: reader(Struct(shapes.requestMeta)), writeParams: same })

export const initialize = onRequest(Methods.Initialize, (s) => {
  const clientInfo = member("clientInfo", s.implementation.read)
  return {
    params: after(
      reader(Struct({
        protocolVersion: Schema.String,
        capabilities: s.client.schema,
        clientInfo: s.implementation.schema,
        ...s.requestMeta
      })),
      compose(clientInfo, member("capabilities", s.client.read))
    ),
    writeParams: compose(clientInfo, member("capabilities", s.client.write)),
    result: Struct({
      protocolVersion: Schema.String,
      capabilities: s.server.schema,
      serverInfo: s.implementation.schema,
      instructions: text,
      ...s.result.fields
    }),
    readResult: readers.initialize,
    writeResult: compose(member("serverInfo", s.implementation.write), member("capabilities", s.server.write))
  }
})

export const discover = onRequest(Methods.Discover, (s) => ({
  ...noParams(s),
  result: Struct({
    supportedVersions: list(Schema.String),
    capabilities: s.server.schema,
    instructions: text,
    ...s.cacheable.fields
  }),
  readResult: readers.discover,
  writeResult: compose(member("capabilities", s.server.write), s.cacheable.project)
}))

export const ping = onRequest(Methods.Ping, (s) => ({ ...noParams(s), ...empty(s) }))

const pageParams = (s: Shapes) => ({ params: reader(Struct({ ...cursor, ...s.requestMeta })), writeParams: same })

export const toolsList = onRequest(Methods.ToolsList, (s) => ({
  ...pageParams(s),
  result: Struct({ tools: list(s.tool.schema), ...nextCursor, ...s.cacheable.fields }),
  readResult: results(s, readers.tools),
  writeResult: compose(members("tools", s.tool.write), s.cacheable.project)
}))

export const resourcesList = onRequest(Methods.ResourcesList, (s) => ({
  ...pageParams(s),
  result: Struct({ resources: list(s.resource.schema), ...nextCursor, ...s.cacheable.fields }),
  readResult: results(s, readers.resources),
  writeResult: compose(members("resources", s.resource.write), s.cacheable.project)
}))

export const resourcesTemplatesList = onRequest(Methods.ResourcesTemplatesList, (s) => ({
  ...pageParams(s),
  result: Struct({ resourceTemplates: list(s.template.schema), ...nextCursor, ...s.cacheable.fields }),
  readResult: results(s, readers.templates),
  writeResult: compose(members("resourceTemplates", s.template.write), s.cacheable.project)
}))

export const promptsList = onRequest(Methods.PromptsList, (s) => ({
  ...pageParams(s),
  result: Struct({ prompts: list(s.prompt.schema), ...nextCursor, ...s.cacheable.fields }),
  readResult: results(s, readers.prompts),
  writeResult: compose(members("prompts", s.prompt.write), s.cacheable.project)
}))

const without = (...groups: ReadonlyArray<Members>): Project => compose(...groups.map((group) => group.project))

/** The parts that a legacy `tools/call` is built from; a round or a task is put around them by later revisions. */
export const toolsCallParts = (s: Shapes) => ({
  params: quick(
    after(
      reader(Struct({
        name: Schema.String,
        arguments: Schema.optionalKey(JsonObject),
        ...s.task.fields,
        ...s.retry.fields,
        ...s.requestMeta
      })),
      without(s.task, s.retry)
    ),
    isPlainCall(s.isRequestMeta)
  ),
  writeParams: without(s.task, s.retry),
  result: Struct({ content: list(s.content.schema), ...s.call.fields, ...s.result.fields }),
  readResult: results(s, readers.call),
  writeResult: compose(s.call.project, members("content", s.content.write), s.result.project)
})

export const toolsCall = onRequest(Methods.ToolsCall, toolsCallParts)

export const resourcesReadParts = (s: Shapes) => ({
  params: after(reader(Struct({ uri: Schema.String, ...s.retry.fields, ...s.requestMeta })), s.retry.project),
  writeParams: s.retry.project,
  result: Struct({ contents: list(s.contents.schema), ...s.cacheable.fields }),
  readResult: results(s, readers.contents),
  writeResult: compose(members("contents", s.contents.write), s.cacheable.project)
})

export const resourcesRead = onRequest(Methods.ResourcesRead, resourcesReadParts)

export const promptsGetParts = (s: Shapes) => ({
  params: after(
    reader(Struct({
      name: Schema.String,
      arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
      ...s.retry.fields,
      ...s.requestMeta
    })),
    s.retry.project
  ),
  writeParams: s.retry.project,
  result: Struct({
    description: text,
    messages: list(Struct({ role: Schema.Literals(["user", "assistant"]), content: s.content.schema })),
    ...s.result.fields
  }),
  readResult: results(s, readers.messages),
  writeResult: compose(members("messages", member("content", s.content.write)), s.result.project)
})

export const promptsGet = onRequest(Methods.PromptsGet, promptsGetParts)

const subscription = (s: Shapes) => ({
  params: reader(Struct({ uri: Schema.String, ...s.requestMeta })),
  writeParams: same,
  ...empty(s)
})

export const resourcesSubscribe = onRequest(Methods.ResourcesSubscribe, subscription)
export const resourcesUnsubscribe = onRequest(Methods.ResourcesUnsubscribe, subscription)

export const loggingSetLevel = onRequest(Methods.LoggingSetLevel, (s) => ({
  params: reader(Struct({ level: Level, ...s.requestMeta })),
  writeParams: same,
  ...empty(s)
}))

const completionWith = <A extends Completion.Reference>(
  reference: Schema.Codec<A, unknown>,
  read: Project,
  fields: Fields
) =>
(s: Shapes) => ({
  params: after(
    reader(Struct({
      ref: reference,
      argument: Completion.Params.fields.argument,
      ...fields,
      ...s.requestMeta
    })),
    read
  ),
  writeParams: read,
  result: Struct({ completion: Completion.Result.schema.fields.completion, ...s.result.fields }),
  readResult: results(s, readers.completion),
  writeResult: compose(hundredValues, s.result.project)
})

const { title: _, ...bareFields } = Completion.PromptReference.fields
const bareReference = Schema.Union([Struct(bareFields), Completion.ResourceReference])

/** Before 2025-06-18: neither `context` nor titles of references. */
export const completionBare = onRequest(
  Methods.CompletionComplete,
  completionWith(bareReference, compose(omit("context"), member("ref", omit("title"))), {})
)

export const completion = onRequest(
  Methods.CompletionComplete,
  completionWith(Completion.Reference, same, { context: Completion.Params.fields.context })
)

export const samplingParts = (s: Shapes) => ({
  params: after(reader(s.sample.schema), s.sample.read),
  writeParams: s.sample.write,
  result: s.sampled.schema,
  readResult: results(s, readers.sampled),
  writeResult: s.sampled.write
})

export const sampling = onRequest(Methods.SamplingCreateMessage, samplingParts)

export const roots = onRequest(Methods.RootsList, (s) => ({
  ...noParams(s),
  result: Struct({ roots: list(s.root.schema), ...s.result.fields }),
  readResult: results(s, readers.roots),
  writeResult: members("roots", s.root.write)
}))

export const elicitationParts = (s: Shapes) => ({
  params: after(reader(s.elicit.schema), s.elicit.read),
  writeParams: s.elicit.write,
  result: s.elicited.schema,
  readResult: results(s, readers.elicited),
  writeResult: s.elicited.write
})

export const elicitation = onRequest(Methods.ElicitationCreate, elicitationParts)

/** As asked for in a round: no envelope, and a result without the members of results. */
export const rootsInput = onRequest(Methods.RootsList, (s) => ({
  params: reader(Struct({ _meta: Schema.optionalKey(JsonObject) })),
  writeParams: same,
  result: Struct({ roots: list(s.root.schema) }),
  readResult: readers.roots,
  writeResult: compose(omit("_meta"), members("roots", s.root.write))
}))

const listen = <A>(filter: Schema.Codec<A, unknown>, project: Project) => (s: Shapes) => ({
  params: after(
    reader(Struct({ notifications: filter, ...s.requestMeta })),
    member("notifications", project)
  ),
  writeParams: member("notifications", project),
  result: Struct({ ...s.result.fields, _meta: SubscriptionMeta }),
  readResult: results(s, readers.listened),
  writeResult: s.result.project
})

/** Without the tasks extension: no `taskIds`. */
export const subscriptionsListen = onRequest(Methods.SubscriptionsListen, listen(coreFilter, omit("taskIds")))
export const subscriptionsListenTasks = onRequest(Methods.SubscriptionsListen, listen(Subscription.Filter, same))

/**
 * Revision 2024-11-05: the one that all others are differences on.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Role } from "../Annotations.ts"
import * as Elicitation from "../Elicitation.ts"
import * as capabilities from "../internal/capabilities.ts"
import { define, toRevision } from "../internal/definition.ts"
import {
  audioToText,
  block,
  blocks,
  linkToText,
  objectProperties,
  omitLastModified,
  omitMeta,
  oneBlock,
  oneBlockEach,
  stripBlock,
  structuredToText,
  toolTalkToText
} from "../internal/downgrade.ts"
import { isRequestMeta, RequestMeta } from "../internal/fields.ts"
import { JsonObject, JsonObjects, open, Unit } from "../internal/json.ts"
import * as notifications from "../internal/notifications.ts"
import { compose, member, members, omit, type Project, same } from "../internal/project.ts"
import * as requests from "../internal/requests.ts"
import type { Shapes } from "../internal/shapes.ts"
import type { Revision } from "../Revision.ts"
import { ModelPreferences } from "../Sampling.ts"

const Struct = Schema.Struct
const text = Schema.optionalKey(Schema.String)
const flag = Schema.optionalKey(Schema.Boolean)

const annotations = {
  annotations: Schema.optionalKey(Struct({
    audience: Schema.optionalKey(Schema.Array(Role)),
    priority: Schema.optionalKey(Unit)
  }))
}

const contents = Schema.Union([
  Struct({ uri: Schema.String, mimeType: text, text: Schema.String }),
  Struct({ uri: Schema.String, mimeType: text, blob: Schema.String })
])

/** The blocks of this revision, by type. */
export const blockSchemas = {
  text: Struct({ type: Schema.Literal("text"), text: Schema.String, ...annotations }),
  image: Struct({ type: Schema.Literal("image"), data: Schema.String, mimeType: Schema.String, ...annotations }),
  audio: Struct({ type: Schema.Literal("audio"), data: Schema.String, mimeType: Schema.String, ...annotations }),
  resource: Struct({ type: Schema.Literal("resource"), resource: contents, ...annotations })
}

const objectSchema = open({
  type: Schema.Literal("object"),
  properties: Schema.optionalKey(JsonObjects),
  required: Schema.optionalKey(Schema.Array(Schema.String))
})

/** The members of a tool on this revision. */
export const toolFields = { name: Schema.String, description: text, inputSchema: objectSchema }

const lateContents: Project = omitMeta
const annotated = member("annotations", omitLastModified)
const lateResource = compose(omit("title", "icons", "_meta"), annotated)
const latePrompt = compose(omit("title", "icons", "_meta"), members("arguments", omit("title")))
const lateTool = omit("title", "annotations", "outputSchema", "execution", "icons", "_meta")
const writeClient = capabilities.client["2024-11-05"]
const lateImplementation = omit("title", "description", "websiteUrl", "icons")

/** How content is written before 2025-06-18, after what `first` does. */
export const writeBlock = (...first: ReadonlyArray<Project>): Project => block(...first, linkToText, stripBlock)

/** The members of a sampling request before 2025-11-25. */
export const sampleFields = {
  modelPreferences: Schema.optionalKey(ModelPreferences),
  systemPrompt: text,
  includeContext: Schema.optionalKey(Schema.Literals(["none", "thisServer", "allServers"])),
  temperature: Schema.optionalKey(Schema.Finite),
  maxTokens: Schema.Int,
  stopSequences: Schema.optionalKey(Schema.Array(Schema.String)),
  metadata: Schema.optionalKey(JsonObject),
  _meta: Schema.optionalKey(RequestMeta)
}

/** A sampling request and its result before 2025-11-25, where a message has one block of these. */
export const sampleOf = <A>(content: Schema.Codec<A, unknown>, write: Project, readBlock: Project = stripBlock) => {
  const message = Struct({ role: Role, content })
  const writeMessage = compose(omitMeta, blocks(write))
  const messages: Project = (params) => {
    const list = params["messages"]
    if (!Array.isArray(list)) return params
    const next = oneBlockEach(writeMessage)(list)
    return next === list ? params : { ...params, messages: next }
  }
  return {
    params: {
      schema: Struct({ messages: Schema.Array(message), ...sampleFields }),
      write: compose(omit("tools", "toolChoice", "task"), messages),
      read: compose(
        omit("tools", "toolChoice", "task"),
        members("messages", compose(omitMeta, member("content", readBlock)))
      )
    },
    result: {
      schema: Struct({
        role: Role,
        content,
        model: Schema.String,
        stopReason: text,
        _meta: Schema.optionalKey(JsonObject)
      }),
      write: compose(omit("resultType"), oneBlock(write)),
      read: same
    }
  }
}

const listChanged = Schema.optionalKey(Struct({ listChanged: flag }))

/** The capabilities a client and a server can have on this revision. */
export const clientFields = {
  experimental: Schema.optionalKey(JsonObjects),
  roots: listChanged,
  sampling: Schema.optionalKey(JsonObject),
  extensions: Schema.optionalKey(JsonObjects)
}

/** The capabilities a server can have on this revision. */
export const serverFields = {
  experimental: Schema.optionalKey(JsonObjects),
  logging: Schema.optionalKey(JsonObject),
  prompts: listChanged,
  resources: Schema.optionalKey(Struct({ subscribe: flag, listChanged: flag })),
  tools: listChanged,
  extensions: Schema.optionalKey(JsonObjects)
}

const shapes = (): Shapes => {
  const content = Schema.Union([blockSchemas.text, blockSchemas.image, blockSchemas.resource])
  const sampleWrite = writeBlock(toolTalkToText, audioToText)
  const sample = sampleOf(Schema.Union([blockSchemas.text, blockSchemas.image]), sampleWrite)
  const meta = { _meta: Schema.optionalKey(JsonObject) }
  const late = omit("resultType", "ttlMs", "cacheScope")
  return {
    requestMeta: { _meta: Schema.optionalKey(RequestMeta) },
    isRequestMeta: (meta) => meta === undefined || isRequestMeta(meta),
    result: { fields: meta, project: omit("resultType") },
    cacheable: { fields: meta, project: late },
    unread: late,
    call: { fields: { isError: flag }, project: structuredToText },
    task: { fields: {}, project: omit("task") },
    retry: { fields: {}, project: omit("inputResponses", "requestState") },
    implementation: {
      schema: Struct({ name: Schema.String, version: Schema.String }),
      write: lateImplementation,
      read: lateImplementation
    },
    client: { schema: Struct(clientFields), write: writeClient, read: writeClient },
    server: {
      schema: Struct(serverFields),
      write: capabilities.server["2024-11-05"],
      read: same
    },
    content: { schema: content, write: writeBlock(audioToText), read: same },
    contents: { schema: contents, write: lateContents, read: same },
    resource: {
      schema: Struct({
        uri: Schema.String,
        name: Schema.String,
        description: text,
        mimeType: text,
        size: Schema.optionalKey(Schema.Int),
        ...annotations
      }),
      write: lateResource,
      read: same
    },
    template: {
      schema: Struct({
        uriTemplate: Schema.String,
        name: Schema.String,
        description: text,
        mimeType: text,
        ...annotations
      }),
      write: lateResource,
      read: same
    },
    prompt: {
      schema: Struct({
        name: Schema.String,
        description: text,
        arguments: Schema.optionalKey(Schema.Array(Struct({ name: Schema.String, description: text, required: flag })))
      }),
      write: latePrompt,
      read: same
    },
    tool: {
      schema: Struct(toolFields),
      write: compose(lateTool, member("inputSchema", objectProperties)),
      read: same
    },
    root: { schema: Struct({ uri: Schema.String, name: text }), write: omitMeta, read: same },
    sample: sample.params,
    sampled: sample.result,
    // Nobody can be asked on this revision; the shapes are here for the differences to change.
    elicit: { schema: Elicitation.Params, write: same, read: same },
    elicited: { schema: Elicitation.Result, write: same, read: same }
  }
}

/** @category definitions @since 0.1.0 */
export const definition = define({
  version: "2024-11-05",
  features: {
    batching: false,
    structuredContent: "none",
    invalidArguments: "error",
    unreadableId: "null",
    resourceNotFound: -32002,
    versionHeader: false,
    primingEvent: false,
    completionsCapability: false
  },
  shapes,
  requests: [
    [requests.initialize, "client"],
    [requests.ping, "both"],
    [requests.toolsList, "client"],
    [requests.toolsCall, "client"],
    [requests.resourcesList, "client"],
    [requests.resourcesTemplatesList, "client"],
    [requests.resourcesRead, "client"],
    [requests.resourcesSubscribe, "client"],
    [requests.resourcesUnsubscribe, "client"],
    [requests.promptsList, "client"],
    [requests.promptsGet, "client"],
    [requests.completionBare, "client"],
    [requests.loggingSetLevel, "client"],
    [requests.sampling, "server"],
    [requests.roots, "server"]
  ],
  notifications: [
    [notifications.initialized, "client"],
    [notifications.cancelled, "both"],
    [notifications.progressBare, "both"],
    [notifications.message, "server"],
    [notifications.toolsListChanged, "server"],
    [notifications.promptsListChanged, "server"],
    [notifications.resourcesListChanged, "server"],
    [notifications.resourcesUpdated, "server"],
    [notifications.rootsListChanged, "client"]
  ]
})

/**
 * @category revisions
 * @since 0.1.0
 */
export const v2024_11_05: Revision = toRevision(definition)

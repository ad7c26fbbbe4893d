/**
 * Revision 2025-11-25: tasks, pages to visit, tools in sampling, icons, richer forms.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Role } from "../Annotations.ts"
import * as Capabilities from "../Capabilities.ts"
import * as Content from "../Content.ts"
import * as Elicitation from "../Elicitation.ts"
import { Icon, Implementation } from "../Implementation.ts"
import { extend, toRevision } from "../internal/definition.ts"
import { acceptedOnly, block, blocks, objectStructured } from "../internal/downgrade.ts"
import { JsonObject } from "../internal/json.ts"
import * as notifications from "../internal/notifications.ts"
import { compose, members, omit, type Project, same } from "../internal/project.ts"
import * as Prompt from "../internal/promptShapes.ts"
import * as Resource from "../internal/resourceShapes.ts"
import * as taskRequests from "../internal/taskRequests.ts"
import type { Revision } from "../Revision.ts"
import * as Sampling from "../Sampling.ts"
import * as Task from "../Task.ts"
import * as Tool from "../Tool.ts"
import * as base from "./v2025_06_18.ts"

const Struct = Schema.Struct
const meta = { _meta: Schema.optionalKey(JsonObject) }

/** The members of a tool on this revision. */
export const toolFields = {
  ...base.toolFields,
  icons: Schema.optionalKey(Schema.Array(Icon)),
  execution: Schema.optionalKey(Tool.Execution)
}

/** Sampling with tools, whose results hold structured content of the given kind. */
export const sampleOf = <A>(structured: Schema.Codec<A, unknown>, writeBlock: Project) => {
  const toolResult = Struct({
    type: Schema.Literal("tool_result"),
    toolUseId: Schema.String,
    content: Schema.Array(base.content.schema),
    structuredContent: Schema.optionalKey(structured),
    isError: Schema.optionalKey(Schema.Boolean),
    ...meta
  })
  const one = Schema.Union([Content.Text, Content.Image, Content.Audio, Sampling.ToolUse, toolResult])
  const content = Schema.Union([one, Schema.Array(one)])
  const { tools: _, messages: __, task: ___, ...fields } = Sampling.CreateParams.fields
  return {
    params: { ...fields, messages: Schema.Array(Struct({ role: Role, content, ...meta })) },
    result: Struct({
      role: Role,
      content,
      model: Schema.String,
      stopReason: Schema.optionalKey(Schema.String),
      ...meta
    }),
    write: blocks(writeBlock)
  }
}

const writeToolResult = compose(objectStructured, members("content", block()))

/** A page needs an identifier here; its address serves where none was given. */
const identified: Project = (params) =>
  params["mode"] === "url" && params["elicitationId"] === undefined
    ? { ...params, elicitationId: params["url"] }
    : params

/** @category definitions @since 0.1.0 */
export const definition = extend(base.definition, {
  version: "2025-11-25",
  features: { invalidArguments: "result", unreadableId: "omit", primingEvent: true },
  shapes: () => {
    const tool = Struct(toolFields)
    const sample = sampleOf(
      JsonObject,
      (part) => part["type"] === "tool_result" ? writeToolResult(part) : block()(part)
    )
    return {
      task: { fields: { task: Schema.optionalKey(Task.Augmentation) }, project: same },
      implementation: { schema: Implementation, write: same, read: same },
      client: { schema: Capabilities.Client, write: same, read: same },
      server: { schema: Capabilities.Server, write: same, read: same },
      resource: { schema: Resource.Descriptor, write: same, read: same },
      template: { schema: Resource.TemplateDescriptor, write: same, read: same },
      prompt: { schema: Prompt.Descriptor, write: same, read: same },
      tool: { schema: tool, write: base.writeTool, read: same },
      sample: {
        schema: Struct({
          ...sample.params,
          tools: Schema.optionalKey(Schema.Array(tool)),
          task: Schema.optionalKey(Task.Augmentation)
        }),
        write: compose(members("messages", sample.write), members("tools", base.writeTool)),
        read: same
      },
      sampled: { schema: sample.result, write: compose(omit("resultType"), sample.write), read: same },
      elicit: {
        schema: Schema.Union([
          Struct({ ...Elicitation.UrlParams.fields, elicitationId: Schema.String }),
          Elicitation.FormParams
        ]),
        write: identified,
        read: same
      },
      elicited: {
        schema: Elicitation.Result.schema,
        write: compose(omit("resultType"), acceptedOnly),
        read: same
      }
    }
  },
  requests: [
    [taskRequests.toolsCall, "client"],
    [taskRequests.sampling, "server"],
    [taskRequests.elicitation, "server"],
    [taskRequests.get, "both"],
    [taskRequests.result, "both"],
    [taskRequests.list, "both"],
    [taskRequests.cancel, "both"]
  ],
  notifications: [
    [notifications.cancelledAny, "both"],
    [notifications.elicitationComplete, "server"],
    [taskRequests.status, "both"]
  ]
})

/**
 * @category revisions
 * @since 0.1.0
 */
export const v2025_11_25: Revision = toRevision(definition)

/**
 * Revision 2025-06-18: structured output, links to resources, elicitation, titles, `_meta` on most things; no batches.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Content from "../Content.ts"
import * as capabilities from "../internal/capabilities.ts"
import { extend, toRevision } from "../internal/definition.ts"
import {
  acceptedOnly,
  block,
  objectOutput,
  objectProperties,
  objectStructured,
  toolTalkToText
} from "../internal/downgrade.ts"
import { formOnly, joinedValues } from "../internal/downgradeForm.ts"
import { RequestMeta } from "../internal/fields.ts"
import { JsonObject, JsonObjects, open } from "../internal/json.ts"
import { compose, member, omit, type Project, same } from "../internal/project.ts"
import * as requests from "../internal/requests.ts"
import * as Resource from "../internal/resourceShapes.ts"
import type { Revision } from "../Revision.ts"
import * as Roots from "../Roots.ts"
import { clientFields, sampleOf } from "./v2024_11_05.ts"
import * as base from "./v2025_03_26.ts"

const Struct = Schema.Struct
const text = Schema.optionalKey(Schema.String)
const count = Schema.optionalKey(Schema.Int)
const bound = Schema.optionalKey(Schema.Finite)
const titled = { title: text, description: text }
const meta = { _meta: Schema.optionalKey(JsonObject) }

const { icons: _r, ...resourceFields } = Resource.Descriptor.fields
const { icons: _t, ...templateFields } = Resource.TemplateDescriptor.fields

/** The members of a resource and of a template before icons. */
export { resourceFields, templateFields }

/** What a form may ask for on this revision. */
const property = Schema.Union([
  Struct({ type: Schema.Literal("boolean"), ...titled, default: Schema.optionalKey(Schema.Boolean) }),
  Struct({ type: Schema.Literals(["number", "integer"]), ...titled, minimum: bound, maximum: bound }),
  Struct({
    type: Schema.Literal("string"),
    ...titled,
    enum: Schema.Array(Schema.String),
    enumNames: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  Struct({
    type: Schema.Literal("string"),
    ...titled,
    minLength: count,
    maxLength: count,
    format: Schema.optionalKey(Schema.Literals(["email", "uri", "date", "date-time"]))
  })
])

const form = Struct({
  message: Schema.String,
  requestedSchema: Struct({
    type: Schema.Literal("object"),
    properties: Schema.Record(Schema.String, property),
    required: Schema.optionalKey(Schema.Array(Schema.String))
  }),
  _meta: Schema.optionalKey(RequestMeta)
})

const lateForm: Project = omit("mode", "task", "url", "elicitationId")

/** A JSON Schema whose root is an object, as a tool of this revision has it. */
export const objectSchema = open({
  $schema: text,
  type: Schema.Literal("object"),
  properties: Schema.optionalKey(JsonObjects),
  required: Schema.optionalKey(Schema.Array(Schema.String))
})

/** The members of a tool on this revision. */
export const toolFields = {
  ...base.toolFields,
  title: text,
  inputSchema: objectSchema,
  outputSchema: Schema.optionalKey(objectSchema),
  ...meta
}

/** How a tool is written while the roots of its schemas are objects. */
export const writeTool: Project = compose(member("inputSchema", objectProperties), objectOutput)

/** The blocks of tools and prompts from this revision on. */
export const content = {
  schema: Schema.Union([Content.Text, Content.Image, Content.Audio, Content.ResourceLink, Content.Embedded]),
  write: block(),
  read: same
}

const lateIcons = omit("icons")
const lateImplementation = omit("description", "websiteUrl", "icons")

/** @category definitions @since 0.1.0 */
export const definition = extend(base.definition, {
  version: "2025-06-18",
  features: { batching: false, structuredContent: "object", versionHeader: true },
  shapes: () => {
    const sample = sampleOf(
      Schema.Union([Content.Text, Content.Image, Content.Audio]),
      block(toolTalkToText),
      same
    )
    return {
      call: {
        fields: { isError: Schema.optionalKey(Schema.Boolean), structuredContent: Schema.optionalKey(JsonObject) },
        project: objectStructured
      },
      implementation: {
        schema: Struct({ name: Schema.String, title: text, version: Schema.String }),
        write: lateImplementation,
        read: lateImplementation
      },
      client: {
        schema: Struct({ ...clientFields, elicitation: Schema.optionalKey(JsonObject) }),
        write: capabilities.client["2025-06-18"],
        read: compose(
          omit("tasks"),
          member("sampling", omit("context", "tools")),
          member("elicitation", omit("form", "url"))
        )
      },
      content,
      contents: { schema: Resource.Contents, write: same, read: same },
      resource: { schema: Struct(resourceFields), write: lateIcons, read: same },
      template: { schema: Struct(templateFields), write: lateIcons, read: same },
      prompt: {
        schema: Struct({
          name: Schema.String,
          ...titled,
          arguments: Schema.optionalKey(Schema.Array(Struct({
            name: Schema.String,
            ...titled,
            required: Schema.optionalKey(Schema.Boolean)
          }))),
          ...meta
        }),
        write: lateIcons,
        read: same
      },
      tool: { schema: Struct(toolFields), write: compose(omit("icons", "execution"), writeTool), read: same },
      root: { schema: Roots.Root, write: same, read: same },
      sample: sample.params,
      sampled: sample.result,
      elicit: { schema: form, write: formOnly, read: lateForm },
      elicited: {
        schema: Struct({
          action: Schema.Literals(["accept", "decline", "cancel"]),
          content: Schema.optionalKey(Schema.Record(
            Schema.String,
            Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])
          )),
          ...meta
        }),
        write: compose(omit("resultType"), acceptedOnly, joinedValues),
        read: same
      }
    }
  },
  requests: [[requests.completion, "client"], [requests.elicitation, "server"]]
})

/**
 * @category revisions
 * @since 0.1.0
 */
export const v2025_06_18: Revision = toRevision(definition)

/**
 * Revision 2025-03-26: batches, annotations of tools, audio, messages of progress, a capability for completions.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as capabilities from "../internal/capabilities.ts"
import { extend, toRevision } from "../internal/definition.ts"
import { objectProperties, toolTalkToText } from "../internal/downgrade.ts"
import { JsonObject } from "../internal/json.ts"
import * as notifications from "../internal/notifications.ts"
import { compose, member, omit, same } from "../internal/project.ts"
import type { Revision } from "../Revision.ts"
import * as Tool from "../Tool.ts"
import * as base from "./v2024_11_05.ts"

const { audio, image, resource, text } = base.blockSchemas

/** The members of a tool on this revision. */
export const toolFields = { ...base.toolFields, annotations: Schema.optionalKey(Tool.Annotations) }

/** The capabilities a server can have on this revision. */
export const serverFields = { ...base.serverFields, completions: Schema.optionalKey(JsonObject) }

/** @category definitions @since 0.1.0 */
export const definition = extend(base.definition, {
  version: "2025-03-26",
  features: { batching: true, completionsCapability: true },
  shapes: () => {
    const sample = base.sampleOf(Schema.Union([text, image, audio]), base.writeBlock(toolTalkToText))
    return {
      server: { schema: Schema.Struct(serverFields), write: capabilities.server["2025-03-26"], read: same },
      content: { schema: Schema.Union([text, image, audio, resource]), write: base.writeBlock(), read: same },
      tool: {
        schema: Schema.Struct(toolFields),
        write: compose(
          omit("title", "outputSchema", "execution", "icons", "_meta"),
          member("inputSchema", objectProperties)
        ),
        read: same
      },
      sample: sample.params,
      sampled: sample.result
    }
  },
  notifications: [[notifications.progress, "both"]]
})

/**
 * @category revisions
 * @since 0.1.0
 */
export const v2025_03_26: Revision = toRevision(definition)

/**
 * The settings of an extension that do not fit the schema the extension has for them.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * What the other side said about an extension cannot be read: the extension counts as absent there.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSettings extends Schema.TaggedError<InvalidSettings>("@mcpfx/schema/InvalidSettings")(
  "InvalidSettings",
  {
    extension: Schema.String,
    /** Whose settings they are. */
    side: Schema.Literals(["client", "server"]),
    /** The places that do not fit and what was expected there; never the values. */
    detail: Schema.String
  }
) {
  override get message(): string {
    return `The ${this.side}'s settings of ${this.extension} do not fit: ${this.detail}`
  }
}

/**
 * What can go wrong in a test kit.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * What was expected did not come.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unexpected extends Schema.TaggedError<Unexpected>("@mcpfx/testing/Unexpected")("Unexpected", {
  wanted: Schema.String,
  /** The first ten of what came instead. */
  got: Schema.Array(Schema.Unknown)
}) {
  override get message(): string {
    return `expected ${this.wanted}, got ${JSON.stringify(this.got)}`
  }
}

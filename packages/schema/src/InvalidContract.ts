/**
 * A contract that cannot be kept: a mistake in the program, found where the contract is defined or first listed.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Thrown, not failed with: no request can cause it and no caller can handle it. The message names the contract.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidContract extends Schema.TaggedError<InvalidContract>("@mcpfx/schema/InvalidContract")(
  "InvalidContract",
  {
    kind: Schema.Literals(["tool", "prompt", "resource", "template", "method", "notification", "extension", "form"]),
    /** The contract's name, or its URI. */
    name: Schema.String,
    reason: Schema.String
  }
) {
  override get message(): string {
    return `${this.kind} ${JSON.stringify(this.name)}: ${this.reason}`
  }
}

/**
 * What can go wrong while a server is put together.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Two registrations of one endpoint have the same name (or URI): an endpoint with a twin does not start.
 *
 * @category errors
 * @since 0.1.0
 */
export class DuplicateEntry extends Schema.TaggedError<DuplicateEntry>("@mcpfx/server/DuplicateEntry")(
  "DuplicateEntry",
  { kind: Schema.Literals(["tool", "resource", "template", "prompt"]), name: Schema.String }
) {}

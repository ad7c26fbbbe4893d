/**
 * Why a JSON Schema is not used to check anything. Each error concerns one schema, and so one tool; the others stay.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * A keyword has a value it cannot have, a reference leads nowhere or back to itself, or a pattern is none (JSC-02).
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidSchema extends Schema.TaggedError<InvalidSchema>("@mcpfx/session/InvalidSchema")("InvalidSchema", {
  /** JSON Pointer to the place in the schema. */
  path: Schema.String,
  reason: Schema.String
}) {}

/**
 * `$schema` names a dialect other than 2020-12 and draft-07 (JSC-02).
 *
 * @category errors
 * @since 0.1.0
 */
export class UnsupportedDialect extends Schema.TaggedError<UnsupportedDialect>("@mcpfx/session/UnsupportedDialect")(
  "UnsupportedDialect",
  { dialect: Schema.String }
) {}

/**
 * A reference leads out of the schema. Nothing is ever fetched (JSC-04, JSC-05).
 *
 * @category errors
 * @since 0.1.0
 */
export class ExternalRef extends Schema.TaggedError<ExternalRef>("@mcpfx/session/ExternalRef")("ExternalRef", {
  /** JSON Pointer to the place in the schema. */
  path: Schema.String,
  ref: Schema.String
}) {}

/**
 * The schema is larger than a limit, one of its patterns could take too long, or it needs more of `$dynamicRef` than one anchor
 * of a name (JSC-05).
 *
 * @category errors
 * @since 0.1.0
 */
export class SchemaTooComplex extends Schema.TaggedError<SchemaTooComplex>("@mcpfx/session/SchemaTooComplex")(
  "SchemaTooComplex",
  {
    /** JSON Pointer to the place in the schema. */
    path: Schema.String,
    limit: Schema.Literals(["depth", "subschemas", "patterns", "references"]),
    reason: Schema.String
  }
) {}

/**
 * @category errors
 * @since 0.1.0
 */
export type JsonSchemaError = InvalidSchema | UnsupportedDialect | ExternalRef | SchemaTooComplex

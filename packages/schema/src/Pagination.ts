/**
 * Lists that come in pages (PAG-05).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { RequestMeta } from "./internal/fields.ts"

/**
 * The params of every list request. A cursor is opaque, and an empty string is one (PAG-01, PAG-02).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = Schema.Struct({
  cursor: Schema.optionalKey(Schema.String),
  _meta: Schema.optionalKey(RequestMeta)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

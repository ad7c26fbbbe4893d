/**
 * The directories a client lets a server work in.
 *
 * Deprecated on 2026-07-28, where they are asked for by an input request only.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { meta } from "./internal/fields.ts"
import { open } from "./internal/json.ts"

/**
 * One root; its URI is a `file:` URI (ROO-01). `_meta` exists from 2025-06-18 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Root = Schema.Struct({ uri: Schema.String, name: Schema.optionalKey(Schema.String), ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface Root extends Schema.Schema.Type<typeof Root> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const ListResult = open({ roots: Schema.Array(Root), ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

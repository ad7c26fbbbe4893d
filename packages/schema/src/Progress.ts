/**
 * Progress of a running request.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { meta, ProgressToken as Token } from "./internal/fields.ts"

/**
 * A string or an integer that the requester chose (PRG-01).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProgressToken = Token

/**
 * @category models
 * @since 0.1.0
 */
export type ProgressToken = typeof ProgressToken.Type

/**
 * The params of `notifications/progress`; `progress` grows from one to the next (PRG-02). `message` exists from 2025-03-26
 * on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = Schema.Struct({
  progressToken: ProgressToken,
  progress: Schema.Finite,
  total: Schema.optionalKey(Schema.Finite),
  message: Schema.optionalKey(Schema.String),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

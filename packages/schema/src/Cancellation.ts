/**
 * Taking a request back.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { meta } from "./internal/fields.ts"
import { RequestId } from "./JsonRpc.ts"

/**
 * The params of `notifications/cancelled`. `requestId` may be left out on 2025-11-25 alone, where such a notification
 * means nothing (CAN-06).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = Schema.Struct({
  requestId: Schema.optionalKey(RequestId),
  reason: Schema.optionalKey(Schema.String),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

/**
 * Listening for changes on 2026-07-28.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { meta, requestMeta, result } from "./internal/fields.ts"
import { open } from "./internal/json.ts"

/**
 * What to be told about: nothing is sent that is not asked for (SUB-01). `taskIds` belongs to the tasks extension
 * (TKX-13).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Filter = Schema.Struct({
  toolsListChanged: Schema.optionalKey(Schema.Boolean),
  promptsListChanged: Schema.optionalKey(Schema.Boolean),
  resourcesListChanged: Schema.optionalKey(Schema.Boolean),
  resourceSubscriptions: Schema.optionalKey(Schema.Array(Schema.String)),
  taskIds: Schema.optionalKey(Schema.Array(Schema.String))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Filter extends Schema.Schema.Type<typeof Filter> {}

/**
 * The params of `subscriptions/listen`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListenParams = Schema.Struct({ notifications: Filter, ...requestMeta })

/**
 * @category models
 * @since 0.1.0
 */
export interface ListenParams extends Schema.Schema.Type<typeof ListenParams> {}

/**
 * The graceful end of a stream: its `_meta` names the subscription (SUB-05, SUB-07).
 *
 * @category schemas
 * @since 0.1.0
 */
export const ListenResult = open(result)

/**
 * @category models
 * @since 0.1.0
 */
export interface ListenResult extends Schema.Schema.Type<typeof ListenResult> {}

/**
 * The params of `notifications/subscriptions/acknowledged`: what will be told, which may be less (SUB-02).
 *
 * @category schemas
 * @since 0.1.0
 */
export const AcknowledgedParams = Schema.Struct({ notifications: Filter, ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface AcknowledgedParams extends Schema.Schema.Type<typeof AcknowledgedParams> {}

/**
 * A request that cannot go on without the client: the rounds of 2026-07-28 (MRT-01).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Elicitation from "./Elicitation.ts"
import { meta } from "./internal/fields.ts"
import { open } from "./internal/json.ts"
import * as Sampling from "./Sampling.ts"

/**
 * One thing asked for: a request without an envelope (MRT-04).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequest = Schema.Union([
  Schema.Struct({ method: Schema.Literal("elicitation/create"), params: Elicitation.Params }),
  Schema.Struct({ method: Schema.Literal("sampling/createMessage"), params: Sampling.CreateParams }),
  Schema.Struct({ method: Schema.Literal("roots/list"), params: Schema.optionalKey(Schema.Struct(meta)) })
])

/**
 * @category models
 * @since 0.1.0
 */
export type InputRequest = typeof InputRequest.Type

/**
 * What is asked for, by keys that the answers repeat.
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequests = Schema.Record(Schema.String, InputRequest)

/**
 * @category models
 * @since 0.1.0
 */
export type InputRequests = typeof InputRequests.Type

/**
 * The result that ends a round: what is asked for, the state to send back, or both (MRT-03).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputRequired = open({
  resultType: Schema.Literal("input_required"),
  inputRequests: Schema.optionalKey(InputRequests),
  requestState: Schema.optionalKey(Schema.String),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface InputRequired extends Schema.Schema.Type<typeof InputRequired> {}

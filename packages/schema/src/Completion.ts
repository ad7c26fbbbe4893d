/**
 * Completion of prompt arguments and of the variables of resource templates.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { requestMeta, result } from "./internal/fields.ts"
import { open } from "./internal/json.ts"

/**
 * The most values that one answer may hold (CMP-02).
 *
 * @category models
 * @since 0.1.0
 */
export const maxValues = 100

/**
 * The prompt whose argument is completed; `title` exists from 2025-06-18 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptReference = Schema.Struct({
  type: Schema.Literal("ref/prompt"),
  name: Schema.String,
  title: Schema.optionalKey(Schema.String)
})

/**
 * The resource or template whose variable is completed.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceReference = Schema.Struct({ type: Schema.Literal("ref/resource"), uri: Schema.String })

/**
 * @category schemas
 * @since 0.1.0
 */
export const Reference = Schema.Union([PromptReference, ResourceReference])

/**
 * @category models
 * @since 0.1.0
 */
export type Reference = typeof Reference.Type

/**
 * The params of `completion/complete`. `context` holds what is already filled in and exists from 2025-06-18 on (CMP-04).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = Schema.Struct({
  ref: Reference,
  argument: Schema.Struct({ name: Schema.String, value: Schema.String }),
  context: Schema.optionalKey(Schema.Struct({
    arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
  })),
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Params extends Schema.Schema.Type<typeof Params> {}

/**
 * At most 100 values (CMP-02); `total` may exceed what is given.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = open({
  completion: Schema.Struct({
    values: Schema.Array(Schema.String),
    total: Schema.optionalKey(Schema.Int),
    hasMore: Schema.optionalKey(Schema.Boolean)
  }),
  ...result
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Result extends Schema.Schema.Type<typeof Result> {}

/**
 * The answer that offers `values`: the first hundred of them, with the true total when that is more (CMP-02).
 *
 * **Example** (Offering values)
 *
 * ```ts
 * import { Completion } from "@mcpfx/schema"
 *
 * Completion.offer(["red", "rose"]) // => { completion: { values: ["red", "rose"] } }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const offer = (values: ReadonlyArray<string>): Result =>
  values.length <= maxValues
    ? { completion: { values } }
    : { completion: { values: values.slice(0, maxValues), total: values.length, hasMore: true } }

/**
 * Asking the user: by a form, or by a page to visit.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { FormSchema } from "./FormSchema.ts"
import { meta, requestMeta } from "./internal/fields.ts"
import { open } from "./internal/json.ts"
import * as Task from "./Task.ts"

/**
 * A form to fill in. Secrets are never asked for this way (ELI-01). `mode` exists from 2025-11-25 on and may be left out
 * (ELI-03).
 *
 * @category schemas
 * @since 0.1.0
 */
export const FormParams = Schema.Struct({
  mode: Schema.optionalKey(Schema.Literal("form")),
  message: Schema.String,
  requestedSchema: FormSchema,
  task: Schema.optionalKey(Task.Augmentation),
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface FormParams extends Schema.Schema.Type<typeof FormParams> {}

/**
 * A page to visit, from 2025-11-25 on (ELI-12). `elicitationId` is required there and gone on 2026-07-28.
 *
 * @category schemas
 * @since 0.1.0
 */
export const UrlParams = Schema.Struct({
  mode: Schema.Literal("url"),
  message: Schema.String,
  url: Schema.String,
  elicitationId: Schema.optionalKey(Schema.String),
  task: Schema.optionalKey(Task.Augmentation),
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface UrlParams extends Schema.Schema.Type<typeof UrlParams> {}

/**
 * The params of `elicitation/create`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Params = Schema.Union([UrlParams, FormParams])

/**
 * @category models
 * @since 0.1.0
 */
export type Params = FormParams | UrlParams

/**
 * One answered field. Lists exist from 2025-11-25 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Value = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Array(Schema.String)])

/**
 * @category models
 * @since 0.1.0
 */
export type Value = typeof Value.Type

/**
 * What the user did. `content` holds the fields of an accepted form (ELI-09); beside any other action it means nothing.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Result = open({
  action: Schema.Literals(["accept", "decline", "cancel"]),
  content: Schema.optionalKey(Schema.Record(Schema.String, Value)),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Result extends Schema.Schema.Type<typeof Result> {}

/**
 * The params of `notifications/elicitation/complete`, on 2025-11-25 alone (ELI-18).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CompleteParams = Schema.Struct({ elicitationId: Schema.String, ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface CompleteParams extends Schema.Schema.Type<typeof CompleteParams> {}

/**
 * @category guards
 * @since 0.1.0
 */
export const isUrl = (params: Params): params is UrlParams => params.mode === "url"

/** The wire shapes of prompts, apart from the contracts: a program without prompts need not load those. */
import * as Schema from "effect/Schema"
import { Role } from "../Annotations.ts"
import * as Content from "../Content.ts"
import { Icon } from "../Implementation.ts"
import * as Pagination from "../Pagination.ts"
import { cache, meta, page, requestMeta, result } from "./fields.ts"
import { JsonObject, open } from "./json.ts"

/**
 * One argument of a prompt; `required` defaults to `false`. `title` exists from 2025-06-18 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Argument = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  required: Schema.optionalKey(Schema.Boolean)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Argument extends Schema.Schema.Type<typeof Argument> {}

/**
 * A prompt as a server lists it. `title` and `_meta` exist from 2025-06-18 on, `icons` from 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Descriptor = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  arguments: Schema.optionalKey(Schema.Array(Argument)),
  icons: Schema.optionalKey(Schema.Array(Icon)),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Descriptor extends Schema.Schema.Type<typeof Descriptor> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const Message = Schema.Struct({ role: Role, content: Content.Content })

/**
 * @category models
 * @since 0.1.0
 */
export interface Message extends Schema.Schema.Type<typeof Message> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const ListParams = Pagination.Params

/**
 * @category models
 * @since 0.1.0
 */
export interface ListParams extends Pagination.Params {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const ListResult = open({ prompts: Schema.Array(Descriptor), ...page, ...cache, ...result })

/**
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * Arguments of prompts are strings. `inputResponses` and `requestState` belong to a retry on 2026-07-28.
 *
 * @category schemas
 * @since 0.1.0
 */
export const GetParams = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  inputResponses: Schema.optionalKey(JsonObject),
  requestState: Schema.optionalKey(Schema.String),
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface GetParams extends Schema.Schema.Type<typeof GetParams> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const GetResult = open({
  description: Schema.optionalKey(Schema.String),
  messages: Schema.Array(Message),
  ...result
})

/**
 * @category models
 * @since 0.1.0
 */
export interface GetResult extends Schema.Schema.Type<typeof GetResult> {}

/**
 * Tools: what is listed, what is called, and what comes back.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Content from "./Content.ts"
import { Icon } from "./Implementation.ts"
import { cache, meta, page, requestMeta, result } from "./internal/fields.ts"
import { JsonObject, JsonValue, open } from "./internal/json.ts"
import * as Pagination from "./Pagination.ts"
import * as Task from "./Task.ts"

export * from "./ToolContract.ts"

/**
 * Hints about a tool's behaviour, not to be trusted from an untrusted server (TOL-17). They exist from 2025-03-26 on.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Annotations = Schema.Struct({
  title: Schema.optionalKey(Schema.String),
  /** Default `false`. */
  readOnlyHint: Schema.optionalKey(Schema.Boolean),
  /** Default `true`; means something only when not read-only. */
  destructiveHint: Schema.optionalKey(Schema.Boolean),
  /** Default `false`; means something only when not read-only. */
  idempotentHint: Schema.optionalKey(Schema.Boolean),
  /** Default `true`. */
  openWorldHint: Schema.optionalKey(Schema.Boolean)
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Annotations extends Schema.Schema.Type<typeof Annotations> {}

/**
 * Whether a call may or must run as a task, on 2025-11-25 (TOL-23). Absent means forbidden.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Execution = Schema.Struct({
  taskSupport: Schema.optionalKey(Schema.Literals(["forbidden", "optional", "required"]))
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Execution extends Schema.Schema.Type<typeof Execution> {}

/**
 * The JSON Schema of a tool's arguments: its root is an object (TOL-05), every keyword is kept (JSC-07).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InputSchema = open({ $schema: Schema.optionalKey(Schema.String), type: Schema.Literal("object") })

/**
 * @category models
 * @since 0.1.0
 */
export interface InputSchema extends Schema.Schema.Type<typeof InputSchema> {}

/**
 * A tool as a server lists it. `annotations` exist from 2025-03-26 on, `title`, `outputSchema` and `_meta` from
 * 2025-06-18, `icons` from 2025-11-25, `execution` on 2025-11-25 only. Before 2026-07-28 the root of `outputSchema` is an
 * object (TOL-06).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Descriptor = Schema.Struct({
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  inputSchema: InputSchema,
  outputSchema: Schema.optionalKey(JsonObject),
  annotations: Schema.optionalKey(Annotations),
  execution: Schema.optionalKey(Execution),
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
export const ListResult = open({ tools: Schema.Array(Descriptor), ...page, ...cache, ...result })

/**
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * The params of a call. `arguments` left out means none. `task` asks for a task and exists on 2025-11-25 only;
 * `inputResponses` and `requestState` belong to a retry on 2026-07-28 (MRT-11, MRT-12).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallParams = Schema.Struct({
  name: Schema.String,
  arguments: Schema.optionalKey(JsonObject),
  task: Schema.optionalKey(Task.Augmentation),
  inputResponses: Schema.optionalKey(JsonObject),
  requestState: Schema.optionalKey(Schema.String),
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface CallParams extends Schema.Schema.Type<typeof CallParams> {}

/**
 * What a call gives. `isError` tells the model that the tool failed (TOL-14). `structuredContent` exists from 2025-06-18
 * on, as an object before 2026-07-28 and as any JSON value, `null` included, from then on (TOL-06).
 *
 * @category schemas
 * @since 0.1.0
 */
export const CallResult = open({
  content: Schema.Array(Content.Content),
  structuredContent: Schema.optionalKey(JsonValue),
  isError: Schema.optionalKey(Schema.Boolean),
  ...result
})

/**
 * @category models
 * @since 0.1.0
 */
export interface CallResult extends Schema.Schema.Type<typeof CallResult> {}

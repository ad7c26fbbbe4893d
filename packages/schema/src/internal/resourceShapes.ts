/** The wire shapes of resources, apart from the contracts: a program without resources need not load those. */
import * as Schema from "effect/Schema"
import { Annotations } from "../Annotations.ts"
import { Icon } from "../Implementation.ts"
import * as Pagination from "../Pagination.ts"
import { cache, meta, page, requestMeta, result } from "./fields.ts"
import { JsonObject, open } from "./json.ts"

/**
 * A resource as a server lists it. `title` and `_meta` exist from 2025-06-18 on, `icons` from 2025-11-25.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Descriptor = Schema.Struct({
  uri: Schema.String,
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  mimeType: Schema.optionalKey(Schema.String),
  annotations: Schema.optionalKey(Annotations),
  /** Bytes, before any encoding. */
  size: Schema.optionalKey(Schema.Int),
  icons: Schema.optionalKey(Schema.Array(Icon)),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface Descriptor extends Schema.Schema.Type<typeof Descriptor> {}

/**
 * A template of resources as a server lists it; `uriTemplate` follows RFC 6570.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TemplateDescriptor = Schema.Struct({
  uriTemplate: Schema.String,
  name: Schema.String,
  title: Schema.optionalKey(Schema.String),
  description: Schema.optionalKey(Schema.String),
  mimeType: Schema.optionalKey(Schema.String),
  annotations: Schema.optionalKey(Annotations),
  icons: Schema.optionalKey(Schema.Array(Icon)),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface TemplateDescriptor extends Schema.Schema.Type<typeof TemplateDescriptor> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const TextContents = Schema.Struct({
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  text: Schema.String,
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface TextContents extends Schema.Schema.Type<typeof TextContents> {}

/**
 * Binary contents; `blob` is base64 (RES-09).
 *
 * @category schemas
 * @since 0.1.0
 */
export const BlobContents = Schema.Struct({
  uri: Schema.String,
  mimeType: Schema.optionalKey(Schema.String),
  blob: Schema.String,
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface BlobContents extends Schema.Schema.Type<typeof BlobContents> {}

/**
 * What a resource holds: text or a blob (RES-14).
 *
 * @category schemas
 * @since 0.1.0
 */
export const Contents = Schema.Union([TextContents, BlobContents])

/**
 * @category models
 * @since 0.1.0
 */
export type Contents = TextContents | BlobContents

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
export const ListResult = open({ resources: Schema.Array(Descriptor), ...page, ...cache, ...result })

/**
 * @category models
 * @since 0.1.0
 */
export interface ListResult extends Schema.Schema.Type<typeof ListResult> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const TemplatesListResult = open({
  resourceTemplates: Schema.Array(TemplateDescriptor),
  ...page,
  ...cache,
  ...result
})

/**
 * @category models
 * @since 0.1.0
 */
export interface TemplatesListResult extends Schema.Schema.Type<typeof TemplatesListResult> {}

/**
 * `inputResponses` and `requestState` belong to a retry on 2026-07-28 (MRT-11, MRT-12); the answers are left opaque, since
 * only the asking side knows their shapes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReadParams = Schema.Struct({
  uri: Schema.String,
  inputResponses: Schema.optionalKey(JsonObject),
  requestState: Schema.optionalKey(Schema.String),
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface ReadParams extends Schema.Schema.Type<typeof ReadParams> {}

/**
 * @category schemas
 * @since 0.1.0
 */
export const ReadResult = open({ contents: Schema.Array(Contents), ...cache, ...result })

/**
 * @category models
 * @since 0.1.0
 */
export interface ReadResult extends Schema.Schema.Type<typeof ReadResult> {}

/**
 * The params of `resources/subscribe` and `resources/unsubscribe`, which exist up to 2025-11-25 (RES-03).
 *
 * @category schemas
 * @since 0.1.0
 */
export const SubscribeParams = Schema.Struct({ uri: Schema.String, ...requestMeta })

/**
 * @category models
 * @since 0.1.0
 */
export interface SubscribeParams extends Schema.Schema.Type<typeof SubscribeParams> {}

/**
 * The params of `notifications/resources/updated`; the URI may lie below the one subscribed to (SUB-11).
 *
 * @category schemas
 * @since 0.1.0
 */
export const UpdatedParams = Schema.Struct({ uri: Schema.String, ...meta })

/**
 * @category models
 * @since 0.1.0
 */
export interface UpdatedParams extends Schema.Schema.Type<typeof UpdatedParams> {}

/**
 * How a conversation starts: the handshake up to 2025-11-25, the discovery from 2026-07-28 on; and the messages that say
 * nothing.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Capabilities from "./Capabilities.ts"
import { Implementation } from "./Implementation.ts"
import { cache, meta, requestMeta, result } from "./internal/fields.ts"
import { open } from "./internal/json.ts"

/**
 * The params of `initialize` (LIF-01).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeParams = Schema.Struct({
  protocolVersion: Schema.String,
  capabilities: Capabilities.Client,
  clientInfo: Implementation,
  ...requestMeta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface InitializeParams extends Schema.Schema.Type<typeof InitializeParams> {}

/**
 * The answer to `initialize` (LIF-05).
 *
 * @category schemas
 * @since 0.1.0
 */
export const InitializeResult = open({
  protocolVersion: Schema.String,
  capabilities: Capabilities.Server,
  serverInfo: Implementation,
  instructions: Schema.optionalKey(Schema.String),
  ...meta
})

/**
 * @category models
 * @since 0.1.0
 */
export interface InitializeResult extends Schema.Schema.Type<typeof InitializeResult> {}

/**
 * The answer to `server/discover`; the server's identity is in its `_meta` (VER-05).
 *
 * @category schemas
 * @since 0.1.0
 */
export const DiscoverResult = open({
  supportedVersions: Schema.Array(Schema.String),
  capabilities: Capabilities.Server,
  instructions: Schema.optionalKey(Schema.String),
  ...cache,
  ...result
})

/**
 * @category models
 * @since 0.1.0
 */
export interface DiscoverResult extends Schema.Schema.Type<typeof DiscoverResult> {}

/**
 * The params of requests that need none: `ping`, `server/discover`, `roots/list`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NoParams = Schema.Struct(requestMeta)

/**
 * @category models
 * @since 0.1.0
 */
export interface NoParams extends Schema.Schema.Type<typeof NoParams> {}

/**
 * The params of notifications that need none: `notifications/initialized` and the list changes.
 *
 * @category schemas
 * @since 0.1.0
 */
export const NoticeParams = Schema.Struct(meta)

/**
 * @category models
 * @since 0.1.0
 */
export interface NoticeParams extends Schema.Schema.Type<typeof NoticeParams> {}

/**
 * The answer that says only that something was done.
 *
 * @category schemas
 * @since 0.1.0
 */
export const EmptyResult = open(result)

/**
 * @category models
 * @since 0.1.0
 */
export interface EmptyResult extends Schema.Schema.Type<typeof EmptyResult> {}

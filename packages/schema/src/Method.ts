/**
 * A method of the protocol as a value: its name and the neutral shapes of what goes with it.
 *
 * The neutral shapes follow 2026-07-28 and keep what only older revisions have; a {@link "./Revision.ts"} turns them into
 * the wire shapes of one revision and back.
 *
 * @since 0.1.0
 */
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type { JsonObject } from "./JsonRpc.ts"
import type { NotificationCodec, RequestCodec, Revision } from "./Revision.ts"
import type { SchemaMismatch } from "./SchemaMismatch.ts"

/**
 * What a method that is not the protocol's own brings with it; made by `CustomMethod`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Custom<out Codec> {
  /** How a revision writes and reads it; `undefined` where it does not exist. */
  readonly on: (revision: Revision) => Codec | undefined
  /** Its params as they are sent, the same on every revision. */
  readonly encodeParams: (params: unknown) => Result.Result<JsonObject, SchemaMismatch>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface RequestMethod<out Name extends string, out Params, out Result> {
  readonly kind: "request"
  readonly name: Name
  readonly params: Schema.Codec<Params, unknown>
  readonly result: Schema.Codec<Result, unknown>
  /** Set on a method that is not the protocol's own. */
  readonly custom?: Custom<RequestCodec<unknown, unknown>>
}

/**
 * @category models
 * @since 0.1.0
 */
export interface NotificationMethod<out Name extends string, out Params> {
  readonly kind: "notification"
  readonly name: Name
  readonly params: Schema.Codec<Params, unknown>
  /** Set on a method that is not the protocol's own. */
  readonly custom?: Custom<NotificationCodec<unknown>>
}

/**
 * @category constructors
 * @since 0.1.0
 */
export const request = <const Name extends string, Params, Result>(
  name: Name,
  shapes: { readonly params: Schema.Codec<Params, unknown>; readonly result: Schema.Codec<Result, unknown> }
): RequestMethod<Name, Params, Result> => ({ kind: "request", name, params: shapes.params, result: shapes.result })

/**
 * @category constructors
 * @since 0.1.0
 */
export const notification = <const Name extends string, Params>(
  name: Name,
  shapes: { readonly params: Schema.Codec<Params, unknown> }
): NotificationMethod<Name, Params> => ({ kind: "notification", name, params: shapes.params })

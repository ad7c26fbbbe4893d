/**
 * What a protocol revision is: a value that lists its methods, who may send them, and how the neutral model is written
 * and read on its wire.
 *
 * @since 0.1.0
 */
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as JsonRpc from "./JsonRpc.ts"
import type * as Method from "./Method.ts"

/**
 * The names of all revisions, oldest first, for those who need no more than the names: the revisions themselves are in
 * `Revisions`.
 *
 * **Example** (The newest name)
 *
 * ```ts
 * import { Revision } from "@mcpfx/schema"
 *
 * Revision.versions.at(-1) // => "2026-07-28"
 * ```
 *
 * @category constants
 * @since 0.1.0
 */
export const versions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] as const

/**
 * The name of a revision, one of {@link versions}.
 *
 * @category models
 * @since 0.1.0
 */
export type Version = (typeof versions)[number]

/**
 * Who may send a method.
 *
 * @category models
 * @since 0.1.0
 */
export type Sender = "client" | "server" | "both"

/**
 * A value does not have the shape its method asks for. The text is made when it is asked for: formatting an issue costs
 * more than a whole call.
 *
 * @category models
 * @since 0.1.0
 */
export interface InvalidShape {
  readonly _tag: "InvalidShape"
  readonly method: string
  /** What was wrong and where, in one line. */
  readonly message: () => string
}

/**
 * How one request method looks on one revision.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestCodec<in out Params, in out Result_> {
  readonly name: string
  readonly sender: Sender
  /** The wire shapes of this revision. */
  readonly wire: { readonly params: Schema.Codec<unknown, unknown>; readonly result: Schema.Codec<unknown, unknown> }
  readonly decodeParams: (wire: unknown) => Result.Result<Params, InvalidShape>
  readonly encodeParams: (params: Params) => JsonRpc.JsonObject
  readonly decodeResult: (wire: unknown) => Result.Result<Result_, InvalidShape>
  readonly encodeResult: (result: Result_) => JsonRpc.JsonObject
}

/**
 * How one notification looks on one revision.
 *
 * @category models
 * @since 0.1.0
 */
export interface NotificationCodec<in out Params> {
  readonly name: string
  readonly sender: Sender
  readonly wire: { readonly params: Schema.Codec<unknown, unknown> }
  readonly decodeParams: (wire: unknown) => Result.Result<Params, InvalidShape>
  readonly encodeParams: (params: Params) => JsonRpc.JsonObject
}

/**
 * What differs between revisions apart from shapes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Features {
  /** Arrays of messages are legal (RPC-10). */
  readonly batching: boolean
  /** Structured output of tools: none, objects only, any JSON value (TOL-06). */
  readonly structuredContent: "none" | "object" | "any"
  /** Arguments that do not fit a tool's schema: a protocol error, or a result with `isError` (TOL-13, TOL-14). */
  readonly invalidArguments: "error" | "result"
  /** The id of an answer to a request that could not be read (RPC-08). */
  readonly unreadableId: "null" | "omit"
  /** The error code for a resource that is not there (RES-05, RES-06). */
  readonly resourceNotFound: -32002 | -32602
  /** The version header is sent on every request after initialize (LIF-11). */
  readonly versionHeader: boolean
  /** SSE streams start with an event that has an id and no data (HTTP-28). */
  readonly primingEvent: boolean
  /** A `completions` capability exists (CMP-01). */
  readonly completionsCapability: boolean
}

/**
 * One revision of the protocol.
 *
 * @category models
 * @since 0.1.0
 */
export interface Revision {
  readonly version: Version
  /** Position in the order of time, from 0. */
  readonly ordinal: number
  readonly era: "legacy" | "modern"
  readonly features: Features
  /** Names of the requests this revision has, with their senders. */
  readonly requests: ReadonlyMap<string, Sender>
  /** Names of the notifications this revision has, with their senders. */
  readonly notifications: ReadonlyMap<string, Sender>
  /** Names of what a server may ask for in a round (MRT-04): none before 2026-07-28, where they are requests. */
  readonly inputs: ReadonlySet<string>
  /** The codec of a request, `undefined` where the revision does not have it. */
  readonly request: <Name extends string, Params, Result_>(
    method: Method.RequestMethod<Name, Params, Result_>
  ) => RequestCodec<Params, Result_> | undefined
  /** The codec of a notification, `undefined` where the revision does not have it. */
  readonly notification: <Name extends string, Params>(
    method: Method.NotificationMethod<Name, Params>
  ) => NotificationCodec<Params> | undefined
  /** The codec of what is asked for in a round, `undefined` where it cannot be. */
  readonly input: <Name extends string, Params, Result_>(
    method: Method.RequestMethod<Name, Params, Result_>
  ) => RequestCodec<Params, Result_> | undefined
  /** The codec by its name on the wire. */
  readonly requestByName: (name: string) => RequestCodec<unknown, unknown> | undefined
  readonly notificationByName: (name: string) => NotificationCodec<unknown> | undefined
}

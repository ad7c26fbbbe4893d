/**
 * Requests and notifications of your own: a name and schemas, as a value that server and client share.
 *
 * A custom method travels like one of the protocol's. What the protocol puts on everything, `_meta` and, on 2026-07-28,
 * `resultType`, is added and taken away on its own; a schema that names such a member writes and reads it itself.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { type Fields as Fields_, type Plain as Plain_, toSchema } from "./internal/contractSpec.ts"
import * as Custom from "./internal/customMethod.ts"
import { coreFilter } from "./internal/filter.ts"
import { JsonObject as JsonObjectSchema } from "./internal/json.ts"
import { isJsonObject, type JsonObject } from "./JsonRpc.ts"
import type * as Method from "./Method.ts"
import type { Revision, Sender, Version } from "./Revision.ts"
import * as Revisions from "./Revisions.ts"

/**
 * A schema that needs no services, so that a value is decoded where it arrives.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plain<out A, out Encoded = unknown> extends Plain_<A, Encoded> {}

/**
 * Fields of a struct.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fields extends Fields_ {}

/**
 * What `params` and `result` can be: fields, or a schema whose encoded side is an object.
 *
 * @category models
 * @since 0.1.0
 */
export type Shape = Fields | Plain<unknown, object>

/**
 * What a handler gets, or gives, for a {@link Shape}.
 *
 * @category type-level
 * @since 0.1.0
 */
export type TypeOf<S> = S extends Plain<infer A> ? A
  : S extends Fields ? { readonly [K in keyof Schema.Struct.Type<S>]: Schema.Struct.Type<S>[K] }
  : never

/**
 * What a handler gives for a result: nothing where there is none.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ResultOf<S> = [S] extends [never] ? void : TypeOf<S>

/**
 * A request that is not the protocol's own.
 *
 * @category models
 * @since 0.1.0
 */
export interface Request<out Name extends string, out Params, out Result_, out By extends Sender = Sender>
  extends Method.RequestMethod<Name, Params, Result_>
{
  readonly custom: NonNullable<Method.RequestMethod<Name, Params, Result_>["custom"]>
  readonly sender: By
  /** The oldest revision that has it. */
  readonly since: Version
}

/**
 * A notification that is not the protocol's own.
 *
 * @category models
 * @since 0.1.0
 */
export interface Notification<out Name extends string, out Params, out By extends Sender = Sender>
  extends Method.NotificationMethod<Name, Params>
{
  readonly custom: NonNullable<Method.NotificationMethod<Name, Params>["custom"]>
  readonly sender: By
  /** The oldest revision that has it. */
  readonly since: Version
  /** The member of a listen filter that asks for it; its own name by default. */
  readonly filter: string
  /** What one notification is about, where listeners name what they want to hear of. */
  readonly topic: ((params: JsonObject) => unknown) | undefined
}

/**
 * A request of any name and any shape.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyRequest extends Request<string, unknown, unknown> {}

/**
 * A notification of any name and any shape.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyNotification extends Notification<string, unknown> {}

/**
 * What {@link request} takes besides the name.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestOptions<P, R, By> {
  /** Left out: the request takes nothing. */
  readonly params?: P | undefined
  /** Left out: the result says nothing. */
  readonly result?: R | undefined
  /** Who may send it; the client by default. On 2026-07-28 servers send no requests, and what only they send is not there. */
  readonly sender?: By | undefined
  /** The oldest revision that has it; the first there is by default. */
  readonly since?: Version | undefined
}

/**
 * What {@link notification} takes besides the name.
 *
 * @category models
 * @since 0.1.0
 */
export interface NotificationOptions<P, By> {
  /** Left out: the notification says nothing but that it came. */
  readonly params?: P | undefined
  /** Who may send it; the server by default. On 2026-07-28 clients send none, and what only they send is not there. */
  readonly sender?: By | undefined
  /** The oldest revision that has it; the first there is by default. */
  readonly since?: Version | undefined
  /**
   * How clients of 2026-07-28 ask for it when they listen: the member of the filter, its own name by default. With `topic`,
   * a member of the params, the filter lists values of that member; without, it says `true`.
   */
  readonly listen?: { readonly filter?: string | undefined; readonly topic?: string | undefined } | undefined
}

const lookUp = (version: Version): Revision => Revisions.byVersion(version) ?? Revisions.newest

const oldest: Version = "2024-11-05"

/** Which revisions have a protocol method of this name, from `since` on. */
const taken = (name: string, since: Version): string | undefined => {
  const { ordinal } = lookUp(since)
  return Revisions.all.find((revision) =>
    revision.ordinal >= ordinal &&
    (revision.requests.has(name) || revision.notifications.has(name) || revision.inputs.has(name))
  )?.version
}

const check = (kind: "method" | "notification", name: string, since: Version): void => {
  if (name === "" || name !== name.trim()) Custom.refuse(kind, name, "a name is not empty, and has no space around it")
  if (name.startsWith("rpc.")) Custom.refuse(kind, name, "names that begin with \"rpc.\" belong to JSON-RPC")
  const version = taken(name, since)
  if (version !== undefined) Custom.refuse(kind, name, `the protocol has a method of this name on ${version}`)
}

/** On 2026-07-28 requests go to the server and notifications to the client. */
const senders = (sender: Sender, since: Version, modern: "client" | "server"): Custom.Senders => {
  const { ordinal } = lookUp(since)
  return (revision) => {
    if (revision.ordinal < ordinal) return undefined
    if (revision.era === "legacy") return sender
    return sender === "both" || sender === modern ? modern : undefined
  }
}

const coreFilters: ReadonlySet<string> = new Set(Object.keys(coreFilter.fields))

const paramsOf = (kind: "method" | "notification", name: string, spec: Shape | undefined): Custom.Half =>
  spec === undefined ? Custom.silent({}) : Custom.half(kind, name, "input", toSchema(spec), Custom.reservedInParams)

/**
 * Makes a request.
 *
 * **Gotchas**
 *
 * A name of the protocol, one that JSON-RPC keeps for itself, and a shape that is not always an object are mistakes in the
 * program: an `InvalidContract` that names the method is thrown. Names that begin with a domain of yours never clash.
 *
 * **Example** (A request)
 *
 * ```ts
 * import { CustomMethod, Revisions } from "@mcpfx/schema"
 * import { Schema } from "effect"
 *
 * const Search = CustomMethod.request("com.example/search", {
 *   params: { query: Schema.String },
 *   result: { hits: Schema.Array(Schema.String) }
 * })
 * Revisions.newest.request(Search)?.encodeResult({ hits: ["a"] }) // => { resultType: "complete", hits: ["a"] }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function request<
  const Name extends string,
  P extends Shape = {},
  R extends Shape = never,
  const By extends Sender = "client"
>(name: Name, options?: RequestOptions<P, R, By>): Request<Name, TypeOf<P>, ResultOf<R>, By>
export function request(name: string, options: RequestOptions<Shape, Shape, Sender> = {}): AnyRequest {
  const { sender = "client", since = oldest } = options
  check("method", name, since)
  const params = paramsOf("method", name, options.params)
  const result = options.result === undefined
    ? Custom.silent(undefined)
    : Custom.half("method", name, "output", toSchema(options.result), Custom.reservedInResult)
  return {
    kind: "request",
    name,
    params: params.schema,
    result: result.schema,
    custom: {
      on: Custom.requestCodec(name, params, result, senders(sender, since, "client")),
      encodeParams: params.tryEncode
    },
    sender,
    since
  }
}

/**
 * Makes a notification.
 *
 * **Example** (A notification)
 *
 * ```ts
 * import { CustomMethod } from "@mcpfx/schema"
 * import { Schema } from "effect"
 *
 * const Moved = CustomMethod.notification("com.example/moved", {
 *   params: { ship: Schema.String, x: Schema.Finite, y: Schema.Finite },
 *   listen: { topic: "ship" }
 * })
 * Moved.filter // => "com.example/moved"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function notification<const Name extends string, P extends Shape = {}, const By extends Sender = "server">(
  name: Name,
  options?: NotificationOptions<P, By>
): Notification<Name, TypeOf<P>, By>
export function notification(name: string, options: NotificationOptions<Shape, Sender> = {}): AnyNotification {
  const { listen, sender = "server", since = oldest } = options
  check("notification", name, since)
  const params = paramsOf("notification", name, options.params)
  const topic = listen?.topic
  const filter = listen?.filter ?? name
  if (coreFilters.has(filter)) Custom.refuse("notification", name, `the protocol has a filter of the name ${filter}`)
  return {
    kind: "notification",
    name,
    params: params.schema,
    custom: {
      on: Custom.notificationCodec(name, params, senders(sender, since, "server")),
      encodeParams: params.tryEncode
    },
    sender,
    since,
    filter,
    topic: topic === undefined ? undefined : (params) => params[topic]
  }
}

/**
 * A notification of any name whose params are sent as they are, and read as the object that came.
 *
 * @category constructors
 * @since 0.1.0
 */
export const raw = (name: string): Method.NotificationMethod<string, JsonObject> => {
  const codec = {
    name,
    sender: "both",
    wire: { params: JsonObjectSchema },
    decodeParams: (params: unknown) => Result.succeed(isJsonObject(params) ? params : {}),
    encodeParams: (params: unknown) => isJsonObject(params) ? params : {}
  } as const
  return {
    kind: "notification",
    name,
    params: JsonObjectSchema,
    custom: { on: () => codec, encodeParams: codec.decodeParams }
  }
}

/**
 * Whether a method is not the protocol's own.
 *
 * @category guards
 * @since 0.1.0
 */
export const isCustom = (method: { readonly custom?: unknown }): boolean => method.custom !== undefined

/**
 * Extensions as layers: announced with their settings, and their methods answered, while the layer is open.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import { requiredExtension } from "@mcpfx/schema/Capabilities"
import type * as CustomMethod from "@mcpfx/schema/CustomMethod"
import * as Extension from "@mcpfx/schema/Extension"
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import { MissingClientCapability } from "@mcpfx/schema/McpError"
import { RequestContext } from "@mcpfx/session/RequestContext"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { ExtensionEntry, RequestServices } from "./Entry.ts"
import { capture } from "./internal/capture.ts"
import { registration } from "./internal/enclosing.ts"
import { announcementEntry, listenerEntry, methodEntry, type Place } from "./internal/methodEntry.ts"
import { Registry } from "./Registry.ts"
import type { DuplicateEntry } from "./ServerError.ts"
import type { Failed, MethodOptions } from "./ServerMethod.ts"

type ClientSent<M> = M extends { readonly sender: "client" | "both" } ? M : never

/**
 * What answers the requests of an extension, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Handlers<Requests extends CustomMethod.AnyRequest> = {
  readonly [M in ClientSent<Requests> as M["name"]]: M extends
    CustomMethod.Request<string, infer Params, infer Result> ?
    (params: Params) => Effect.Effect<Result, Failed, unknown>
    : never
}

/**
 * What hears the notifications of an extension, by their names; those without a listener are left alone.
 *
 * @category models
 * @since 0.1.0
 */
export type Listeners<Notifications extends CustomMethod.AnyNotification> = {
  readonly [M in ClientSent<Notifications> as M["name"]]?: M extends CustomMethod.Notification<string, infer Params> ?
    (params: Params) => Effect.Effect<void, never, unknown>
    : never
}

/**
 * The services that handlers ask for.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ServicesOf<Functions> = {
  readonly [Name in keyof Functions]-?: Functions[Name] extends
    (params: never) => Effect.Effect<unknown, unknown, infer R> ? R : never
}[keyof Functions]

type WithSettings<Settings> = {} extends Settings ? { readonly settings?: Settings | undefined }
  : { readonly settings: Settings }

type WithHandlers<Requests extends CustomMethod.AnyRequest, H> = [ClientSent<Requests>] extends [never] ?
  { readonly handlers?: undefined }
  : { readonly handlers: H }

/**
 * What {@link layer} takes besides the extension: its settings where it has any, and a handler for each request that
 * clients send.
 *
 * @category models
 * @since 0.1.0
 */
export type Options<Settings, Requests extends CustomMethod.AnyRequest, H, L> =
  & WithSettings<Settings>
  & WithHandlers<Requests, H>
  & MethodOptions
  & { readonly listeners?: L }

interface AnyOptions extends MethodOptions {
  readonly settings?: unknown
  readonly handlers?: Readonly<Record<string, unknown>> | undefined
  readonly listeners?: Readonly<Record<string, unknown>> | undefined
}

type AnyExtension = Extension.Extension<string, unknown, unknown>

/** What the types of {@link layer} have made sure of: a function under the name of a method is that method's. */
const isHandler = (u: unknown): u is (params: unknown) => Effect.Effect<unknown, unknown, unknown> =>
  typeof u === "function"

const handlerOf = (functions: Readonly<Record<string, unknown>> | undefined, name: string) => {
  const own = functions !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined
  return isHandler(own) ? own : undefined
}

const entryOf = (extension: AnyExtension, settings: unknown): ExtensionEntry => {
  const encoded = extension.server.encode(settings ?? {})
  if (Result.isFailure(encoded)) {
    const reason = `its settings: ${encoded.failure.message()}`
    throw new InvalidContract({ kind: "extension", name: extension.id, reason })
  }
  return {
    kind: "extension",
    name: extension.id,
    visible: undefined,
    asks: [],
    scopes: [],
    settings: encoded.success,
    existsOn: (revision) => Extension.existsOn(extension, revision),
    spokenBy: (capabilities) => !extension.mutual || Option.isSome(settingsIn(extension, capabilities))
  }
}

const settingsIn = <A>(
  extension: { readonly id: string; readonly client: Extension.Settings<A> },
  capabilities: Capabilities.Client
): Option.Option<A> => Result.getOrElse(Extension.ofClient(extension, capabilities), () => Option.none())

/**
 * Offers an extension while the layer is open: announces it with its settings on every revision that has it (EXT-02,
 * EXT-03), and answers its requests for clients that announced it as well. Others are refused: with `-32021` on 2026-07-28,
 * with `-32601` before (EXT-04).
 *
 * **Example** (An extension with one method)
 *
 * ```ts
 * import { CustomMethod, Extension } from "@mcpfx/schema"
 * import { ServerExtension } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Search = CustomMethod.request("com.example/search", {
 *   params: { query: Schema.String },
 *   result: { hits: Schema.Array(Schema.String) }
 * })
 * const FullText = Extension.make("com.example/full-text", {
 *   serverSettings: { languages: Schema.Array(Schema.String) },
 *   requests: [Search]
 * })
 * const FullTextLive = ServerExtension.layer(FullText, {
 *   settings: { languages: ["en"] },
 *   handlers: { "com.example/search": ({ query }) => Effect.succeed({ hits: [query] }) }
 * })
 * Layer.isLayer(FullTextLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export function layer<
  Id extends string,
  Server,
  Client,
  Requests extends CustomMethod.AnyRequest,
  Notifications extends CustomMethod.AnyNotification,
  H extends Handlers<Requests>,
  L extends Listeners<Notifications>
>(
  extension: Extension.Extension<Id, Server, Client, Requests, Notifications>,
  options: Options<Server, Requests, H, L>
): Layer.Layer<never, DuplicateEntry, Registry | Exclude<ServicesOf<H> | ServicesOf<L>, RequestServices>>
export function layer<
  Id extends string,
  Server,
  Client,
  Requests extends CustomMethod.AnyRequest,
  Notifications extends CustomMethod.AnyNotification
>(
  extension: {} extends Options<Server, Requests, {}, {}>
    ? Extension.Extension<Id, Server, Client, Requests, Notifications>
    : never
): Layer.Layer<never, DuplicateEntry, Registry>
export function layer(extension: AnyExtension, options: AnyOptions = {}): Layer.Layer<never, DuplicateEntry, Registry> {
  return registration((enclosing) =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const captured = yield* capture<unknown>()
      const entry = entryOf(extension, options.settings)
      const place: Place<unknown> = { captured, enclosing, extension: entry, options }
      yield* registry.register(entry)
      for (const notification of extension.notifications) {
        if (notification.sender !== "client") yield* registry.register(announcementEntry(notification, place))
      }
      for (const method of extension.requests) {
        const handler = handlerOf(options.handlers, method.name)
        if (handler !== undefined) yield* registry.register(methodEntry(method, handler, place))
      }
      for (const notification of extension.notifications) {
        const listener = handlerOf(options.listeners, notification.name)
        if (listener !== undefined) yield* registry.register(listenerEntry(notification, listener, place))
      }
    })
  )
}

/**
 * What the client of this request announced about an extension: its settings, or none where it did not announce it, or in a
 * way that cannot be read. `Extension.ofClient` tells the two apart.
 *
 * @category getters
 * @since 0.1.0
 */
export const client = <A>(
  extension: { readonly id: string; readonly client: Extension.Settings<A> }
): Effect.Effect<Option.Option<A>, never, RequestContext> =>
  Effect.map(RequestContext, ({ clientCapabilities }) => settingsIn(extension, clientCapabilities))

/**
 * The same for what cannot be done without it: the request is refused where the client did not announce the extension
 * (EXT-04).
 *
 * @category getters
 * @since 0.1.0
 */
export const required = <A>(
  extension: { readonly id: string; readonly client: Extension.Settings<A> }
): Effect.Effect<A, MissingClientCapability, RequestContext> =>
  Effect.flatMap(
    client(extension),
    Option.match({
      onNone: () => Effect.fail(new MissingClientCapability({ required: requiredExtension(extension.id) })),
      onSome: (settings) => Effect.succeed(settings)
    })
  )

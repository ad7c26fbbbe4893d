/**
 * Requests and notifications of your own as layers: a method and what answers it, or hears it.
 *
 * Methods that belong to an extension are registered with it, by `ServerExtension.layer`; these here stand alone.
 *
 * @since 0.1.0
 */
import type * as CustomMethod from "@mcpfx/schema/CustomMethod"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import { key, type Principal } from "@mcpfx/transport/Principal"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type * as Option from "effect/Option"
import * as Result from "effect/Result"
import { ChangeBus } from "./ChangeBus.ts"
import type { RequestServices } from "./Entry.ts"
import { capture } from "./internal/capture.ts"
import { registration } from "./internal/enclosing.ts"
import { announcementEntry, listenerEntry, methodEntry } from "./internal/methodEntry.ts"
import { Registry } from "./Registry.ts"
import { type DuplicateEntry, type InputError, type Refusal, ResultMismatch } from "./ServerError.ts"

/**
 * What a handler may fail with: a protocol error, or what asking the client can fail with, which becomes `-32602` with its
 * reason. Anything else is a defect.
 *
 * @category models
 * @since 0.1.0
 */
export type Failed = Refusal | InputError

/**
 * What the registration of a method takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface MethodOptions {
  /** Who may use the method; everybody by default. To others it does not exist. */
  readonly visible?: ((context: RequestContext["Service"]) => boolean) | undefined
  /** Scopes a caller must have been granted. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /**
   * Requests that may run at the same time in one endpoint, at least 1; the others wait in their own fibers. No bound by
   * default.
   */
  readonly concurrency?: number | undefined
}

/**
 * Answers a request of your own while the layer is open.
 *
 * The handler gets decoded params and gives the decoded result; params that do not fit are refused with `-32602`, and a
 * result that does not fit is a defect. What the handler needs is taken from the layer, except what belongs to the request.
 *
 * **Example** (A method)
 *
 * ```ts
 * import { CustomMethod } from "@mcpfx/schema"
 * import { ServerMethod } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Search = CustomMethod.request("com.example/search", {
 *   params: { query: Schema.String },
 *   result: { hits: Schema.Array(Schema.String) }
 * })
 * const SearchLive = ServerMethod.method(Search, ({ query }) => Effect.succeed({ hits: [query] }))
 * Layer.isLayer(SearchLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const method = <Name extends string, Params, Result, R = never>(
  method: CustomMethod.Request<Name, Params, Result, "client" | "both">,
  handler: (params: NoInfer<Params>) => Effect.Effect<NoInfer<Result>, Failed, R>,
  options: MethodOptions = {}
): Layer.Layer<never, DuplicateEntry, Registry | Exclude<R, RequestServices>> =>
  registration((enclosing) =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const captured = yield* capture<R>()
      yield* registry.register(methodEntry(method, handler, { captured, enclosing, extension: undefined, options }))
    })
  )

/**
 * Hears a notification of your own while the layer is open. Clients of up to 2025-11-25 send notifications; those of
 * 2026-07-28 send none. One that cannot be read is left alone, and what the handler fails with is logged.
 *
 * **Example** (Hearing of the client)
 *
 * ```ts
 * import { CustomMethod } from "@mcpfx/schema"
 * import { ServerMethod } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Moved = CustomMethod.notification("com.example/moved", { params: { to: Schema.String }, sender: "client" })
 * const MovedLive = ServerMethod.notification(Moved, ({ to }) => Effect.log(`the client is at ${to}`))
 * Layer.isLayer(MovedLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const notification = <Name extends string, Params, R = never>(
  notification: CustomMethod.Notification<Name, Params, "client" | "both">,
  handler: (params: NoInfer<Params>) => Effect.Effect<void, never, R>,
  options: Omit<MethodOptions, "concurrency"> = {}
): Layer.Layer<never, DuplicateEntry, Registry | Exclude<R, RequestServices>> =>
  registration((enclosing) =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const captured = yield* capture<R>()
      yield* registry.register(
        listenerEntry(notification, handler, { captured, enclosing, extension: undefined, options })
      )
    })
  )

/**
 * Lets clients of 2026-07-28 ask, when they listen, to hear of a notification of your own that belongs to no extension;
 * while the layer is open. {@link announce} sends it.
 *
 * @category layers
 * @since 0.1.0
 */
export const announcement = <Name extends string, Params>(
  notification: CustomMethod.Notification<Name, Params, "server" | "both">,
  options: Omit<MethodOptions, "concurrency"> = {}
): Layer.Layer<never, DuplicateEntry, Registry> =>
  registration((enclosing) =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const captured = yield* capture<never>()
      yield* registry.register(
        announcementEntry(notification, { captured, enclosing, extension: undefined, options })
      )
    })
  )

/**
 * Sends a notification of your own to everybody who wants it: on revisions with sessions to all clients, or all that speak
 * its extension; on 2026-07-28 to those that listen for it. With `principal` only to what belongs to that one. Like changes
 * it travels on the `ChangeBus`. A handler that has something to say about its own request uses `notify` of its
 * `RequestContext` instead.
 *
 * Params that do not fit are a defect.
 *
 * **Example** (Telling everybody)
 *
 * ```ts
 * import { CustomMethod } from "@mcpfx/schema"
 * import { ServerMethod } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const Moved = CustomMethod.notification("com.example/moved", {
 *   params: { ship: Schema.String, x: Schema.Finite },
 *   listen: { topic: "ship" }
 * })
 * const program = ServerMethod.announce(Moved, { ship: "Ida", x: 3 })
 * Effect.isEffect(program) // => true
 * ```
 *
 * @category announcements
 * @since 0.1.0
 */
export const announce = <Name extends string, Params>(
  notification: CustomMethod.Notification<Name, Params, "server" | "both">,
  params: Params,
  options: { readonly principal?: Option.Option<Principal> | undefined } = {}
): Effect.Effect<void, never, ChangeBus> =>
  Effect.gen(function*() {
    const bus = yield* ChangeBus
    const encoded = notification.custom.encodeParams(params)
    if (Result.isFailure(encoded)) {
      const detail = encoded.failure.message()
      return yield* Effect.die(new ResultMismatch({ kind: "method", name: notification.name, detail }))
    }
    const topic = notification.topic?.(encoded.success)
    yield* bus.publish({
      kind: "announcement",
      method: notification.name,
      params: encoded.success,
      topic: typeof topic === "string" ? topic : undefined,
      principal: options.principal === undefined ? undefined : key(options.principal)
    })
  })

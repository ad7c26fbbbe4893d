/**
 * Extensions as layers beneath the client's: announced with their settings, and what the server sends of them handled.
 *
 * Layers of many extensions stand side by side. An extension that both sides announced is among `extensions` of
 * `client.server`; requests of one that the server did not announce fail with `NotOffered` and send nothing (EXT-04).
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as CustomMethod from "@mcpfx/schema/CustomMethod"
import * as Extension from "@mcpfx/schema/Extension"
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import type { McpError, PeerError } from "@mcpfx/schema/McpError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type { AskServices } from "./AskContext.ts"
import { capture } from "./internal/answering.ts"
import { type Announced, answering, hearing, Installed, keyOf } from "./internal/extensions.ts"
import { McpClient } from "./McpClient.ts"
import { BadInput, fail, type McpClientError, NotOffered } from "./McpClientError.ts"

/**
 * What a handler may fail with: a protocol error, which the server hears. Anything else is a defect.
 *
 * @category models
 * @since 0.1.0
 */
export type Failed = Exclude<McpError, PeerError>

/** How many notifications wait for a reader that is behind. */
const backlog = 1024

type ServerSent<M> = M extends { readonly sender: "server" | "both" } ? M : never

/**
 * What answers the requests that servers send, by their names.
 *
 * @category models
 * @since 0.1.0
 */
export type Handlers<Requests extends CustomMethod.AnyRequest> = {
  readonly [M in ServerSent<Requests> as M["name"]]: M extends
    CustomMethod.Request<string, infer Params, infer Result> ?
    (params: Params) => Effect.Effect<Result, Failed, unknown>
    : never
}

/**
 * What hears the notifications that servers send, by their names. Those without a listener are left to
 * `client.notifications`.
 *
 * @category models
 * @since 0.1.0
 */
export type Listeners<Notifications extends CustomMethod.AnyNotification> = {
  readonly [M in ServerSent<Notifications> as M["name"]]?: M extends CustomMethod.Notification<string, infer Params> ?
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

type WithHandlers<Requests extends CustomMethod.AnyRequest, H> = [ServerSent<Requests>] extends [never] ?
  { readonly handlers?: undefined }
  : { readonly handlers: H }

/**
 * What {@link layer} takes besides the extension: its settings where it has any, and a handler for each request that
 * servers send.
 *
 * @category models
 * @since 0.1.0
 */
export type Options<Settings, Requests extends CustomMethod.AnyRequest, H, L> =
  & WithSettings<Settings>
  & WithHandlers<Requests, H>
  & { readonly listeners?: L }

interface AnyOptions {
  readonly settings?: unknown
  readonly handlers?: Readonly<Record<string, unknown>> | undefined
  readonly listeners?: Readonly<Record<string, unknown>> | undefined
}

type AnyExtension = Extension.Extension<string, unknown, unknown>

/** What the types of {@link layer} have made sure of: a function under the name of a method is that method's. */
const isHandler = (u: unknown): u is (params: unknown) => Effect.Effect<unknown, Failed, unknown> =>
  typeof u === "function"

const isListener = (u: unknown): u is (params: unknown) => Effect.Effect<void, never, unknown> =>
  typeof u === "function"

const under = (functions: Readonly<Record<string, unknown>> | undefined, name: string): unknown =>
  functions !== undefined && Object.hasOwn(functions, name) ? functions[name] : undefined

const announcedOf = (extension: AnyExtension, settings: unknown): Announced => {
  const encoded = extension.client.encode(settings ?? {})
  if (Result.isFailure(encoded)) {
    const reason = `its settings: ${encoded.failure.message()}`
    throw new InvalidContract({ kind: "extension", name: extension.id, reason })
  }
  return {
    id: extension.id,
    settings: encoded.success,
    existsOn: (revision) => Extension.existsOn(extension, revision),
    isSaid: extension.mutual,
    spokenBy: (capabilities) => Option.isSome(settingsIn(extension, capabilities)),
    requests: extension.requests.map(({ name }) => name)
  }
}

const settingsIn = <A>(
  extension: { readonly id: string; readonly server: Extension.Settings<A> },
  capabilities: Capabilities.Server
): Option.Option<A> => Result.getOrElse(Extension.ofServer(extension, capabilities), () => Option.none())

/**
 * Announces an extension, with its settings, on every revision that has it (EXT-02, EXT-03), and handles what servers send
 * of it. The layer stands beneath that of the client.
 *
 * **Example** (A client that speaks an extension)
 *
 * ```ts
 * import { ClientExtension, McpClient } from "@mcpfx/client"
 * import { CustomMethod, Extension } from "@mcpfx/schema"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Moved = CustomMethod.notification("com.example/moved", { params: { to: Schema.String } })
 * const Ships = Extension.make("com.example/ships", { notifications: [Moved] })
 * const ShipsLive = ClientExtension.layer(Ships, {
 *   listeners: { "com.example/moved": ({ to }) => Effect.log(`it is at ${to} now`) }
 * })
 * const Live = McpClient.layer().pipe(Layer.provide(ShipsLive))
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
  options: Options<Client, Requests, H, L>
): Layer.Layer<never, never, Exclude<ServicesOf<H> | ServicesOf<L>, AskServices>>
export function layer<
  Id extends string,
  Server,
  Client,
  Requests extends CustomMethod.AnyRequest,
  Notifications extends CustomMethod.AnyNotification
>(
  extension: {} extends Options<Client, Requests, {}, {}>
    ? Extension.Extension<Id, Server, Client, Requests, Notifications>
    : never
): Layer.Layer<never>
export function layer(extension: AnyExtension, options: AnyOptions = {}): Layer.Layer<never> {
  return Layer.effect(
    keyOf(extension.id),
    Effect.map(capture, (run) => {
      const answers = extension.requests.flatMap((method) => {
        const handler = under(options.handlers, method.name)
        return isHandler(handler) ? [answering(method, (params, facts) => run(handler(params), facts))] : []
      })
      const hears = extension.notifications.flatMap((method) => {
        const listener = under(options.listeners, method.name)
        return isListener(listener) ? [hearing(method, (params, facts) => run(listener(params), facts))] : []
      })
      return new Installed(announcedOf(extension, options.settings), answers, hears)
    })
  )
}

/**
 * Answers a request of your own that servers send and that belongs to no extension. The layer stands beneath that of the
 * client. On 2026-07-28 servers send no requests.
 *
 * @category layers
 * @since 0.1.0
 */
export const method = <Name extends string, Params, Result, R = never>(
  method: CustomMethod.Request<Name, Params, Result, "server" | "both">,
  handler: (params: NoInfer<Params>) => Effect.Effect<NoInfer<Result>, Failed, R>
): Layer.Layer<never, never, Exclude<R, AskServices>> =>
  Layer.effect(
    // No extension is called so: identifiers have no spaces.
    keyOf(` ${method.name}`),
    Effect.map(
      capture,
      (run) => new Installed(undefined, [answering(method, (params, facts) => run(handler(params), facts))], [])
    )
  )

/**
 * What the server announced about an extension: its settings, or none where it did not announce it, or in a way that cannot
 * be read. `Extension.ofServer` tells the two apart.
 *
 * @category getters
 * @since 0.1.0
 */
export const server = <A>(
  extension: { readonly id: string; readonly server: Extension.Settings<A> }
): Effect.Effect<Option.Option<A>, McpClientError, McpClient> =>
  Effect.flatMap(
    McpClient,
    (client) => Effect.map(client.server, ({ capabilities }) => settingsIn(extension, capabilities))
  )

/**
 * Notifications of your own from a server, from now on: it is asked for them, on 2026-07-28, for as long as the stream is
 * read. With `topics` only those about them; where the revision has no words for that, all come and the others are left out.
 * Two streams of one notification at a time each hear what either asked for.
 *
 * **Example** (Following a ship)
 *
 * ```ts
 * import { ClientExtension } from "@mcpfx/client"
 * import { CustomMethod } from "@mcpfx/schema"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const Moved = CustomMethod.notification("com.example/moved", {
 *   params: { ship: Schema.String, x: Schema.Finite },
 *   listen: { topic: "ship" }
 * })
 * const program = Stream.runForEach(ClientExtension.listen(Moved, ["Ida"]), ({ x }) => Effect.log(`it is at ${x} now`))
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const listen = <Name extends string, Params>(
  notification: CustomMethod.Notification<Name, Params, "server" | "both">,
  topics?: ReadonlyArray<string>
): Stream.Stream<Params, McpClientError, McpClient> =>
  Stream.unwrap(Effect.gen(function*() {
    const client = yield* McpClient
    const queue = yield* Effect.acquireRelease(Queue.sliding<Params>(backlog), Queue.shutdown)
    // Before it is asked for them, so that none is missed.
    yield* client.notifications(notification).pipe(
      Stream.runForEach((params) => Queue.offer(queue, params)),
      Effect.forkScoped({ startImmediately: true })
    )
    const wanted = topics === undefined ? undefined : new Set<unknown>(topics)
    const { changes } = yield* client.subscribe({ announcements: { [notification.filter]: topics ?? true } })
    const isWanted = (params: Params): boolean => {
      if (wanted === undefined || notification.topic === undefined) return true
      const encoded = notification.custom.encodeParams(params)
      return Result.isSuccess(encoded) && wanted.has(notification.topic(encoded.success))
    }
    return Stream.fromQueue(queue).pipe(
      Stream.filter(isWanted),
      // The subscription says when the connection is lost for good.
      Stream.merge(Stream.drain(changes), { haltStrategy: "either" })
    )
  }))

/**
 * Sends a notification of your own. Revision 2026-07-28 has none from clients: there it fails with `NotOffered`, and so does
 * one whose params do not fit, with `BadInput`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const notify = <Name extends string, Params>(
  notification: CustomMethod.Notification<Name, Params, "client" | "both">,
  params: Params
): Effect.Effect<void, McpClientError, McpClient> =>
  Effect.gen(function*() {
    const client = yield* McpClient
    const { revision } = yield* client.server
    const { name } = notification
    const codec = notification.custom.on(revision)
    if (codec === undefined || codec.sender === "server") {
      return yield* fail(new NotOffered({ what: name, revision: revision.version }), name)
    }
    const encoded = notification.custom.encodeParams(params)
    if (Result.isFailure(encoded)) return yield* fail(new BadInput({ detail: encoded.failure.message() }), name)
    yield* client.notifyRaw(name, encoded.success)
  })

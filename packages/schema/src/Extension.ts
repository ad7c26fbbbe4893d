/**
 * An extension of the protocol: its identifier, the settings each side announces it with, and the methods it adds.
 *
 * A value that server and client share. Nothing of it is on until a side says so: a server with `ServerExtension.layer`, a
 * client with `ClientExtension.layer` (EXT-06).
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Capabilities from "./Capabilities.ts"
import type { AnyNotification, AnyRequest, Shape, TypeOf } from "./CustomMethod.ts"
import { type Plain, toSchema } from "./internal/contractSpec.ts"
import { encodesObject, refuse } from "./internal/customMethod.ts"
import { schemaSide, type Side } from "./internal/side.ts"
import { InvalidSettings } from "./InvalidSettings.ts"
import { isJsonObject, type JsonObject } from "./JsonRpc.ts"
import * as JsonSchema from "./JsonSchema.ts"
import * as MetaKey from "./MetaKey.ts"
import type { Revision, Version } from "./Revision.ts"
import * as Revisions from "./Revisions.ts"
import type { SchemaMismatch } from "./SchemaMismatch.ts"

/**
 * The settings of one side: to the value of the capability and back.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings<in out A> {
  readonly decode: (announced: unknown) => Result.Result<A, SchemaMismatch>
  readonly encode: (settings: A) => Result.Result<JsonObject, SchemaMismatch>
}

/**
 * An extension: its identifier, its settings and its methods.
 *
 * @category models
 * @since 0.1.0
 */
export interface Extension<
  out Id extends string,
  in out ServerSettings = {},
  in out ClientSettings = {},
  out Requests extends AnyRequest = AnyRequest,
  out Notifications extends AnyNotification = AnyNotification
> {
  readonly _tag: "Extension"
  readonly id: Id
  readonly server: Settings<ServerSettings>
  readonly client: Settings<ClientSettings>
  readonly requests: ReadonlyArray<Requests>
  readonly notifications: ReadonlyArray<Notifications>
  /** The oldest revision that has it. */
  readonly since: Version
  /** Whether clients announce it. Where only servers do, its requests are answered to everybody. */
  readonly mutual: boolean
}

/**
 * An extension as far as its identifier and its methods go.
 *
 * @category models
 * @since 0.1.0
 */
export type Any = Pick<Extension<string>, "_tag" | "id" | "requests" | "notifications" | "since" | "mutual">

/**
 * What {@link make} takes besides the identifier.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<
  Server extends Shape,
  Client extends Shape,
  Requests extends AnyRequest,
  Notifications extends AnyNotification
> {
  /** What a server announces it with; nothing by default. */
  readonly serverSettings?: Server | undefined
  /** What a client announces it with; nothing by default. */
  readonly clientSettings?: Client | undefined
  readonly requests?: ReadonlyArray<Requests> | undefined
  readonly notifications?: ReadonlyArray<Notifications> | undefined
  /** The oldest revision that has it; the first there is by default. */
  readonly since?: Version | undefined
  /** `false` where only servers announce it, and clients that have seen it announced use it; `true` by default. */
  readonly mutual?: boolean | undefined
  /** Set by those who implement an extension of the protocol's own, whose identifier nobody else may use. */
  readonly official?: boolean | undefined
}

/** Extensions without settings announce an empty object; what else is in it is nobody's business here. */
const Nothing = Schema.Struct({})

const settingsOf = (id: string, spec: Shape | undefined): Settings<unknown> => {
  const schema: Plain<unknown> = spec === undefined ? Nothing : toSchema(spec)
  const codec = JsonSchema.codec<unknown, never, never>(schema)
  if (!encodesObject(codec.ast)) refuse("extension", id, "the encoded side of its settings is not always an object")
  const side: Side<unknown> = schemaSide(id, "settings", () => codec)
  return {
    decode: side.decode,
    encode: (settings) => Result.map(side.encode(settings), (encoded) => isJsonObject(encoded) ? encoded : {})
  }
}

const checkNames = (id: string, methods: ReadonlyArray<{ readonly name: string }>): void => {
  const seen = new Set<string>()
  for (const { name } of methods) {
    if (seen.has(name)) refuse("extension", id, `it has two methods of the name "${name}"`)
    seen.add(name)
  }
}

/**
 * Makes an extension.
 *
 * **Gotchas**
 *
 * An identifier is a prefix, a slash and a name, spelt as the keys of `_meta` are (EXT-01). Prefixes whose second label is
 * `modelcontextprotocol` or `mcp` belong to the protocol. A breaking change is a new identifier (EXT-07). What is wrong with
 * any of it is a mistake in the program: an `InvalidContract` that names the extension is thrown.
 *
 * **Example** (An extension)
 *
 * ```ts
 * import { CustomMethod, Extension } from "@mcpfx/schema"
 * import { Schema } from "effect"
 *
 * const Search = CustomMethod.request("com.example/search", {
 *   params: { query: Schema.String },
 *   result: { hits: Schema.Array(Schema.String) }
 * })
 * const FullText = Extension.make("com.example/full-text", {
 *   serverSettings: { languages: Schema.Array(Schema.String) },
 *   requests: [Search]
 * })
 * FullText.id // => "com.example/full-text"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<
  const Id extends string,
  Server extends Shape = {},
  Client extends Shape = {},
  Requests extends AnyRequest = never,
  Notifications extends AnyNotification = never
>(
  id: Id,
  options?: Options<Server, Client, Requests, Notifications>
): Extension<Id, TypeOf<Server>, TypeOf<Client>, Requests, Notifications>
export function make(
  id: string,
  options: Options<Shape, Shape, AnyRequest, AnyNotification> = {}
): Extension<string, unknown, unknown> {
  const { notifications = [], requests = [] } = options
  if (!MetaKey.isExtensionId(id)) refuse("extension", id, "an identifier is a prefix of labels, a slash and a name")
  if (MetaKey.isReserved(id) && options.official !== true) {
    refuse("extension", id, "its prefix belongs to the protocol")
  }
  checkNames(id, [...requests, ...notifications])
  return {
    _tag: "Extension",
    id,
    server: settingsOf(id, options.serverSettings),
    client: settingsOf(id, options.clientSettings),
    requests,
    notifications,
    since: options.since ?? "2024-11-05",
    mutual: options.mutual ?? true
  }
}

/**
 * Whether the extension exists on a revision.
 *
 * @category guards
 * @since 0.1.0
 */
export const existsOn = (self: Pick<Any, "since">, revision: Revision): boolean =>
  revision.ordinal >= (Revisions.byVersion(self.since) ?? Revisions.newest).ordinal

type Read<A> = Result.Result<Option.Option<A>, InvalidSettings>

const read = <A>(
  id: string,
  side: "client" | "server",
  settings: Settings<A>,
  capabilities: Capabilities.Client | Capabilities.Server
): Read<A> => {
  const { extensions } = capabilities
  if (extensions === undefined || !Object.hasOwn(extensions, id)) return Result.succeed(Option.none())
  const decoded = settings.decode(extensions[id])
  return Result.isSuccess(decoded)
    ? Result.succeed(Option.some(decoded.success))
    : Result.fail(new InvalidSettings({ extension: id, side, detail: decoded.failure.message() }))
}

/**
 * The settings a client announced; none where it did not announce the extension.
 *
 * **Example** (What a client said)
 *
 * ```ts
 * import { Extension } from "@mcpfx/schema"
 * import { Option, Result, Schema } from "effect"
 *
 * const Ui = Extension.make("com.example/ui", { clientSettings: { themes: Schema.Array(Schema.String) } })
 * const themed = { extensions: { "com.example/ui": { themes: ["dark"] } } }
 * Extension.ofClient(Ui, themed) // => Result.succeed(Option.some({ themes: ["dark"] }))
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const ofClient = <A>(
  self: { readonly id: string; readonly client: Settings<A> },
  capabilities: Capabilities.Client
): Read<A> => read(self.id, "client", self.client, capabilities)

/**
 * The settings a server announced; none where it did not announce the extension.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofServer = <A>(
  self: { readonly id: string; readonly server: Settings<A> },
  capabilities: Capabilities.Server
): Read<A> => read(self.id, "server", self.server, capabilities)

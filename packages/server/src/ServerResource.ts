/**
 * Resources, and families of resources, as layers: a contract and what is read for it.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as ResourceContract from "@mcpfx/schema/ResourceContract"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Only, Provider, Providers } from "./Completer.ts"
import type { CacheHint, HandlerServices, RequestServices } from "./Entry.ts"
import { capture } from "./internal/capture.ts"
import { completions } from "./internal/completions.ts"
import { type Pieces, Result } from "./internal/contents.ts"
import { type Enclosing, registration, visibility } from "./internal/enclosing.ts"
import { running } from "./internal/handling.ts"
import { readResource, readTemplate } from "./internal/resourceRead.ts"
import { Registry } from "./Registry.ts"
import type { DuplicateEntry, InputError, Refusal } from "./ServerError.ts"

export { type Piece, type Pieces, Result } from "./internal/contents.ts"

/**
 * What a handler may return. With `content` in the contract: its type, or {@link result}. Without: text, bytes, contents, or
 * several of them, or {@link result}. An empty list says that the resource is not there (RES-05).
 *
 * @category models
 * @since 0.1.0
 */
export type Returned<Content> = [Content] extends [never] ? Pieces | Result : Content | Result<Content>

/**
 * What a handler may fail with: a protocol error, such as `ResourceNotFound`, or what asking the client can fail with, which
 * becomes `-32602` with its reason. Anything else is a defect.
 *
 * @category models
 * @since 0.1.0
 */
export type Failed = Refusal | InputError

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Who sees the resource; everybody by default. To others it does not exist. */
  readonly visible?: ((context: RequestContext["Service"]) => boolean) | undefined
  /** Scopes a caller must have been granted, beside those of the contract. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** For how long, and for whom, what is read may be kept; not at all by default (CCH-01). */
  readonly cache?: CacheHint | undefined
}

/**
 * A result with more than contents: `value` for contracts with `content`, `contents` for the others.
 *
 * **Example** (Contents that may be kept for a minute)
 *
 * ```ts
 * import { ServerResource } from "@mcpfx/server"
 *
 * const kept = ServerResource.result({ contents: "hello", cache: { ttlMs: 60_000, scope: "public" } })
 * kept.contents // => "hello"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const result = <Content = never>(
  options: ({ readonly value: Content } | { readonly contents: Pieces }) & {
    readonly cache?: CacheHint | undefined
    readonly meta?: JsonObject | undefined
  }
): Result<Content> =>
  "value" in options
    ? new Result(Option.some(options.value), [], options.cache, options.meta)
    : new Result(Option.none(), options.contents, options.cache, options.meta)

const facts = (contract: ResourceContract.Common<unknown>, options: Options = {}) => ({
  asks: contract.asks,
  scopes: [...new Set([...contract.scopes, ...(options.scopes ?? [])])],
  cache: options.cache
})

type Reader<Content, R> = Effect.Effect<Returned<Content>, Failed, R>

/**
 * What a resource is read from: a value that does not change, an effect, or a function of the URI that gives one.
 *
 * @category models
 * @since 0.1.0
 */
export type Source<Content, R> = Returned<Content> | Reader<Content, R> | ((uri: string) => Reader<Content, R>)

const isReader = <Content, R>(source: Source<Content, R>): source is Reader<Content, R> => Effect.isEffect(source)

const isFunction = <Content, R>(source: Source<Content, R>): source is (uri: string) => Reader<Content, R> =>
  typeof source === "function"

const reader = <Content, R>(source: Source<Content, R>): (uri: string) => Reader<Content, R> => {
  if (isReader(source)) return () => source
  return isFunction(source) ? source : () => Effect.succeed(source)
}

/**
 * Offers a resource while the layer is open. It is read from a value that does not change, an effect, or a function of the
 * URI that gives one.
 *
 * Contents get the MIME type of the contract unless they have their own, and bytes are written in base64 (RES-09). What the
 * handler needs is taken from the layer, except what belongs to the request.
 *
 * **Example** (A text that does not change)
 *
 * ```ts
 * import { Resource } from "@mcpfx/schema"
 * import { ServerResource } from "@mcpfx/server"
 * import { Layer } from "effect"
 *
 * const Motd = Resource.make("app://motd", { name: "motd", mimeType: "text/plain" })
 * const MotdLive = ServerResource.resource(Motd, "Be kind.")
 * Layer.isLayer(MotdLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const resource = <Uri extends string, Content, R = never>(
  contract: ResourceContract.Contract<Uri, Content>,
  source: Source<NoInfer<Content>, R>,
  options: Options = {}
): Layer.Layer<never, DuplicateEntry, Registry | Exclude<R, HandlerServices>> =>
  registration((enclosing: Enclosing) =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const captured = yield* capture<R>()
      const read = reader(source)
      yield* registry.register({
        kind: "resource",
        uri: contract.uri,
        descriptor: ResourceContract.toDescriptor(contract),
        visible: visibility(enclosing, { kind: "resource", name: contract.uri }, options.visible),
        ...facts(contract, options),
        read: readResource(contract, enclosing, (uri) => running(captured, read(uri)))
      })
    })
  )

/**
 * Options of a template: `complete` gives values for its variables, by name (RES-04 of field practice).
 *
 * @category models
 * @since 0.1.0
 */
export interface TemplateOptions<Names extends string, R = never> extends Options {
  readonly complete?: Providers<Names, R> | undefined
}

/**
 * Offers a family of resources while the layer is open. The handler gets the decoded variables of the URI, and the URI; a
 * URI whose variables do not decode is not of this family. A resource of exactly the URI comes first (RES-09 of field
 * practice).
 *
 * **Example** (Notes by number)
 *
 * ```ts
 * import { McpError, Resource } from "@mcpfx/schema"
 * import { ServerResource } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Note = Resource.template("notes://{id}", { name: "note", params: { id: Schema.Int } })
 * const NoteLive = ServerResource.template(
 *   Note,
 *   ({ id }, uri) => id === 7 ? Effect.succeed("seven") : Effect.fail(new McpError.ResourceNotFound({ uri })),
 *   { complete: { id: ["7", "8"] } }
 * )
 * Layer.isLayer(NoteLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const template = <
  Uri extends string,
  Params,
  Content,
  R = never,
  Names extends string = never,
  R2 = never
>(
  contract: ResourceContract.TemplateContract<Uri, Params, Content>,
  handler: (
    params: NoInfer<Params>,
    uri: string
  ) => Effect.Effect<Returned<NoInfer<Content>>, Failed, R>,
  options?: TemplateOptions<Names, R2> & Only<Names, keyof Params>
): Layer.Layer<never, DuplicateEntry, Registry | Exclude<R, HandlerServices> | Exclude<R2, RequestServices>> =>
  registration((enclosing: Enclosing) =>
    Effect.gen(function*() {
      const registry = yield* Registry
      const captured = yield* capture<R | R2>()
      const target = { kind: "template", name: contract.uriTemplate } as const
      const complete: { readonly [name: string]: Provider<R2> | undefined } = options?.complete ?? {}
      yield* registry.register({
        kind: "template",
        template: contract.uriTemplate,
        descriptor: ResourceContract.toTemplateDescriptor(contract),
        visible: visibility(enclosing, target, options?.visible),
        ...facts(contract, options),
        match: readTemplate(contract, enclosing, (params, uri) => running(captured, handler(params, uri))),
        completions: completions(complete, { target, contract, enclosing, captured })
      })
    })
  )

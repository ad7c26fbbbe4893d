/**
 * The contracts of resources and of resource templates, as values that server and client share.
 *
 * @since 0.1.0
 */
import type * as Option from "effect/Option"
import type * as Result from "effect/Result"
import type { Annotations } from "./Annotations.ts"
import type { Ask } from "./Capabilities.ts"
import type { Icon } from "./Implementation.ts"
import type { Fields, Plain } from "./internal/contractSpec.ts"
import { refuse, ResourceContract, TemplateContract as TemplateContract_ } from "./internal/resourceContract.ts"
import type { JsonObject } from "./JsonRpc.ts"
import type * as Resource from "./Resource.ts"
import type { SchemaMismatch } from "./SchemaMismatch.ts"
import type { TypeOf } from "./ToolContract.ts"
import * as UriTemplate from "./UriTemplate.ts"

/**
 * What resources and templates are made from alike.
 *
 * @category models
 * @since 0.1.0
 */
export interface CommonOptions<C> {
  /** What it is called; for display see `title`. */
  readonly name: string
  readonly title?: string | undefined
  readonly description?: string | undefined
  /** Default `application/json` where `content` is given. */
  readonly mimeType?: string | undefined
  readonly annotations?: Annotations | undefined
  readonly icons?: ReadonlyArray<Icon> | undefined
  readonly meta?: JsonObject | undefined
  /** The content is the JSON text of a value of this schema. */
  readonly content?: C | undefined
  /** What a handler asks the client for. */
  readonly asks?: ReadonlyArray<Ask> | undefined
  /** Scopes a caller must have been granted. */
  readonly scopes?: ReadonlyArray<string> | undefined
}

/**
 * What {@link make} takes besides the URI.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<C> extends CommonOptions<C> {
  /** Bytes, before any encoding. */
  readonly size?: number | undefined
}

/**
 * What {@link template} takes besides the template.
 *
 * @category models
 * @since 0.1.0
 */
export interface TemplateOptions<P, C> extends CommonOptions<C> {
  /**
   * A schema for each variable. Numbers, booleans and dates read and write their usual text form; an exploded variable takes
   * a list. A variable that a URI may leave out is optional when its schema is.
   */
  readonly params: P
  /** What becomes of an encoded `/` or `\` in a single value: no match (the default), or given to the handler (RES-09). */
  readonly separators?: "refuse" | "decode" | undefined
}

/**
 * What both contracts carry.
 *
 * @category models
 * @since 0.1.0
 */
export interface Common<out C> {
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly mimeType: string | undefined
  readonly annotations: Annotations | undefined
  readonly icons: ReadonlyArray<Icon> | undefined
  readonly meta: JsonObject | undefined
  readonly asks: ReadonlyArray<Ask>
  readonly scopes: ReadonlyArray<string>
  readonly hasContent: boolean
  decodeContent(text: string): Result.Result<C, SchemaMismatch>
  encodeContent(content: C): Result.Result<string, SchemaMismatch>
}

/**
 * The contract of one resource. `C` is `never` where its content has no schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface Contract<out Uri extends string, out C> extends Common<C> {
  readonly _tag: "ResourceContract"
  readonly uri: Uri
  readonly size: number | undefined
}

/**
 * The contract of a family of resources.
 *
 * @category models
 * @since 0.1.0
 */
export interface TemplateContract<out Uri extends string, out P, out C> extends Common<C> {
  readonly _tag: "TemplateContract"
  readonly uriTemplate: Uri
  readonly variables: ReadonlyArray<UriTemplate.Variable>
  /** The variables of a URI, or none if it is not of this family. */
  match(uri: string): Option.Option<UriTemplate.Variables>
  decodeParams(variables: UriTemplate.Variables): Result.Result<P, SchemaMismatch>
  /** The URI of a member. Values that a reader would not get back as they are fail with `InvalidValue`. */
  expand(params: P): Result.Result<string, SchemaMismatch | UriTemplate.InvalidValue>
}

/**
 * Any contract of a resource.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyContract extends Contract<string, unknown> {}

/**
 * Any contract of a template.
 *
 * @category models
 * @since 0.1.0
 */
export interface AnyTemplateContract extends TemplateContract<string, unknown, unknown> {}

/**
 * The value its content stands for.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ContentOf<C> = C extends Common<infer Content> ? Content : never

/**
 * What a handler gets for a template.
 *
 * @category type-level
 * @since 0.1.0
 */
export type ParamsOf<C> = C extends TemplateContract<string, infer P, unknown> ? P : never

type ParamsFor<Uri extends string> = { readonly [Name in UriTemplate.NamesOf<Uri>]: Plain<unknown> }

/**
 * Makes the contract of one resource. A URI that RFC 3986 does not allow (RES-13) is a mistake in the program: an
 * {@link InvalidContract} that names it is thrown.
 *
 * **Example** (A resource whose content is JSON)
 *
 * ```ts
 * import { Resource } from "@mcpfx/schema"
 * import { Result, Schema } from "effect"
 *
 * const Settings = Resource.make("app://settings", {
 *   name: "settings",
 *   content: Schema.Struct({ theme: Schema.Literals(["light", "dark"]) })
 * })
 * Settings.encodeContent({ theme: "dark" }) // => Result.succeed("{\"theme\":\"dark\"}")
 * Settings.mimeType // => "application/json"
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function make<const Uri extends string, C extends Plain<unknown> = never>(
  uri: Uri,
  options: Options<C>
): Contract<Uri, TypeOf<C>>
export function make(uri: string, options: Options<Plain<unknown>>): AnyContract {
  const fault = UriTemplate.fault(uri)
  if (fault !== undefined) refuse("resource", uri, fault)
  return new ResourceContract(uri, options)
}

/**
 * Makes the contract of a family of resources. Its variables are named twice, in the template and in `params`, and the two
 * have to agree; a template that cannot be read or matched, or a schema without a text form, is a mistake in the program: an
 * {@link InvalidContract} that names it is thrown.
 *
 * **Example** (Notes by number)
 *
 * ```ts
 * import { Resource } from "@mcpfx/schema"
 * import { Option, Result, Schema } from "effect"
 *
 * const Note = Resource.template("notes://{id}{?lines}", {
 *   name: "note",
 *   params: { id: Schema.Int, lines: Schema.optionalKey(Schema.Int) }
 * })
 * Option.map(Note.match("notes://7"), (found) => Note.decodeParams(found)) // => Option.some(Result.succeed({ id: 7 }))
 * Note.expand({ id: 7, lines: 10 }) // => Result.succeed("notes://7?lines=10")
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export function template<
  const Uri extends string,
  P extends ParamsFor<Uri>,
  C extends Plain<unknown> = never
>(
  uriTemplate: Uri,
  options: TemplateOptions<P & { readonly [K in Exclude<keyof P, UriTemplate.NamesOf<Uri>>]: never }, C>
): TemplateContract<Uri, TypeOf<P>, TypeOf<C>>
export function template(uriTemplate: string, options: TemplateOptions<Fields, Plain<unknown>>): AnyTemplateContract {
  return new TemplateContract_(uriTemplate, options)
}

/**
 * @category guards
 * @since 0.1.0
 */
export const isContract = (u: unknown): u is AnyContract => u instanceof ResourceContract

/**
 * @category guards
 * @since 0.1.0
 */
export const isTemplateContract = (u: unknown): u is AnyTemplateContract => u instanceof TemplateContract_

const common = (contract: Common<unknown>) => ({
  name: contract.name,
  ...(contract.title === undefined ? {} : { title: contract.title }),
  ...(contract.description === undefined ? {} : { description: contract.description }),
  ...(contract.mimeType === undefined ? {} : { mimeType: contract.mimeType }),
  ...(contract.annotations === undefined ? {} : { annotations: contract.annotations }),
  ...(contract.icons === undefined ? {} : { icons: contract.icons }),
  ...(contract.meta === undefined ? {} : { _meta: contract.meta })
})

/**
 * The resource as a server lists it, in the neutral shape.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toDescriptor = (contract: AnyContract): Resource.Descriptor => ({
  uri: contract.uri,
  ...common(contract),
  ...(contract.size === undefined ? {} : { size: contract.size })
})

/**
 * The template as a server lists it, in the neutral shape.
 *
 * @category conversions
 * @since 0.1.0
 */
export const toTemplateDescriptor = (contract: AnyTemplateContract): Resource.TemplateDescriptor => ({
  uriTemplate: contract.uriTemplate,
  ...common(contract)
})

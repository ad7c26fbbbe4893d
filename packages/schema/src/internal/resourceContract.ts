/** How contracts of resources and templates decode, encode and match. */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Annotations } from "../Annotations.ts"
import type { Ask } from "../Capabilities.ts"
import type { Icon } from "../Implementation.ts"
import { InvalidContract } from "../InvalidContract.ts"
import type { JsonObject } from "../JsonRpc.ts"
import type {
  AnyContract,
  AnyTemplateContract,
  Common,
  CommonOptions,
  Options,
  TemplateOptions
} from "../ResourceContract.ts"
import type { SchemaMismatch } from "../SchemaMismatch.ts"
import * as UriTemplate from "../UriTemplate.ts"
import type { Fields, Plain } from "./contractSpec.ts"
import { type ContentSide, contentSide } from "./jsonContent.ts"
import { describeFields, type TextSide, textSide } from "./textFields.ts"

export const refuse = (kind: "resource" | "template", name: string, reason: string): never => {
  throw new InvalidContract({ kind, name, reason })
}

abstract class Base implements Common<unknown> {
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
  readonly #content: ContentSide

  constructor(address: string, options: CommonOptions<Plain<unknown>>) {
    this.name = options.name
    this.title = options.title
    this.description = options.description
    this.mimeType = options.mimeType ?? (options.content === undefined ? undefined : "application/json")
    this.annotations = options.annotations
    this.icons = options.icons
    this.meta = options.meta
    this.asks = options.asks ?? []
    this.scopes = options.scopes ?? []
    this.hasContent = options.content !== undefined
    this.#content = contentSide(address, options.content)
  }

  decodeContent(text: string): Result.Result<unknown, SchemaMismatch> {
    return this.#content.decode(text)
  }

  encodeContent(content: unknown): Result.Result<string, SchemaMismatch> {
    return this.#content.encode(content)
  }
}

export class ResourceContract extends Base implements AnyContract {
  readonly _tag = "ResourceContract"
  readonly uri: string
  readonly size: number | undefined

  constructor(uri: string, options: Options<Plain<unknown>>) {
    super(uri, options)
    this.uri = uri
    this.size = options.size
  }
}

const makeMatcher = (source: string, separators: "refuse" | "decode" | undefined): UriTemplate.Matcher => {
  const parsed = UriTemplate.parse(source)
  if (Result.isFailure(parsed)) {
    return refuse("template", source, `${parsed.failure.reason} (at ${parsed.failure.position})`)
  }
  const matcher = UriTemplate.matcher(parsed.success, { separators })
  return Result.isSuccess(matcher) ? matcher.success : refuse("template", source, matcher.failure.reason)
}

/** The lists that a URI may leave out and their schema does not: there they are empty. */
const checkParams = (
  source: string,
  variables: ReadonlyArray<UriTemplate.Variable>,
  fields: Fields
): ReadonlyArray<string> => {
  const described = new Map(describeFields(fields).map((field) => [field.name, field]))
  const emptied: Array<string> = []
  for (const { list, name } of variables) {
    const field = described.get(name)
    if (field === undefined) return refuse("template", source, `its params say nothing of "${name}"`)
    if (field.writtenAs !== (list ? "list" : "text")) {
      refuse("template", source, `the schema of "${name}" is not written as ${list ? "a list of strings" : "a string"}`)
    }
    described.delete(name)
    if (list && field.required) emptied.push(name)
  }
  for (const name of described.keys()) refuse("template", source, `it has no variable "${name}"`)
  return emptied
}

interface Written {
  readonly [name: string]: string | ReadonlyArray<string>
}

const isWritten = (values: { readonly [name: string]: unknown }): values is Written =>
  Object.values(values).every((value) => typeof value === "string" || Array.isArray(value))

const isSame = (left: Written[string] | undefined, right: Written[string] | undefined): boolean =>
  typeof left === "string" || typeof right === "string"
    ? left === right
    : (left ?? []).length === (right ?? []).length && (left ?? []).every((one, index) => one === right?.[index])

const isRisky = (value: Written[string] | undefined): boolean =>
  [value ?? []].flat().some((one) => one === "" || one === "." || one === ".." || /[/\\\0]/.test(one))

export class TemplateContract extends Base implements AnyTemplateContract {
  readonly _tag = "TemplateContract"
  readonly uriTemplate: string
  readonly variables: ReadonlyArray<UriTemplate.Variable>
  readonly #matcher: UriTemplate.Matcher
  readonly #side: TextSide
  readonly #emptied: ReadonlyArray<string>

  constructor(uriTemplate: string, options: TemplateOptions<Fields, Plain<unknown>>) {
    super(uriTemplate, options)
    this.uriTemplate = uriTemplate
    this.#matcher = makeMatcher(uriTemplate, options.separators)
    this.variables = this.#matcher.variables
    this.#emptied = checkParams(uriTemplate, this.variables, options.params)
    this.#side = textSide(uriTemplate, "input", options.params)
  }

  match(uri: string): Option.Option<UriTemplate.Variables> {
    return UriTemplate.match(this.#matcher, uri)
  }

  decodeParams(variables: UriTemplate.Variables): Result.Result<unknown, SchemaMismatch> {
    const missing = this.#emptied.filter((name) => !Object.hasOwn(variables, name))
    return this.#side.decode(
      missing.length === 0 ? variables : { ...variables, ...Object.fromEntries(missing.map((name) => [name, []])) }
    )
  }

  expand(params: unknown): Result.Result<string, SchemaMismatch | UriTemplate.InvalidValue> {
    const encoded = this.#side.encode(params)
    if (Result.isFailure(encoded)) return Result.fail(encoded.failure)
    const values = encoded.success
    if (!isWritten(values)) return this.#lost(values)
    const expanded = UriTemplate.expand(this.#matcher.template, values)
    if (Result.isFailure(expanded)) return expanded
    const back = Option.getOrUndefined(this.match(expanded.success))
    return back !== undefined && this.variables.every(({ name }) => isSame(values[name], back[name]))
      ? expanded
      : this.#lost(values, back)
  }

  /** A value that would not be read back as it is, such as one with a slash where none can stand. */
  #lost(
    values: { readonly [name: string]: unknown },
    back?: UriTemplate.Variables
  ): Result.Result<never, UriTemplate.InvalidValue> {
    const written = isWritten(values) ? values : {}
    const culprit = back === undefined
      ? this.variables.find(({ name }) => isRisky(written[name])) ?? this.variables[0]
      : this.variables.find(({ name }) => !isSame(written[name], back[name]))
    return Result.fail(
      new UriTemplate.InvalidValue({
        template: this.uriTemplate,
        variable: culprit?.name ?? "",
        reason: "the value would not be read back from the URI as it is"
      })
    )
  }
}

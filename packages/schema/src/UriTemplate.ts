/**
 * URI templates after RFC 6570: expansion at all four levels, and the way back from a URI to the values.
 *
 * Expansion is defined for every template. Matching is not: a template whose variables cannot be told apart in a URI is
 * refused by {@link matcher}, with the reason, so that nothing is listed that could never be read.
 *
 * **Details** (What a variable can match)
 *
 * - `{x}` is one value without `/`, `?` or `#`; `{x,y}` and `{x*}` are parted by commas.
 * - `{+x}` is anything, slashes included. `{/x}` and `{.x}` are one value after their mark; at the end of a path without a
 *   wide variable they may be absent. `{/x*}` is a list of segments, possibly none.
 * - `{;x}`, `{?x}`, `{&x}` and `{#x}` may be absent; named ones come in any order, `{?x*}` is a list of repeated pairs.
 * - A template has at most one wide variable (`{+x}`, `{/x*}`, `{x*}`) in its path. Where a separator such as `-` could also
 *   belong to a value, a value ends at the first one.
 *
 * **Gotchas** (Safety)
 *
 * Values are percent-decoded once. A value outside of a query is never empty, `.` or `..`, and an encoded `/` or `\` is no
 * match unless `separators` asks for it; `{+x}` never holds a `.` or `..` segment or an encoded separator (RES-09). No value
 * holds U+0000. `+` stays `+`. Query and fragment values are free text and may hold slashes.
 *
 * @since 0.1.0
 */
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { uriFault } from "./internal/uriSyntax.ts"
import { expandParts, type Value as Value_ } from "./internal/uriTemplateExpand.ts"
import { runPlan } from "./internal/uriTemplateMatch.ts"
import { parseParts, type Part } from "./internal/uriTemplateParse.ts"
import { type Captured, makePlan, type Plan } from "./internal/uriTemplatePlan.ts"

/**
 * The text is not a template of RFC 6570.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidTemplate extends Schema.TaggedError<InvalidTemplate>("@mcpfx/schema/InvalidTemplate")(
  "InvalidTemplate",
  {
    template: Schema.String,
    /** Offset of the fault, in UTF-16 units. */
    position: Schema.Int,
    reason: Schema.String
  }
) {}

/**
 * The variables of a template cannot be told apart in a URI, or a modifier loses a part of them.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnmatchableTemplate extends Schema.TaggedError<UnmatchableTemplate>("@mcpfx/schema/UnmatchableTemplate")(
  "UnmatchableTemplate",
  { template: Schema.String, reason: Schema.String }
) {}

/**
 * A value has no form in a URI.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidValue extends Schema.TaggedError<InvalidValue>("@mcpfx/schema/UriTemplate/InvalidValue")(
  "InvalidValue",
  { template: Schema.String, variable: Schema.String, reason: Schema.String }
) {}

/**
 * A template that was read: see {@link parse}.
 *
 * @category models
 * @since 0.1.0
 */
export interface UriTemplate {
  /** The template as it was written. */
  readonly source: string
  readonly parts: ReadonlyArray<Part>
}

/**
 * What a variable can be expanded from: a string, number or boolean, a list of them, or pairs. `null`, `undefined`, an empty
 * list and empty pairs count as absent.
 *
 * @category models
 * @since 0.1.0
 */
export type Value = Value_

/**
 * What a URI was matched to: a string a variable, a list for one that explodes, nothing for one that was absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface Variables {
  readonly [name: string]: string | ReadonlyArray<string>
}

/**
 * A variable of a template that can be matched.
 *
 * @category models
 * @since 0.1.0
 */
export interface Variable extends Captured {}

/**
 * A template that can be matched: see {@link matcher}.
 *
 * @category models
 * @since 0.1.0
 */
export interface Matcher {
  readonly template: UriTemplate
  /** In the order of the template. */
  readonly variables: ReadonlyArray<Variable>
  readonly plan: Plan
  readonly separators: "refuse" | "decode"
}

/**
 * Reads a template.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (source: string): Result.Result<UriTemplate, InvalidTemplate> => {
  const parts = parseParts(source)
  return Result.isSuccess(parts)
    ? Result.succeed({ source, parts: parts.success })
    : Result.fail(new InvalidTemplate({ template: source, ...parts.failure }))
}

/**
 * Puts values into a template. Names that the template does not have are ignored; variables without a value are left out.
 *
 * **Example** (Expanding a template)
 *
 * ```ts
 * import { UriTemplate } from "@mcpfx/schema"
 * import { Result } from "effect"
 *
 * const template = Result.getOrThrow(UriTemplate.parse("notes://{owner}{/path*}{?limit}"))
 * UriTemplate.expand(template, { owner: "ann", path: ["a", "b c"], limit: 5 })
 * // => Result.succeed("notes://ann/a/b%20c?limit=5")
 * ```
 *
 * @category expanding
 * @since 0.1.0
 */
export const expand = (
  template: UriTemplate,
  values: { readonly [name: string]: Value }
): Result.Result<string, InvalidValue> => {
  const expanded = expandParts(template.parts, values)
  return Result.isSuccess(expanded)
    ? Result.succeed(expanded.success)
    : Result.fail(new InvalidValue({ template: template.source, ...expanded.failure }))
}

/**
 * Prepares a template for matching, or says why its variables could not be told apart.
 *
 * `separators` is what becomes of an encoded `/` or `\` in a single value: `"refuse"`, the default, makes it no match;
 * `"decode"` gives it to the reader, who must then keep it out of file paths.
 *
 * @category constructors
 * @since 0.1.0
 */
export const matcher = (
  template: UriTemplate,
  options?: { readonly separators?: "refuse" | "decode" | undefined }
): Result.Result<Matcher, UnmatchableTemplate> => {
  const plan = makePlan(template.parts)
  return Result.isSuccess(plan)
    ? Result.succeed({
      template,
      variables: plan.success.variables,
      plan: plan.success,
      separators: options?.separators ?? "refuse"
    })
    : Result.fail(new UnmatchableTemplate({ template: template.source, reason: plan.failure }))
}

/**
 * The values in a URI, or none if the URI is not of this template. The time it takes grows with the length of the URI and
 * no faster (SCH-22 of field practice).
 *
 * **Example** (Reading the values back)
 *
 * ```ts
 * import { UriTemplate } from "@mcpfx/schema"
 * import { Option, Result } from "effect"
 *
 * const notes = Result.getOrThrow(Result.flatMap(UriTemplate.parse("notes://{id}{?limit}"), UriTemplate.matcher))
 * UriTemplate.match(notes, "notes://caf%C3%A9?limit=5") // => Option.some({ id: "café", limit: "5" })
 * UriTemplate.match(notes, "notes://..%2Fsecret") // => Option.none()
 * ```
 *
 * @category matching
 * @since 0.1.0
 */
export const match = (by: Matcher, uri: string): Option.Option<Variables> => {
  const { variables } = runPlan(by.plan, uri, by.separators === "decode")
  return variables === undefined ? Option.none() : Option.some(Object.fromEntries(variables))
}

/**
 * What keeps a text from being a URI of RFC 3986 with a scheme (RES-13), in one clause; `undefined` for a good one.
 *
 * @category checking
 * @since 0.1.0
 */
export const fault = (uri: string): string | undefined => uriFault(uri)

type Strip<Spec extends string> = Spec extends `${infer Name}*` ? Name
  : Spec extends `${infer Name}:${string}` ? Name
  : Spec

type Names<List extends string> = List extends `${infer Head},${infer Tail}` ? Strip<Head> | Names<Tail> : Strip<List>

type Body<Text extends string> = Text extends `${"+" | "#" | "." | "/" | ";" | "?" | "&"}${infer List}` ? Names<List>
  : Names<Text>

/**
 * The variables of a template written as a literal; `string` when the template is not known to the compiler.
 *
 * @category type-level
 * @since 0.1.0
 */
export type NamesOf<Template extends string> = string extends Template ? string
  : Template extends `${string}{${infer Text}}${infer Rest}` ? Body<Text> | NamesOf<Rest>
  : never

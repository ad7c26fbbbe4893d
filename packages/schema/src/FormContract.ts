/**
 * Forms from schemas: what the user is shown, and how the answer is read.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { FormSchema } from "./FormSchema.ts"
import { type Fields, legacyKey, titlesKey, toFields } from "./internal/formFields.ts"
import { schemaSide, type Side } from "./internal/side.ts"
import { InvalidContract } from "./InvalidContract.ts"
import { isJsonObject, type JsonObject } from "./JsonRpc.ts"
import * as JsonSchema from "./JsonSchema.ts"
import type { SchemaMismatch } from "./SchemaMismatch.ts"

/**
 * A form with the type of its answers.
 *
 * @category models
 * @since 0.1.0
 */
export interface FormContract<out A> {
  /** What the client is sent, in the neutral model; older revisions show what they can of it. */
  readonly form: FormSchema
  /** Reads the content of an accepted form (ELI-10). */
  readonly decode: (content: unknown) => Result.Result<A, SchemaMismatch>
}

/**
 * A struct whose fields are texts, numbers, booleans, choices of strings, or lists of such choices.
 *
 * @category models
 * @since 0.1.0
 */
export type Form<A> = Schema.ConstraintCodec<A, unknown, never, never>

/** Lists come as one text from clients of a revision that has no lists. */
const separator = /\s*,\s*/

const untangle = (content: JsonObject, { defaults, lists, nullable }: Fields): JsonObject => {
  let next: Record<string, unknown> | undefined
  for (const name of lists) {
    const value = content[name]
    if (typeof value === "string") (next ??= { ...content })[name] = value === "" ? [] : value.split(separator)
  }
  for (const [name, value] of defaults) {
    if (content[name] === undefined) (next ??= { ...content })[name] = value
  }
  for (const name of nullable) {
    if ((next ?? content)[name] === undefined) (next ??= { ...content })[name] = null
  }
  return next ?? content
}

/**
 * The form of a schema. Throws {@link InvalidContract} where the schema is not flat enough for one: no request can cause
 * that, and no client could be shown it. The contract of one schema is made once, so make the schema once too.
 *
 * **Details**
 *
 * - `title`, `description` and `default` come from annotations, bounds and lengths from checks, `format` (`email`, `uri`,
 *   `date`, `date-time`) from the annotation of that name.
 * - Optional fields, and fields that may be `null`, are not required; a field that must be there and may be `null` is `null`
 *   where the user left it out.
 * - Lengths of texts are counted in characters: `Schema.isMinCodePoints` is shown as it is, `Schema.isMinLength` as the least
 *   that it may mean.
 * - A field that was left out has its default, whether or not the client was shown one (SCH-23 of field practice).
 * - What a form cannot show, such as a pattern, is checked when the answer is read.
 *
 * **Example** (A form)
 *
 * ```ts
 * import { FormContract } from "@mcpfx/schema"
 * import { Schema } from "effect"
 *
 * const { form } = FormContract.make(Schema.Struct({ env: FormContract.choices({ p: "Production", t: "Test" }) }))
 * form.properties["env"]
 * // => { type: "string", oneOf: [{ const: "p", title: "Production" }, { const: "t", title: "Test" }] }
 * form.required // => ["env"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A>(schema: Form<A>): FormContract<A> => {
  const known = made.get(schema)
  if (known !== undefined && isOf(known, schema)) return known
  const contract = new Made(schema, fieldsOf(schema), schemaSide("form", "content", () => JsonSchema.codec(schema)))
  made.set(schema, contract)
  return contract
}

class Made<out A> implements FormContract<A> {
  readonly schema: Form<A>
  readonly form: FormSchema
  readonly decode: (content: unknown) => Result.Result<A, SchemaMismatch>

  constructor(schema: Form<A>, fields: Fields, { decode }: Pick<Side<A>, "decode">) {
    this.schema = schema
    this.form = fields.form
    this.decode = (content) => decode(isJsonObject(content) ? untangle(content, fields) : content)
  }
}

const made = new WeakMap<Form<unknown>, Made<unknown>>()

const isOf = <A>(contract: Made<unknown>, schema: Form<A>): contract is Made<A> => contract.schema === schema

const fieldsOf = (schema: Form<unknown>): Fields => {
  const fields = toFields(JsonSchema.fromSchema(schema))
  if (Result.isFailure(fields)) {
    throw new InvalidContract({ kind: "form", name: fields.failure.field, reason: fields.failure.reason })
  }
  return fields.success
}

/**
 * One of some strings, each with the title that the user is shown. On 2025-11-25 and later the titles go out as `oneOf`,
 * before as `enumNames`; with `legacy`, as `enumNames` everywhere, for clients that know no other way (ELI-06).
 *
 * @category schemas
 * @since 0.1.0
 */
export const choices = <const Titles extends { readonly [value: string]: string }>(
  titles: Titles,
  options?: { readonly legacy?: boolean | undefined }
): Schema.Codec<Extract<keyof Titles, string>> => {
  const values = Object.keys(titles).filter((value): value is Extract<keyof Titles, string> =>
    Object.hasOwn(titles, value)
  )
  return Schema.Literals(values).annotate({
    [titlesKey]: values.map((value) => titles[value] ?? value),
    ...(options?.legacy === true ? { [legacyKey]: true } : undefined)
  })
}

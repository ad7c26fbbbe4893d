/**
 * JSON Schema 2020-12, made from Effect schemas or taken over as it is from elsewhere.
 *
 * What is shown is what is enforced: {@link fromSchema} describes the JSON that {@link codec} reads and writes, so a number
 * is a finite number, a field with `Schema.optional` may be `null`, and additional properties are refused only where the
 * schema says so (SCH-16 of field practice).
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { jsonCodec } from "./internal/jsonCodec.ts"
import { tidy } from "./internal/jsonSchemaTidy.ts"
import { isJsonObject, type JsonObject } from "./JsonRpc.ts"

/**
 * A JSON Schema that is an object; `true` and `false` are never needed at a root.
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonSchema extends JsonObject {}

/**
 * A JSON Schema whose root is an object, as the arguments of tools need it (TOL-05).
 *
 * @category models
 * @since 0.1.0
 */
export interface ObjectRoot extends JsonSchema {
  readonly type: "object"
  readonly $schema?: string
}

/**
 * A JSON Schema from elsewhere, kept to the letter: see {@link foreign}.
 *
 * @category models
 * @since 0.1.0
 */
export class Foreign {
  readonly json: JsonSchema
  constructor(json: JsonSchema) {
    this.json = json
  }
}

/**
 * Takes a JSON Schema over as it is: no keyword is added, dropped or moved (JSC-07). Values for it are not decoded; they are
 * checked by a JSON Schema validator.
 *
 * **Example** (A schema from elsewhere)
 *
 * ```ts
 * import { JsonSchema } from "@mcpfx/schema"
 *
 * const point = JsonSchema.foreign({ type: "object", required: ["x"], properties: { x: { type: "number" } } })
 * point.json["required"] // => ["x"]
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const foreign = (json: JsonSchema): Foreign => new Foreign(json)

/**
 * @category guards
 * @since 0.1.0
 */
export const isForeign = (u: unknown): u is Foreign => u instanceof Foreign

/**
 * How excess members of objects are treated: `"ignore"` drops them, `"error"` refuses them and says so with
 * `additionalProperties: false`.
 *
 * @category models
 * @since 0.1.0
 */
export type Excess = "ignore" | "error"

/**
 * The codec between a schema's values and the JSON that {@link fromSchema} describes.
 *
 * @category codecs
 * @since 0.1.0
 */
export const codec: <T, RD, RE>(
  schema: Schema.ConstraintCodec<T, unknown, RD, RE>
) => Schema.Codec<T, Schema.Json, RD, RE> = jsonCodec

const defsPrefix = "#/$defs/"

/** The name a root refers to, when the root is nothing but a reference. */
const rootReference = (schema: JsonSchema): string | undefined => {
  const ref = schema["$ref"]
  if (typeof ref !== "string" || !ref.startsWith(defsPrefix)) return undefined
  const pointer = Result.getOrUndefined(Result.try(() => decodeURIComponent(ref.slice(defsPrefix.length))))
  return pointer?.replaceAll("~1", "/").replaceAll("~0", "~")
}

const mentions = (json: unknown, ref: unknown): boolean =>
  Array.isArray(json)
    ? json.some((one) => mentions(one, ref))
    : isJsonObject(json) && (json["$ref"] === ref || Object.values(json).some((one) => mentions(one, ref)))

/** A root that is a reference is replaced by what it refers to; a definition nobody else needs goes. */
const inlineRoot = (schema: JsonSchema, definitions: JsonObject): JsonSchema => {
  const name = rootReference(schema)
  const target = name === undefined ? undefined : definitions[name]
  if (name === undefined || !isJsonObject(target)) return withDefinitions(schema, definitions)
  const { $ref, ...remarks } = schema
  const { [name]: _, ...others } = definitions
  const root = { ...target, ...remarks }
  return mentions([root, others], $ref) ? withDefinitions(root, definitions) : withDefinitions(root, others)
}

const withDefinitions = (schema: JsonSchema, definitions: JsonObject): JsonSchema =>
  Object.keys(definitions).length === 0 ? schema : { ...schema, $defs: definitions }

/**
 * The JSON Schema 2020-12 of the encoded side of a schema, as {@link codec} has it.
 *
 * **Details**
 *
 * Recursion and schemas with an `identifier` go to `$defs`; the root itself is never a bare reference. Titles, descriptions,
 * defaults and examples come from annotations; a title or description on a transformed schema is shown too. `nullable` and
 * `$schema` are never written.
 *
 * **Example** (Describing a struct)
 *
 * ```ts
 * import { JsonSchema } from "@mcpfx/schema"
 * import { Schema } from "effect"
 *
 * JsonSchema.fromSchema(Schema.Struct({ a: Schema.Number, b: Schema.NullOr(Schema.String) }))
 * // => { type: "object", properties: { a: { type: "number" }, b: { type: ["string", "null"] } }, required: ["a", "b"] }
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromSchema = (
  schema: Schema.ConstraintCodec<unknown, unknown, unknown, unknown>,
  options?: { readonly excess?: Excess | undefined }
): JsonSchema => {
  const document = Schema.toJsonSchemaDocument(jsonCodec(schema), {
    onExcessProperty: options?.excess ?? "ignore",
    includeAnnotationKey: (key) => key.startsWith("x-")
  })
  const definitions = Object.fromEntries(
    Object.entries(document.definitions).map(([name, one]) => [name, tidy(one)] as const)
  )
  return inlineRoot(tidy(document.schema), definitions)
}

const branches = (schema: JsonSchema): ReadonlyArray<unknown> | undefined => {
  const list = schema["anyOf"] ?? schema["oneOf"]
  return Array.isArray(list) ? list : undefined
}

/** Whether a value that matches must be an object; references that come back to themselves prove nothing. */
const provesObject = (schema: unknown, root: JsonSchema, seen: ReadonlySet<string>): boolean => {
  if (!isJsonObject(schema)) return false
  if (schema["type"] !== undefined) return schema["type"] === "object"
  const name = rootReference(schema)
  if (name !== undefined && !seen.has(name)) {
    const definitions = root["$defs"]
    const target = isJsonObject(definitions) ? definitions[name] : undefined
    if (provesObject(target, root, new Set([...seen, name]))) return true
  }
  const all = schema["allOf"]
  if (Array.isArray(all) && all.some((one) => provesObject(one, root, seen))) return true
  const any = branches(schema)
  return any !== undefined && any.length > 0 && any.every((one) => provesObject(one, root, seen))
}

/**
 * Whether everything a schema lets through is an object, seen from its root, its branches and its references.
 *
 * @category guards
 * @since 0.1.0
 */
export const isObjectOnly = (schema: JsonSchema): boolean => provesObject(schema, schema, new Set())

const isObjectRoot = (schema: JsonSchema): schema is ObjectRoot => schema["type"] === "object"

/**
 * A schema with `type: "object"` at its root, as `inputSchema` must have it on every revision (TOL-05): one that has it is
 * returned as it is, one that leaves the type open gets it, with a union kept below it (SCH-05 of field practice). Fails,
 * with one clause on why, for what is no schema object and for what lets no object through.
 *
 * **Example** (Wrapping a union)
 *
 * ```ts
 * import { JsonSchema } from "@mcpfx/schema"
 *
 * JsonSchema.rootObject({ anyOf: [{ required: ["a"] }, { required: ["b"] }] })
 * // => Result.succeed({ type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] })
 * ```
 *
 * @category combinators
 * @since 0.1.0
 */
export const rootObject = (schema: unknown): Result.Result<ObjectRoot, string> => {
  if (!isJsonObject(schema)) return Result.fail("it is not a JSON Schema object")
  if (isObjectRoot(schema)) return Result.succeed(schema)
  const { type, ...rest } = schema
  if (type === undefined || (Array.isArray(type) && type.includes("object"))) {
    return Result.succeed({ type: "object", ...rest })
  }
  return Result.fail(`its root is of type ${JSON.stringify(type)}, not "object"`)
}

/** From the JSON Schema of an object to a form: the flat part of it that clients can show (ELI-05, ELI-06). */
import * as Result from "effect/Result"
import type { FormSchema, Property } from "../FormSchema.ts"
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"

/** Where titles of choices stand in a JSON Schema: one for each member of `enum`. */
export const titlesKey = "x-enumNames"

/** Whether those titles go out as `enumNames`. */
export const legacyKey = "x-enumNames-legacy"

/** What of a schema is no form, and why. */
export interface Fault {
  /** The field; empty for the whole. */
  readonly field: string
  readonly reason: string
}

export interface Fields {
  readonly form: FormSchema
  /** Fields that are `null` where the user left them out. */
  readonly nullable: ReadonlySet<string>
  /** Fields that are lists. */
  readonly lists: ReadonlySet<string>
  /** What stands in fields that the user left alone. */
  readonly defaults: ReadonlyMap<string, unknown>
}

type Field = Result.Result<{ readonly property: Property; readonly nullable: boolean }, string>

const definition = "#/$defs/"

/** A schema without references and without the choice of `null`. */
const plain = (schema: JsonObject, root: JsonObject, depth = 0): { schema: JsonObject; nullable: boolean } => {
  const ref = schema["$ref"]
  if (typeof ref === "string" && depth < 8) {
    const definitions = root["$defs"]
    const target = ref.startsWith(definition) && isJsonObject(definitions)
      ? definitions[ref.slice(definition.length)]
      : undefined
    const { $ref: _, ...remarks } = schema
    return isJsonObject(target) ? plain({ ...target, ...remarks }, root, depth + 1) : { schema, nullable: false }
  }
  const { anyOf, type, ...rest } = schema
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== "null")
    return { schema: types.length === 1 ? { ...rest, type: types[0] } : schema, nullable: types.length < type.length }
  }
  if (!Array.isArray(anyOf)) return { schema, nullable: false }
  const others = anyOf.filter((one) => !(isJsonObject(one) && one["type"] === "null"))
  const [only] = others
  if (others.length === anyOf.length) return { schema, nullable: false }
  if (others.length !== 1 || !isJsonObject(only)) return { schema: { ...rest, anyOf: others }, nullable: true }
  return { schema: { ...plain(only, root, depth + 1).schema, ...rest }, nullable: true }
}

const isStrings = (u: unknown): u is ReadonlyArray<string> =>
  Array.isArray(u) && u.every((one) => typeof one === "string")

interface Choices {
  readonly values: ReadonlyArray<string>
  /** `undefined` where no choice has a title of its own. */
  readonly titles: ReadonlyArray<string> | undefined
}

/** The strings that a schema lets one choose from; `undefined` where it is no choice. */
const choicesOf = (schema: JsonObject, root: JsonObject): Choices | undefined => {
  const { anyOf, enum: values, [titlesKey]: names } = schema
  if (isStrings(values)) {
    return { values, titles: isStrings(names) && names.length === values.length ? names : undefined }
  }
  if (!Array.isArray(anyOf)) return undefined
  const all: Array<string> = []
  const titles: Array<string> = []
  let titled = false
  for (const one of anyOf) {
    if (!isJsonObject(one)) return undefined
    const inner = plain(one, root).schema
    const found = choicesOf(inner, root)
    if (found === undefined) return undefined
    const { title } = inner
    const own = found.values.length === 1 && typeof title === "string" ? [title] : found.titles
    titled ||= own !== undefined
    all.push(...found.values)
    titles.push(...(own ?? found.values))
  }
  return all.length === 0 ? undefined : { values: all, titles: titled ? titles : undefined }
}

const text = (schema: JsonObject) => {
  const { description, title } = schema
  return {
    ...(typeof title === "string" ? { title } : undefined),
    ...(typeof description === "string" ? { description } : undefined)
  }
}

const whole = (u: unknown): u is number => typeof u === "number" && Number.isSafeInteger(u)

const count = <Key extends string>(schema: JsonObject, key: Key): { readonly [K in Key]?: number } => {
  const value = schema[key]
  if (!whole(value)) return {}
  const entry: { [K in Key]?: number } = {}
  entry[key] = value
  return entry
}

const pairs = (values: ReadonlyArray<string>, titles: ReadonlyArray<string>) =>
  values.map((value, index) => ({ const: value, title: titles[index] ?? value }))

const isDefault = (schema: JsonObject, is: (u: unknown) => boolean): boolean =>
  schema["default"] === undefined || is(schema["default"])

const wrongDefault = Result.fail("its default is not one of its values")

const single = (schema: JsonObject, { titles, values }: Choices): Result.Result<Property, string> => {
  const given = schema["default"]
  if (!isDefault(schema, (u) => typeof u === "string" && values.includes(u))) return wrongDefault
  const rest = { ...text(schema), ...(typeof given === "string" ? { default: given } : undefined) }
  if (titles === undefined) return Result.succeed({ type: "string", ...rest, enum: values })
  return Result.succeed(
    schema[legacyKey] === true
      ? { type: "string", ...rest, enum: values, enumNames: titles }
      : { type: "string", ...rest, oneOf: pairs(values, titles) }
  )
}

const several = (schema: JsonObject, root: JsonObject): Result.Result<Property, string> => {
  const { default: given, items } = schema
  const choices = isJsonObject(items) ? choicesOf(plain(items, root).schema, root) : undefined
  if (choices === undefined) return Result.fail("a list in a form is a choice of some strings")
  const { titles, values } = choices
  if (!isDefault(schema, (u) => isStrings(u) && u.every((one) => values.includes(one)))) return wrongDefault
  const rest = {
    ...text(schema),
    ...count(schema, "minItems"),
    ...count(schema, "maxItems"),
    ...(isStrings(given) ? { default: given } : undefined)
  }
  return Result.succeed(
    titles === undefined
      ? { type: "array", ...rest, items: { type: "string", enum: values } }
      : { type: "array", ...rest, items: { anyOf: pairs(values, titles) } }
  )
}

const formats = ["email", "uri", "date", "date-time"] as const

const free = (schema: JsonObject): Result.Result<Property, string> => {
  const format = formats.find((one) => one === schema["format"])
  const given = schema["default"]
  if (!isDefault(schema, (u) => typeof u === "string")) return wrongDefault
  return Result.succeed({
    type: "string",
    ...text(schema),
    ...count(schema, "minLength"),
    ...count(schema, "maxLength"),
    ...(format === undefined ? undefined : { format }),
    ...(typeof given === "string" ? { default: given } : undefined)
  })
}

/** Bounds that every integer of JSON keeps anyway say nothing. */
const bound = (value: unknown, exclusive: unknown, step: number): number | undefined => {
  const found = typeof exclusive === "number" && step !== 0 ? exclusive + step : value
  return typeof found === "number" && Math.abs(found) < Number.MAX_SAFE_INTEGER ? found : undefined
}

const numeric = (schema: JsonObject, type: "number" | "integer"): Result.Result<Property, string> => {
  const step = type === "integer" ? 1 : 0
  const minimum = bound(schema["minimum"], schema["exclusiveMinimum"], step)
  const maximum = bound(schema["maximum"], schema["exclusiveMaximum"], -step)
  const given = schema["default"]
  if (!isDefault(schema, type === "integer" ? whole : Number.isFinite)) return wrongDefault
  return Result.succeed({
    type,
    ...text(schema),
    ...(minimum === undefined ? undefined : { minimum }),
    ...(maximum === undefined ? undefined : { maximum }),
    ...(typeof given === "number" ? { default: given } : undefined)
  })
}

const toggle = (schema: JsonObject): Result.Result<Property, string> => {
  const given = schema["default"]
  if (!isDefault(schema, (u) => typeof u === "boolean")) return wrongDefault
  return Result.succeed({
    type: "boolean",
    ...text(schema),
    ...(typeof given === "boolean" ? { default: given } : undefined)
  })
}

const propertyOf = (schema: JsonObject, root: JsonObject): Result.Result<Property, string> => {
  const choices = choicesOf(schema, root)
  if (choices !== undefined) return single(schema, choices)
  const { type } = schema
  if (schema["enum"] !== undefined) return Result.fail("only strings can be chosen from")
  switch (type) {
    case "string":
      return free(schema)
    case "number":
    case "integer":
      return numeric(schema, type)
    case "boolean":
      return toggle(schema)
    case "array":
      return several(schema, root)
    default:
      return Result.fail("a form holds texts, numbers, yes or no, and choices of strings, side by side")
  }
}

const field = (schema: unknown, root: JsonObject): Field => {
  if (!isJsonObject(schema)) return Result.fail("it says nothing of its values")
  const { nullable, schema: inner } = plain(schema, root)
  return Result.map(propertyOf(inner, root), (property) => ({ property, nullable }))
}

/** A struct without fields is described by what it is not. */
const isEmpty = (schema: JsonObject): boolean => isJsonObject(schema["not"]) && Object.keys(schema).length === 1

/** The form of an object's schema. What clients cannot be shown, such as a pattern, is left to the check of the answer. */
export const toFields = (schema: JsonObject): Result.Result<Fields, Fault> => {
  const properties = isEmpty(schema) ? {} : schema["properties"] ?? (schema["type"] === "object" ? {} : undefined)
  if (schema["type"] !== "object" && !isEmpty(schema)) return Result.fail({ field: "", reason: "a form is an object" })
  if (!isJsonObject(properties)) return Result.fail({ field: "", reason: "a form is an object" })
  if (isJsonObject(schema["additionalProperties"])) {
    return Result.fail({ field: "", reason: "the fields of a form have names" })
  }
  const known = new Map<string, Property>()
  const nullable = new Set<string>()
  const lists = new Set<string>()
  const defaults = new Map<string, unknown>()
  for (const [name, one] of Object.entries(properties)) {
    const found = field(one, schema)
    if (Result.isFailure(found)) return Result.fail({ field: name, reason: found.failure })
    known.set(name, found.success.property)
    const { property } = found.success
    if (found.success.nullable) nullable.add(name)
    if (property.type === "array") lists.add(name)
    if (property.default !== undefined) defaults.set(name, property.default)
  }
  const listed = schema["required"]
  const required = isStrings(listed) ? listed.filter((name) => known.has(name) && !nullable.has(name)) : []
  const absent = new Set(isStrings(listed) ? [...nullable].filter((name) => listed.includes(name)) : [])
  const form: FormSchema = { type: "object", properties: Object.fromEntries(known) }
  return Result.succeed({
    form: required.length === 0 ? form : { ...form, required },
    nullable: absent,
    lists,
    defaults
  })
}

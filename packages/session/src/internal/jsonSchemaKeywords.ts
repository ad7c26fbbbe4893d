/** The keywords that are enforced, the shape each must have, and the dialects that know it. */
import { isJsonObject } from "@mcpfx/schema/JsonRpc"

export type Dialect = "2020-12" | "draft-07"

/** Where a keyword keeps schemas, if it does; otherwise what its value must be. */
export type Kind = "schema" | "schemas" | "schemaMap" | "schemaOrSchemas" | "dependencies" | "value"

export interface Keyword {
  readonly kind: Kind
  readonly is: (u: unknown) => boolean
  readonly expected: string
  /** Only in this dialect; in the other it is a remark. */
  readonly only?: Dialect
  /** Its schemas apply to the value itself, not to something in it. */
  readonly inPlace?: boolean
}

const isString = (u: unknown): u is string => typeof u === "string"
const isNumber = (u: unknown): u is number => typeof u === "number" && Number.isFinite(u)
const isCount = (u: unknown): boolean => typeof u === "number" && Number.isInteger(u) && u >= 0
const isStrings = (u: unknown): u is ReadonlyArray<string> => Array.isArray(u) && u.every(isString)

/** A JSON Schema: an object or a boolean. */
export const isSchema = (u: unknown): boolean => typeof u === "boolean" || isJsonObject(u)

const isSchemas = (u: unknown): boolean => Array.isArray(u) && u.length > 0 && u.every(isSchema)
const isSchemaMap = (u: unknown): boolean => isJsonObject(u) && Object.values(u).every(isSchema)

const types = new Set<unknown>(["null", "boolean", "object", "array", "number", "string", "integer"])
const isType = (u: unknown): boolean =>
  Array.isArray(u) ? u.length > 0 && u.every((one) => types.has(one)) : types.has(u)

const value = (is: (u: unknown) => boolean, expected: string): Keyword => ({ kind: "value", is, expected })
const only = (dialect: Dialect, keyword: Keyword): Keyword => ({ ...keyword, only: dialect })
const inPlace = (keyword: Keyword): Keyword => ({ ...keyword, inPlace: true })

const schema: Keyword = { kind: "schema", is: isSchema, expected: "a schema" }
const schemas: Keyword = { kind: "schemas", is: isSchemas, expected: "a list of schemas, not empty" }
const schemaMap: Keyword = { kind: "schemaMap", is: isSchemaMap, expected: "an object of schemas" }
const text = value(isString, "a string")
const number = value(isNumber, "a number")
const count = value(isCount, "an integer from 0 on")

export const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["$schema", text],
  ["$id", text],
  ["$ref", text],
  ["$anchor", only("2020-12", text)],
  ["$dynamicAnchor", only("2020-12", text)],
  ["$dynamicRef", only("2020-12", text)],
  ["$defs", schemaMap],
  ["definitions", schemaMap],
  ["type", value(isType, "a type or a list of types")],
  ["enum", value(Array.isArray, "a list")],
  ["const", value(() => true, "any value")],
  ["allOf", inPlace(schemas)],
  ["anyOf", inPlace(schemas)],
  ["oneOf", inPlace(schemas)],
  ["not", inPlace(schema)],
  ["if", inPlace(schema)],
  ["then", inPlace(schema)],
  ["else", inPlace(schema)],
  ["properties", schemaMap],
  ["patternProperties", schemaMap],
  ["additionalProperties", schema],
  ["propertyNames", schema],
  ["unevaluatedProperties", only("2020-12", schema)],
  ["dependentSchemas", only("2020-12", inPlace(schemaMap))],
  [
    "dependentRequired",
    only("2020-12", value((u) => isJsonObject(u) && Object.values(u).every(isStrings), "lists of names"))
  ],
  [
    "dependencies",
    inPlace({
      kind: "dependencies",
      is: (u) => isJsonObject(u) && Object.values(u).every((one) => isStrings(one) || isSchema(one)),
      expected: "an object of schemas and lists of names"
    })
  ],
  ["required", value(isStrings, "a list of names")],
  ["minProperties", count],
  ["maxProperties", count],
  ["prefixItems", only("2020-12", schemas)],
  [
    "items",
    { kind: "schemaOrSchemas", is: (u) => isSchema(u) || (Array.isArray(u) && u.every(isSchema)), expected: "a schema" }
  ],
  ["additionalItems", schema],
  ["unevaluatedItems", only("2020-12", schema)],
  ["contains", schema],
  ["minContains", only("2020-12", count)],
  ["maxContains", only("2020-12", count)],
  ["minItems", count],
  ["maxItems", count],
  ["uniqueItems", value((u) => typeof u === "boolean", "a boolean")],
  ["minimum", number],
  ["maximum", number],
  ["exclusiveMinimum", number],
  ["exclusiveMaximum", number],
  ["multipleOf", value((u) => isNumber(u) && u > 0, "a number above 0")],
  ["minLength", count],
  ["maxLength", count],
  ["pattern", text],
  ["format", text]
])

const dialects: ReadonlyMap<string, Dialect> = new Map([
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["http://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["http://json-schema.org/draft-07/schema", "draft-07"],
  ["https://json-schema.org/draft-07/schema", "draft-07"]
])

/** The dialect of a `$schema`; an empty fragment says nothing. */
export const dialectOf = (uri: string): Dialect | undefined => dialects.get(uri.endsWith("#") ? uri.slice(0, -1) : uri)

/**
 * Puts a generated JSON Schema in the plainest equal form: what generators write as `allOf` of remarks becomes plain members
 * that every reader of tools understands, a choice between bare types becomes a list of types, and `true` and `{}` for
 * additional properties, which say nothing, go.
 */
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"

const remarks = new Set([
  "title",
  "description",
  "default",
  "examples",
  "readOnly",
  "writeOnly",
  "deprecated",
  "$comment"
])
/** Assertions on one value that mean the same next to any other member. */
const assertions = new Set([
  "type",
  "enum",
  "const",
  "format",
  "pattern",
  "multipleOf",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "contentEncoding",
  "contentMediaType"
])

const isRemark = (key: string): boolean => remarks.has(key) || key.startsWith("x-")

/** `left` with the members of `right` in it, or `undefined` where that would say something else. */
const merge = (left: JsonObject, right: JsonObject): JsonObject | undefined => {
  const isReference = "$ref" in left
  for (const [key, value] of Object.entries(right)) {
    if (isRemark(key)) continue
    if (isReference || !assertions.has(key) || (key in left && left[key] !== value)) return undefined
  }
  return { ...left, ...right }
}

const flattenAllOf = (schema: JsonObject): JsonObject => {
  const { allOf, ...base } = schema
  if (!Array.isArray(allOf)) return schema
  const members = allOf.filter(isJsonObject)
  const [only] = members
  // a reference with remarks comes as `allOf` of both
  const [start, rest] = Object.keys(base).length === 0 && only !== undefined && "$ref" in only
    ? [only, members.slice(1)]
    : [base, members]
  let out: JsonObject = start
  const kept: Array<JsonObject> = []
  for (const member of rest) {
    const merged = merge(out, member)
    if (merged === undefined) kept.push(member)
    else out = merged
  }
  if (kept.length === 0) return out
  return start === base ? { ...out, allOf: kept } : { allOf: [out, ...kept] }
}

const bareType = (schema: unknown): string | undefined =>
  isJsonObject(schema) && Object.keys(schema).length === 1 && typeof schema["type"] === "string"
    ? schema["type"]
    : undefined

const flattenAnyOf = (schema: JsonObject): JsonObject => {
  const { anyOf, ...rest } = schema
  if (!Array.isArray(anyOf) || "type" in rest) return schema
  const types = anyOf.map(bareType)
  return types.length > 1 && types.every((type) => type !== undefined) && new Set(types).size === types.length
    ? { type: types, ...rest }
    : schema
}

const dropOpen = (schema: JsonObject): JsonObject => {
  const { additionalProperties, ...rest } = schema
  const open = additionalProperties === true ||
    (isJsonObject(additionalProperties) && Object.keys(additionalProperties).length === 0)
  return open ? rest : schema
}

/** `allOf` members that say only `type: object`, where that is said already. */
const dropEmptyMembers = (schema: JsonObject): JsonObject => {
  const { allOf, ...rest } = schema
  if (!Array.isArray(allOf) || schema["type"] !== "object") return schema
  const kept = allOf.filter((member) => bareType(member) !== "object")
  return kept.length === allOf.length ? schema : kept.length === 0 ? rest : { ...rest, allOf: kept }
}

const schemaKeys = new Set(["items", "additionalProperties", "propertyNames", "not", "contains", "if", "then", "else"])
const schemaListKeys = new Set(["prefixItems", "allOf", "anyOf", "oneOf"])
const schemaMapKeys = new Set(["properties", "patternProperties", "$defs", "dependentSchemas"])

const tidyUnknown = (value: unknown): unknown => isJsonObject(value) ? tidy(value) : value

const tidyMember = (key: string, value: unknown): unknown => {
  if (schemaKeys.has(key)) return tidyUnknown(value)
  if (schemaListKeys.has(key) && Array.isArray(value)) return value.map(tidyUnknown)
  if (schemaMapKeys.has(key) && isJsonObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, tidyUnknown(one)]))
  }
  return value
}

/** The plain form of a schema and of everything in it. Data such as `default` and `enum` are left alone. */
export const tidy = (schema: JsonObject): JsonObject => {
  const members = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, tidyMember(key, value)]))
  return dropOpen(flattenAnyOf(flattenAllOf(dropEmptyMembers(dropOpen(members)))))
}

/** Values of a JSON Schema, for the keywords that the schemas of the specification use. */
import fc from "fast-check"
import type { Version } from "../../src/Revision.ts"
import { definitions, isMap, type Json, type JsonMap } from "./official.ts"

const strings = (u: Json | undefined): ReadonlyArray<string> =>
  Array.isArray(u) ? u.filter((item) => typeof item === "string") : []

const anyJson = fc.jsonValue({ maxDepth: 1 })
const key = fc.string({ minLength: 1, maxLength: 4 })

const ofType = (type: string, schema: JsonMap, go: (schema: Json) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  switch (type) {
    case "string":
      return fc.string({ maxLength: 8 })
    case "integer":
      return fc.integer({
        min: typeof schema["minimum"] === "number" ? schema["minimum"] : -1_000_000,
        max: typeof schema["maximum"] === "number" ? schema["maximum"] : 1_000_000
      })
    case "number":
      return fc.double({
        noNaN: true,
        min: typeof schema["minimum"] === "number" ? schema["minimum"] : -1e9,
        max: typeof schema["maximum"] === "number" ? schema["maximum"] : 1e9
      }).map((n) => n === 0 ? 0 : n)
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array":
      return fc.array(go(schema["items"] ?? {}), { maxLength: 2 })
    case "object":
      return object(schema, go)
    default:
      throw new Error(`no type ${type}`)
  }
}

const object = (schema: JsonMap, go: (schema: Json) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => {
  const properties = isMap(schema["properties"]) ? schema["properties"] : {}
  const required = strings(schema["required"])
  const named = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, go(inner)])),
    { requiredKeys: required.filter((name) => name in properties) }
  )
  const more = schema["additionalProperties"]
  if (Object.keys(properties).length > 0) return named
  return fc.dictionary(key, isMap(more) && Object.keys(more).length > 0 ? go(more) : anyJson, { maxKeys: 2 })
}

/** Values that the definition `name` of `version` allows, without members it does not name. */
export const official = (version: Version, name: string): fc.Arbitrary<unknown> => {
  const go = (schema: Json): fc.Arbitrary<unknown> => {
    if (!isMap(schema)) return anyJson
    const next = go
    const ref = schema["$ref"]
    if (typeof ref === "string") {
      const target = definitions[version][ref.slice(ref.lastIndexOf("/") + 1)]
      if (target === undefined) throw new Error(`no ${ref}`)
      return go(target)
    }
    if (schema["const"] !== undefined) return fc.constant(schema["const"])
    if (Array.isArray(schema["enum"])) return fc.constantFrom(...schema["enum"])
    if (Array.isArray(schema["anyOf"])) return fc.oneof(...schema["anyOf"].map(next))
    if (Array.isArray(schema["allOf"])) {
      return fc.tuple(...schema["allOf"].map(next)).map((parts) => Object.assign({}, ...parts))
    }
    const type = schema["type"]
    if (Array.isArray(type)) return fc.oneof(...strings(type).map((one) => ofType(one, schema, next)))
    return typeof type === "string" ? ofType(type, schema, next) : anyJson
  }
  return go({ $ref: `#/${name}` })
}

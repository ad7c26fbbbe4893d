/**
 * Arguments of tools that HTTP clients repeat in headers: the `x-mcp-header` keyword in an input schema.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { isJsonObject, type JsonObject } from "./JsonRpc.ts"
import type { JsonSchema } from "./JsonSchema.ts"

/**
 * The keyword, as it stands in a JSON Schema and among the annotations of a schema.
 *
 * @category constants
 * @since 0.1.0
 */
export const keyword = "x-mcp-header"

/**
 * One argument that is mirrored.
 *
 * @category models
 * @since 0.1.0
 */
export interface HeaderParam {
  /** Member names from the root of the arguments. */
  readonly path: ReadonlyArray<string>
  /** What follows `Mcp-Param-` in the name of the header, as written. */
  readonly header: string
  readonly type: "string" | "integer" | "boolean"
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const mapKeywords = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(["default", "enum", "const", "examples", keyword])

/** Names from the innermost out, so that a place costs the same at every depth. */
interface Path {
  readonly name: string
  readonly outer: Path | undefined
}

interface Place {
  readonly schema: JsonObject
  readonly path: Path | undefined
  /** Reached through `properties` alone. */
  readonly direct: boolean
}

const toArray = (path: Path | undefined): ReadonlyArray<string> => {
  const names: Array<string> = []
  for (let one = path; one !== undefined; one = one.outer) names.push(one.name)
  return names.reverse()
}

const nested = (value: unknown, path: Path): ReadonlyArray<Place> =>
  Array.isArray(value)
    ? value.filter(isJsonObject).map((schema) => ({ schema, path, direct: false }))
    : isJsonObject(value)
    ? [{ schema: value, path, direct: false }]
    : []

const below = ({ direct, path, schema }: Place): ReadonlyArray<Place> =>
  Object.entries(schema).flatMap(([key, value]): ReadonlyArray<Place> => {
    if (dataKeywords.has(key)) return []
    if (!mapKeywords.has(key) || !isJsonObject(value)) return nested(value, { name: key, outer: path })
    return Object.entries(value).flatMap(([name, one]): ReadonlyArray<Place> => {
      const at: Path = { name, outer: path }
      return key !== "properties" ? nested(one, at) : isJsonObject(one) ? [{ schema: one, path: at, direct }] : []
    })
  })

const isMirrored = (type: unknown): type is HeaderParam["type"] =>
  type === "string" || type === "integer" || type === "boolean"

const read = (place: Place): Result.Result<HeaderParam, string> => {
  const { direct, schema } = place
  const path = toArray(place.path)
  const header = schema[keyword]
  const where = path.length === 0 ? "at the root" : `at "${path.join(".")}"`
  if (typeof header !== "string" || !token.test(header)) return Result.fail(`${keyword} ${where} is not a header token`)
  if (!direct || path.length === 0) {
    return Result.fail(`${keyword} ${where} is not on a property reached through properties alone`)
  }
  const type = schema["type"]
  return isMirrored(type)
    ? Result.succeed({ path, header, type })
    : Result.fail(`${keyword} ${where} is on ${JSON.stringify(type) ?? "no type"}, not on a string, integer or boolean`)
}

/**
 * The mirrored arguments of an input schema, or one sentence on why the whole tool is not to be used over HTTP (XH-06): a
 * name that is empty or no token (XH-02), the same name twice whatever its case (XH-02), a property that is not a string,
 * integer or boolean (XH-04), or one that is not reached through `properties` alone (XH-05).
 *
 * **Example** (Reading an input schema)
 *
 * ```ts
 * import { HeaderParam } from "@mcpfx/schema"
 *
 * HeaderParam.headerParams({
 *   type: "object",
 *   properties: { region: { type: "string", "x-mcp-header": "Region" } }
 * })
 * // => Result.succeed([{ path: ["region"], header: "Region", type: "string" }])
 * ```
 *
 * @category decoding
 * @since 0.1.0
 */
export const headerParams = (inputSchema: JsonSchema): Result.Result<ReadonlyArray<HeaderParam>, string> => {
  const params: Array<HeaderParam> = []
  const names = new Set<string>()
  const open: Array<Place> = [{ schema: inputSchema, path: undefined, direct: true }]
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    if (Object.hasOwn(place.schema, keyword)) {
      const param = read(place)
      if (Result.isFailure(param)) return Result.fail(param.failure)
      const name = param.success.header.toLowerCase()
      if (names.has(name)) return Result.fail(`${keyword} "${param.success.header}" is claimed twice`)
      names.add(name)
      params.push(param.success)
    }
    // reversed, so that properties come out in their own order
    open.push(...[...below(place)].reverse())
  }
  return Result.succeed(params)
}

/**
 * The value of a mirrored argument: `undefined`, and so no header, where it is absent, `null` or of another kind (XH-08).
 *
 * @category getters
 * @since 0.1.0
 */
export const valueOf = (param: HeaderParam, args: JsonObject): string | number | boolean | undefined => {
  let value: unknown = args
  for (const name of param.path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : undefined
}

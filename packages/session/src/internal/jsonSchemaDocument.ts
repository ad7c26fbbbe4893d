/**
 * Reads a JSON Schema once: checks the shape of each keyword, counts, finds what can be referred to, and resolves every
 * reference, so that nothing about the schema itself can go wrong later. Nothing is fetched and nothing is changed.
 */
import { isJsonObject, type JsonObject } from "@mcpfx/schema/JsonRpc"
import * as Result from "effect/Result"
import {
  ExternalRef,
  InvalidSchema,
  type JsonSchemaError,
  SchemaTooComplex,
  UnsupportedDialect
} from "../JsonSchemaError.ts"
import { type Dialect, dialectOf, isSchema, type Keyword, keywords } from "./jsonSchemaKeywords.ts"

export interface Bounds {
  readonly maxDepth: number
  readonly maxSubschemas: number
}

export type AnySchema = JsonObject | boolean

export interface Document {
  readonly dialect: Dialect
  readonly root: AnySchema
  /** Every schema object in it. */
  readonly schemas: ReadonlyArray<JsonObject>
  /** Where a `$ref` or `$dynamicRef` of this schema leads. */
  readonly target: (schema: JsonObject, keyword: "$ref" | "$dynamicRef") => AnySchema | undefined
  /** The JSON Pointer of a schema object. */
  readonly pathOf: (schema: JsonObject) => string
}

interface Place {
  readonly path: string
  /** The URI that relative references start from, without fragment. */
  readonly base: string
}

interface Reader {
  readonly dialect: Dialect
  readonly bounds: Bounds
  readonly places: Map<JsonObject, Place>
  /** Schemas with a URI of their own, by it. */
  readonly resources: Map<string, JsonObject>
  readonly anchors: Map<string, JsonObject>
  readonly dynamicAnchors: Map<string, number>
  count: number
}

type Done<A = void> = Result.Result<A, JsonSchemaError>

const done: Done = Result.succeed(undefined)
const invalid = (path: string, reason: string): Done<never> => Result.fail(new InvalidSchema({ path, reason }))

/** References of a schema without an `$id` are relative to this, which no reference can spell by accident. */
const rootBase = "mcpfx-schema://root/"

const token = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1")

const resolveUri = (reference: string, base: string): readonly [uri: string, fragment: string] | undefined => {
  const url = Result.getOrUndefined(Result.try(() => new URL(reference, base)))
  if (url === undefined) return undefined
  const fragment = url.hash.slice(1)
  url.hash = ""
  return [url.href, Result.getOrElse(Result.try(() => decodeURIComponent(fragment)), () => fragment)]
}

/** In draft-07 a reference hides what stands next to it. */
const isBareReference = (reader: Reader, schema: JsonObject): boolean =>
  reader.dialect === "draft-07" && typeof schema["$ref"] === "string"

const keywordFor = (reader: Reader, name: string): Keyword | undefined => {
  const keyword = keywords.get(name)
  return keyword?.only === undefined || keyword.only === reader.dialect ? keyword : undefined
}

const declare = (table: Map<string, JsonObject>, uri: string, schema: JsonObject, path: string): Done => {
  const known = table.get(uri)
  if (known !== undefined && known !== schema) return invalid(path, "its identifier is used twice")
  table.set(uri, schema)
  return done
}

/** Takes down a schema's own names; gives the base of what is in it. */
const identify = (reader: Reader, schema: JsonObject, { base, path }: Place): Done<string> => {
  if (isBareReference(reader, schema)) return Result.succeed(base)
  let own = base
  const id = schema["$id"]
  if (typeof id === "string") {
    const resolved = resolveUri(id, base)
    if (resolved === undefined) return invalid(`${path}/$id`, "it is not a URI reference")
    const [uri, fragment] = resolved
    const isAnchor = id.startsWith("#")
    const declared = isAnchor
      ? declare(reader.anchors, `${base}#${fragment}`, schema, path)
      : declare(reader.resources, uri, schema, path)
    if (Result.isFailure(declared)) return Result.fail(declared.failure)
    if (!isAnchor) own = uri
  }
  if (reader.dialect === "draft-07") return Result.succeed(own)
  for (const keyword of ["$anchor", "$dynamicAnchor"]) {
    const name = schema[keyword]
    if (typeof name !== "string") continue
    const declared = declare(reader.anchors, `${own}#${name}`, schema, path)
    if (Result.isFailure(declared)) return Result.fail(declared.failure)
    if (keyword === "$dynamicAnchor") reader.dynamicAnchors.set(name, (reader.dynamicAnchors.get(name) ?? 0) + 1)
  }
  return Result.succeed(own)
}

/** The schemas a keyword holds, each with its place below it. */
const held = (keyword: Keyword, value: unknown): ReadonlyArray<readonly [suffix: string, schema: unknown]> => {
  switch (keyword.kind) {
    case "value":
      return []
    case "schema":
      return [["", value]]
    case "schemas":
    case "schemaOrSchemas":
      return Array.isArray(value) ? value.map((one, index) => [`/${index}`, one]) : [["", value]]
    case "schemaMap":
    case "dependencies":
      return isJsonObject(value)
        ? Object.entries(value).flatMap(([name, one]) => isSchema(one) ? [[`/${token(name)}`, one] as const] : [])
        : []
  }
}

const walk = (reader: Reader, schema: unknown, place: Place, depth: number): Done => {
  const { path } = place
  if (depth > reader.bounds.maxDepth) {
    return Result.fail(
      new SchemaTooComplex({ path, limit: "depth", reason: `it is nested more than ${reader.bounds.maxDepth} deep` })
    )
  }
  reader.count++
  if (reader.count > reader.bounds.maxSubschemas) {
    const reason = `it holds more than ${reader.bounds.maxSubschemas} schemas`
    return Result.fail(new SchemaTooComplex({ path, limit: "subschemas", reason }))
  }
  if (!isJsonObject(schema) || reader.places.has(schema)) return done
  const base = identify(reader, schema, place)
  if (Result.isFailure(base)) return Result.fail(base.failure)
  reader.places.set(schema, { path, base: base.success })
  for (const [name, value] of Object.entries(schema)) {
    const keyword = keywordFor(reader, name)
    if (keyword === undefined) continue
    if (!keyword.is(value)) return invalid(`${path}/${token(name)}`, `${name} must be ${keyword.expected}`)
    if (name === "$schema" && depth > 0 && dialectOf(String(value)) !== reader.dialect) {
      return Result.fail(new UnsupportedDialect({ dialect: String(value) }))
    }
    for (const [suffix, one] of held(keyword, value)) {
      const walked = walk(reader, one, { path: `${path}/${token(name)}${suffix}`, base: base.success }, depth + 1)
      if (Result.isFailure(walked)) return walked
    }
  }
  return done
}

const followPointer = (from: JsonObject, pointer: string): unknown => {
  let at: unknown = from
  for (const part of pointer.split("/").slice(1)) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~")
    if (Array.isArray(at)) at = at[Number(name)]
    else if (isJsonObject(at) && Object.hasOwn(at, name)) at = at[name]
    else return undefined
  }
  return at
}

const isAnySchema = (u: unknown): u is AnySchema => isSchema(u)

const resolve = (reader: Reader, reference: string, place: Place): Done<AnySchema> => {
  const resolved = resolveUri(reference, place.base)
  if (resolved === undefined) return invalid(place.path, "a reference is not a URI reference")
  const [uri, fragment] = resolved
  const resource = reader.resources.get(uri)
  if (resource === undefined) return Result.fail(new ExternalRef({ path: place.path, ref: reference }))
  const target = fragment === "" || fragment.startsWith("/")
    ? followPointer(resource, fragment)
    : reader.anchors.get(`${uri}#${fragment}`)
  if (!isAnySchema(target)) return invalid(place.path, `the reference ${JSON.stringify(reference)} leads nowhere`)
  if (!isJsonObject(target) || reader.places.has(target)) return Result.succeed(target)
  // what a pointer finds under a keyword that is none has not been read yet
  const base = reader.places.get(resource)?.base ?? uri
  return Result.map(walk(reader, target, { path: `${place.path}(${reference})`, base }, 0), () => target)
}

const dynamicName = (schema: JsonObject): string | undefined => {
  const reference = schema["$dynamicRef"]
  if (typeof reference !== "string") return undefined
  const hash = reference.indexOf("#")
  return hash === -1 ? undefined : reference.slice(hash + 1)
}

type Targets = Map<JsonObject, { readonly $ref?: AnySchema; readonly $dynamicRef?: AnySchema }>

/** Resolves all references, also those of schemas that are only found on the way. */
const resolveAll = (reader: Reader): Done<Targets> => {
  const targets: Targets = new Map()
  // a Map visits what is added while it is walked
  for (const [schema, place] of reader.places) {
    let found: { readonly $ref?: AnySchema; readonly $dynamicRef?: AnySchema } = {}
    for (const keyword of ["$ref", "$dynamicRef"] as const) {
      const reference = schema[keyword]
      if (typeof reference !== "string" || keywordFor(reader, keyword) === undefined) continue
      if (keyword === "$dynamicRef" && (reader.dynamicAnchors.get(dynamicName(schema) ?? "") ?? 0) > 1) {
        const reason = "a dynamic reference could lead to several places"
        return Result.fail(new SchemaTooComplex({ path: place.path, limit: "references", reason }))
      }
      const target = resolve(reader, reference, place)
      if (Result.isFailure(target)) return Result.fail(target.failure)
      found = { ...found, [keyword]: target.success }
    }
    targets.set(schema, found)
  }
  return Result.succeed(targets)
}

const inPlaceSchemas = (reader: Reader, schema: JsonObject, targets: Targets): ReadonlyArray<JsonObject> => {
  const found = targets.get(schema)
  const own = isBareReference(reader, schema) ? [] : Object.entries(schema).flatMap(([name, value]) => {
    const keyword = keywordFor(reader, name)
    return keyword?.inPlace === true ? held(keyword, value).map(([, one]) => one) : []
  })
  return [found?.$ref, found?.$dynamicRef, ...own].filter((one) => isJsonObject(one))
}

/** A schema that applies itself to the same value again would never come to an end. */
const findLoop = (reader: Reader, targets: Targets): Done => {
  const finished = new Set<JsonObject>()
  const open = new Set<JsonObject>()
  for (const start of reader.places.keys()) {
    const stack: Array<{ readonly schema: JsonObject; readonly next: Array<JsonObject> }> = []
    const enter = (schema: JsonObject): boolean => {
      if (open.has(schema)) return false
      if (finished.has(schema)) return true
      open.add(schema)
      stack.push({ schema, next: [...inPlaceSchemas(reader, schema, targets)] })
      return true
    }
    enter(start)
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.next.pop()
      if (next === undefined) {
        open.delete(top.schema)
        finished.add(top.schema)
        stack.pop()
      } else if (!enter(next)) {
        return invalid(reader.places.get(next)?.path ?? "", "it applies itself to the same value without end")
      }
    }
  }
  return done
}

const dialectFor = (root: AnySchema): Done<Dialect> => {
  const uri = isJsonObject(root) ? root["$schema"] : undefined
  if (uri === undefined) return Result.succeed("2020-12")
  if (typeof uri !== "string") return invalid("/$schema", "$schema must be a string")
  const dialect = dialectOf(uri)
  return dialect === undefined ? Result.fail(new UnsupportedDialect({ dialect: uri })) : Result.succeed(dialect)
}

/** Reads a schema, or says why it is not used. */
export const readDocument = (root: AnySchema, bounds: Bounds): Result.Result<Document, JsonSchemaError> =>
  Result.gen(function*() {
    const dialect = yield* dialectFor(root)
    const reader: Reader = {
      dialect,
      bounds,
      places: new Map(),
      resources: new Map(),
      anchors: new Map(),
      dynamicAnchors: new Map(),
      count: 0
    }
    if (isJsonObject(root)) reader.resources.set(rootBase, root)
    yield* walk(reader, root, { path: "", base: rootBase }, 0)
    const targets = yield* resolveAll(reader)
    yield* findLoop(reader, targets)
    return {
      dialect,
      root,
      schemas: [...reader.places.keys()],
      target: (schema, keyword) => targets.get(schema)?.[keyword],
      pathOf: (schema) => reader.places.get(schema)?.path ?? ""
    }
  })

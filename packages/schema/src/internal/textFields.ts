/** Fields whose values travel as strings: arguments of prompts, variables of URI templates. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import { isJsonObject } from "../JsonRpc.ts"
import type { SchemaMismatch } from "../SchemaMismatch.ts"
import type { Fields } from "./contractSpec.ts"
import { mismatch, schemaSide, type Side, type SideName } from "./side.ts"

export interface TextField {
  readonly name: string
  readonly title: string | undefined
  readonly description: string | undefined
  readonly required: boolean
  /** What it is written as; `undefined` for neither, which no argument can be. */
  readonly writtenAs: "text" | "list" | undefined
}

const encodedSide = (ast: SchemaAST.AST): SchemaAST.AST => {
  const last = ast.encoding?.at(-1)
  return last === undefined ? ast : encodedSide(last.to)
}

const isText = (ast: SchemaAST.AST): boolean => {
  const encoded = encodedSide(ast)
  switch (encoded._tag) {
    case "String":
    case "TemplateLiteral":
      return true
    case "Literal":
      return typeof encoded.literal === "string"
    case "Enum":
      return encoded.enums.every(([, value]) => typeof value === "string")
    case "Union": {
      const members = encoded.types.filter((type) => encodedSide(type)._tag !== "Undefined")
      return members.length > 0 && members.every(isText)
    }
    default:
      return false
  }
}

const isTextList = (ast: SchemaAST.AST): boolean => {
  const encoded = encodedSide(ast)
  if (encoded._tag === "Arrays") return [...encoded.elements, ...encoded.rest].every(isText)
  if (encoded._tag !== "Union") return false
  const members = encoded.types.filter((type) => encodedSide(type)._tag !== "Undefined")
  return members.length > 0 && members.every(isTextList)
}

const remark = (ast: SchemaAST.AST, key: "title" | "description"): string | undefined => {
  for (const bag of [ast.context?.annotations, ast.checks?.at(-1)?.annotations, ast.annotations]) {
    const value = bag?.[key]
    if (typeof value === "string") return value
  }
  const last = ast.encoding?.at(-1)
  const below = ast._tag === "Union" && ast.types.some(({ _tag }) => _tag === "Undefined") ? ast.types : []
  for (const next of [...below, ...(last === undefined ? [] : [last.to])]) {
    const value = remark(next, key)
    if (value !== undefined) return value
  }
  return undefined
}

const codecOf = (fields: Fields) => Schema.toCodecStringTree(Schema.Struct(fields))

/** One entry a field, in the order of the fields. */
export const describeFields = (fields: Fields): ReadonlyArray<TextField> => {
  const { ast } = codecOf(fields)
  const own = Schema.Struct(fields).ast.propertySignatures
  const written = ast._tag === "Objects" ? ast.propertySignatures : []
  return own.map(({ name, type }, index) => {
    const encoded = written[index]?.type ?? type
    return {
      name: String(name),
      title: remark(type, "title"),
      description: remark(type, "description"),
      required: encodedSide(encoded).context?.isOptional !== true,
      writtenAs: isText(encoded) ? "text" : isTextList(encoded) ? "list" : undefined
    }
  })
}

export interface TextSide {
  readonly decode: (u: unknown) => Result.Result<unknown, SchemaMismatch>
  readonly encode: (values: unknown) => Result.Result<{ readonly [name: string]: unknown }, SchemaMismatch>
}

const defined = (encoded: object): { readonly [name: string]: unknown } =>
  Object.fromEntries(Object.entries(encoded).filter(([, value]) => value !== undefined))

/** The decoder and encoder of the fields; what is absent is taken for `{}`. */
export const textSide = (name: string, side: SideName, fields: Fields): TextSide => {
  const inner: Side<unknown> = schemaSide<unknown>(name, side, () => codecOf(fields))
  const empty = Object.keys(fields).length === 0
  return {
    decode: (u) => {
      const given = u === undefined ? {} : u
      if (!isJsonObject(given)) return mismatch(name, side, "arguments must be an object")
      return empty ? Result.succeed({}) : inner.decode(given)
    },
    encode: (values) => {
      if (empty) return Result.succeed({})
      const encoded = inner.encode(values === undefined ? {} : values)
      if (Result.isFailure(encoded)) return Result.fail(encoded.failure)
      return isJsonObject(encoded.success)
        ? Result.succeed(defined(encoded.success))
        : mismatch(name, side, "arguments must be an object")
    }
  }
}

/** Expansion of RFC 6570, levels 1 to 4 (section 3.2). */
import * as Result from "effect/Result"
import { encodeReserved, encodeUnreserved, isEncodable } from "./percent.ts"
import type { Expression, Operator, Part, Variable } from "./uriTemplateParse.ts"

export type Scalar = string | number | boolean
export type Value =
  | Scalar
  | ReadonlyArray<Scalar>
  | { readonly [key: string]: Scalar | null | undefined }
  | null
  | undefined

export interface Fault {
  readonly variable: string
  readonly reason: string
}

/** One row of the table in RFC 6570, appendix A. */
interface Style {
  readonly first: string
  readonly separator: string
  readonly named: boolean
  /** What follows the name of an empty value. */
  readonly ifEmpty: string
  readonly encode: (text: string) => string
}

const style = (first: string, separator: string, named = false, ifEmpty = "", encode = encodeUnreserved): Style => ({
  first,
  separator,
  named,
  ifEmpty,
  encode
})

const styles: Readonly<Record<Operator, Style>> = {
  "": style("", ","),
  "+": style("", ",", false, "", encodeReserved),
  "#": style("#", ",", false, "", encodeReserved),
  ".": style(".", "."),
  "/": style("/", "/"),
  ";": style(";", ";", true),
  "?": style("?", "&", true, "="),
  "&": style("&", "&", true, "=")
}

const isList = (value: Value): value is ReadonlyArray<Scalar> => Array.isArray(value)

const named = (by: Style, name: string, encoded: string): string =>
  encoded === "" ? `${name}${by.ifEmpty}` : `${name}=${encoded}`

const expandScalar = (by: Style, spec: Variable, value: Scalar): string => {
  const text = String(value)
  const encoded = by.encode(spec.prefix === undefined ? text : Array.from(text).slice(0, spec.prefix).join(""))
  return by.named ? named(by, spec.name, encoded) : encoded
}

const expandList = (by: Style, spec: Variable, items: ReadonlyArray<Scalar>): string => {
  const encoded = items.map((item) => by.encode(String(item)))
  if (spec.explode) return encoded.map((item) => by.named ? named(by, spec.name, item) : item).join(by.separator)
  return by.named ? named(by, spec.name, encoded.join(",")) : encoded.join(",")
}

const expandPairs = (by: Style, spec: Variable, pairs: ReadonlyArray<readonly [string, Scalar]>): string => {
  const encoded = pairs.map(([key, item]): readonly [string, string] => [by.encode(key), by.encode(String(item))])
  if (spec.explode) {
    return encoded.map(([key, item]) => by.named ? named(by, key, item) : `${key}=${item}`).join(by.separator)
  }
  const flat = encoded.map(([key, item]) => `${key},${item}`).join(",")
  return by.named ? named(by, spec.name, flat) : flat
}

const definedPairs = (value: object): ReadonlyArray<readonly [string, Scalar]> =>
  Object.entries(value).flatMap(([key, item]): ReadonlyArray<readonly [string, Scalar]> =>
    item === undefined || item === null ? [] : [[key, item]]
  )

const texts = (value: Exclude<Value, null | undefined>): ReadonlyArray<string> =>
  typeof value !== "object"
    ? [String(value)]
    : isList(value)
    ? value.map(String)
    : definedPairs(value).flat().map(String)

/** `undefined` where the variable has no value. */
const expandVariable = (by: Style, spec: Variable, value: Value): Result.Result<string | undefined, Fault> => {
  if (value === undefined || value === null) return Result.succeed(undefined)
  if (!texts(value).every(isEncodable)) {
    return Result.fail({ variable: spec.name, reason: "a lone surrogate has no URI form" })
  }
  if (typeof value !== "object") return Result.succeed(expandScalar(by, spec, value))
  if (spec.prefix !== undefined) {
    return Result.fail({ variable: spec.name, reason: "a prefix cannot be taken of a list or of pairs" })
  }
  if (isList(value)) return Result.succeed(value.length === 0 ? undefined : expandList(by, spec, value))
  const pairs = definedPairs(value)
  return Result.succeed(pairs.length === 0 ? undefined : expandPairs(by, spec, pairs))
}

const expandExpression = (
  { operator, variables }: Expression,
  values: { readonly [name: string]: Value }
): Result.Result<string, Fault> => {
  const by = styles[operator]
  const expanded: Array<string> = []
  for (const spec of variables) {
    const value = Object.hasOwn(values, spec.name) ? values[spec.name] : undefined
    const one = expandVariable(by, spec, value)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    if (one.success !== undefined) expanded.push(one.success)
  }
  return Result.succeed(expanded.length === 0 ? "" : by.first + expanded.join(by.separator))
}

/** Puts values into the parts of a template. */
export const expandParts = (
  parts: ReadonlyArray<Part>,
  values: { readonly [name: string]: Value }
): Result.Result<string, Fault> => {
  let out = ""
  for (const part of parts) {
    if (part._tag === "Literal") {
      out += part.text
      continue
    }
    const expanded = expandExpression(part, values)
    if (Result.isFailure(expanded)) return expanded
    out += expanded.success
  }
  return Result.succeed(out)
}

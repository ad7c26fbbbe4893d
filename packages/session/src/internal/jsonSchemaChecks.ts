/** The keywords that look at one value and at no other schema. Messages name what the schema asks for, never the value. */
import { format as knownFormats } from "@cfworker/json-schema"
import { isJsonObject, type JsonObject } from "@mcpfx/schema/JsonRpc"
import type { Pattern } from "./jsonSchemaPatterns.ts"
import { deeper, fault, type Path, type Run, spend } from "./jsonSchemaRun.ts"
import { countCharacters, isEqual, isMultiple, isUnique } from "./jsonValue.ts"

export type Verdict = (value: unknown, run: Run, path: Path | undefined) => boolean

/** Characters that are looked at in the time of one step. */
const charactersPerStep = 32

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "nothing"
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  object: isJsonObject,
  array: Array.isArray,
  number: (value) => typeof value === "number",
  string: (value) => typeof value === "string",
  integer: Number.isInteger
}

const typeCheck = (type: unknown): Verdict => {
  const types = (Array.isArray(type) ? type : [type]).map(String)
  const tests = types.flatMap((one) => typeTests[one] ?? [])
  const message = `Expected ${types.join(" or ")}`
  return (value, run, path) => tests.some((test) => test(value)) || fault(run, path, message)
}

const enumCheck = (values: ReadonlyArray<unknown>): Verdict => {
  const message = values.length === 1 ? `Expected ${shown(values[0])}` : `Expected one of ${shown(values)}`
  return (value, run, path) => {
    const step = () => spend(run, 1)
    return values.some((one) => isEqual(value, one, step)) || fault(run, path, message)
  }
}

const onNumber = (test: (value: number) => boolean, message: string): Verdict => (value, run, path) =>
  typeof value !== "number" || test(value) || fault(run, path, message)

const onText = (test: (value: string, run: Run) => boolean, message: string): Verdict => (value, run, path) =>
  typeof value !== "string" || test(value, run) || fault(run, path, message)

const onList =
  (test: (value: ReadonlyArray<unknown>, run: Run) => boolean, message: string): Verdict => (value, run, path) =>
    !Array.isArray(value) || test(value, run) || fault(run, path, message)

const onObject = (test: (value: JsonObject) => boolean, message: string): Verdict => (value, run, path) =>
  !isJsonObject(value) || test(value) || fault(run, path, message)

const length = (text: string, run: Run): number => {
  spend(run, text.length / charactersPerStep)
  return countCharacters(text)
}

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? "" : "s"}`

/** One maker a keyword with a number for its value. */
const limits: Readonly<Record<string, (limit: number) => Verdict>> = {
  minimum: (limit) => onNumber((value) => value >= limit, `Expected at least ${limit}`),
  maximum: (limit) => onNumber((value) => value <= limit, `Expected at most ${limit}`),
  exclusiveMinimum: (limit) => onNumber((value) => value > limit, `Expected more than ${limit}`),
  exclusiveMaximum: (limit) => onNumber((value) => value < limit, `Expected less than ${limit}`),
  multipleOf: (limit) => onNumber((value) => isMultiple(value, limit), `Expected a multiple of ${limit}`),
  minLength: (limit) =>
    onText((value, run) => length(value, run) >= limit, `Expected at least ${plural(limit, "character")}`),
  maxLength: (limit) =>
    onText((value, run) => length(value, run) <= limit, `Expected at most ${plural(limit, "character")}`),
  minItems: (limit) => onList((value) => value.length >= limit, `Expected at least ${plural(limit, "item")}`),
  maxItems: (limit) => onList((value) => value.length <= limit, `Expected at most ${plural(limit, "item")}`),
  minProperties: (limit) =>
    onObject((value) => Object.keys(value).length >= limit, `Expected at least ${plural(limit, "member")}`),
  maxProperties: (limit) =>
    onObject((value) => Object.keys(value).length <= limit, `Expected at most ${plural(limit, "member")}`)
}

/** `url` is no format of JSON Schema, and its test here can take for ever. */
const formatCheck = (name: string): Verdict | undefined => {
  const test = name === "url" || !Object.hasOwn(knownFormats, name) ? undefined : knownFormats[name]
  if (test === undefined) return undefined
  return onText((value, run) => {
    spend(run, value.length / charactersPerStep)
    return test(value)
  }, `Expected a text in the format ${shown(name)}`)
}

const requiredCheck = (names: ReadonlyArray<string>): Verdict => (value, run, path) => {
  if (!isJsonObject(value)) return true
  spend(run, names.length / charactersPerStep)
  let verdict = true
  for (const name of names) {
    if (Object.hasOwn(value, name)) continue
    verdict = fault(run, deeper(run, path, name), "is missing")
    if (run.issues === undefined) return false
  }
  return verdict
}

const uniqueCheck: Verdict = onList((value, run) => isUnique(value, () => spend(run, 1)), "Expected no item twice")

const dependentCheck = (name: string, check: Verdict): Verdict => (value, run, path) =>
  !isJsonObject(value) || !Object.hasOwn(value, name) || check(value, run, path)

const isNames = (u: unknown): u is ReadonlyArray<string> => Array.isArray(u)

const dependentChecks = (value: unknown): ReadonlyArray<Verdict> =>
  isJsonObject(value)
    ? Object.entries(value).flatMap(([name, names]) =>
      isNames(names) ? [dependentCheck(name, requiredCheck(names))] : []
    )
    : []

/** The checks of the keywords of one schema that stand on their own, in the order in which they are cheapest. */
export const assertions = (
  schema: JsonObject,
  { formats, isModern, pattern }: {
    readonly formats: boolean
    readonly isModern: boolean
    readonly pattern: Pattern | undefined
  }
): ReadonlyArray<Verdict> => {
  const out: Array<Verdict> = []
  const { const: constant, enum: values, format, required, type, uniqueItems } = schema
  if (type !== undefined) out.push(typeCheck(type))
  if (Object.hasOwn(schema, "const")) out.push(enumCheck([constant]))
  if (Array.isArray(values)) out.push(enumCheck(values))
  for (const [name, make] of Object.entries(limits)) {
    const limit = schema[name]
    if (typeof limit === "number") out.push(make(limit))
  }
  if (pattern !== undefined) {
    out.push(
      onText((value, run) => pattern.test(value, run), `Expected a text that matches ${shown(pattern.source)}`)
    )
  }
  const formatted = formats && typeof format === "string" ? formatCheck(format) : undefined
  if (formatted !== undefined) out.push(formatted)
  if (isNames(required)) out.push(requiredCheck(required))
  if (uniqueItems === true) out.push(uniqueCheck)
  if (isModern) out.push(...dependentChecks(schema["dependentRequired"]))
  out.push(...dependentChecks(schema["dependencies"]))
  return out
}

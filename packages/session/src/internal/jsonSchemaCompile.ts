/** Turns a schema that was read into checks: one closure a schema, made when first needed, without `eval`. */
import { isJsonObject, type JsonObject } from "@mcpfx/schema/JsonRpc"
import { assertions } from "./jsonSchemaChecks.ts"
import type { Document } from "./jsonSchemaDocument.ts"
import type { Pattern } from "./jsonSchemaPatterns.ts"
import {
  aside,
  deeper,
  fault,
  merge,
  newSeen,
  type Path,
  quietly,
  type Run,
  type Seen,
  spend
} from "./jsonSchemaRun.ts"

export type Check = (value: unknown, run: Run, path: Path | undefined, seen: Seen | undefined) => boolean

/** Patterns by their source; each was judged before. */
export type Patterns = ReadonlyMap<string, Pattern>

interface Compiler {
  readonly document: Document
  readonly formats: boolean
  readonly patterns: Patterns
  readonly made: Map<JsonObject, Check>
}

const always: Check = () => true
const never: Check = (_value, run, path) => fault(run, path, "is not allowed here")

/** All checks, or up to the first fault when only the verdict is wanted. */
const every = (checks: ReadonlyArray<Check>): Check => (value, run, path, seen) => {
  let verdict = true
  for (const check of checks) {
    if (check(value, run, path, seen)) continue
    verdict = false
    if (run.issues === undefined) return false
  }
  return verdict
}

/** Applies a schema to the same value; what it has seen counts only if the value fits it. */
const inPlace = (check: Check): Check => (value, run, path, seen) => {
  if (seen === undefined) return check(value, run, path, undefined)
  const own = newSeen()
  const verdict = check(value, run, path, own)
  if (verdict) merge(own, seen)
  return verdict
}

/** Says that no alternative fits, and what the nearest one lacks. */
const noneFits = (checks: ReadonlyArray<Check>, value: unknown, run: Run, path: Path | undefined): false => {
  if (run.issues === undefined) return false
  const faults = checks.map((check) => aside(run, () => check(value, run, path, undefined)))
  const [nearest] = faults.toSorted((left, right) => left.length - right.length)
  fault(run, path, `Expected to fit one of ${checks.length} alternatives, and the nearest is off`)
  run.issues.push(...(nearest ?? []).slice(0, 10))
  return false
}

const anyOf = (checks: ReadonlyArray<Check>): Check => {
  const applied = checks.map(inPlace)
  return (value, run, path, seen) => {
    let fits = false
    for (const check of applied) {
      if (!quietly(run, () => check(value, run, undefined, seen))) continue
      fits = true
      // without anything to remember the first one that fits is enough
      if (seen === undefined) return true
    }
    return fits || noneFits(checks, value, run, path)
  }
}

const oneOf = (checks: ReadonlyArray<Check>): Check => {
  const applied = checks.map(inPlace)
  return (value, run, path, seen) => {
    let fitting = 0
    for (const check of applied) if (quietly(run, () => check(value, run, undefined, seen))) fitting++
    if (fitting === 0) return noneFits(checks, value, run, path)
    return fitting === 1 ||
      fault(run, path, `Expected to fit exactly one of ${checks.length} alternatives, and not ${fitting}`)
  }
}

const not = (check: Check): Check => (value, run, path) =>
  !quietly(run, () => check(value, run, undefined, undefined)) || fault(run, path, "is of a form that is ruled out")

/** The three are applied in place. */
const conditional = (test: Check, onTrue: Check, onFalse: Check): Check => (value, run, path, seen) =>
  quietly(run, () => test(value, run, undefined, seen))
    ? onTrue(value, run, path, seen)
    : onFalse(value, run, path, seen)

const dependent = (name: string, check: Check): Check => (value, run, path, seen) =>
  !isJsonObject(value) || !Object.hasOwn(value, name) || check(value, run, path, seen)

const sub = (compiler: Compiler, schema: unknown): Check =>
  isJsonObject(schema) ? compile(compiler, schema) : schema === false ? never : always

const subs = (compiler: Compiler, schemas: unknown): ReadonlyArray<Check> =>
  Array.isArray(schemas) ? schemas.map((schema) => sub(compiler, schema)) : []

const subMap = (compiler: Compiler, schemas: unknown): ReadonlyArray<readonly [string, Check]> =>
  isJsonObject(schemas)
    ? Object.entries(schemas).flatMap(([name, schema]) =>
      Array.isArray(schema) ? [] : [[name, sub(compiler, schema)] as const]
    )
    : []

interface Members {
  readonly named: ReadonlyMap<string, Check>
  readonly patterned: ReadonlyArray<readonly [pattern: Pattern, check: Check]>
  readonly additional: Check | undefined
  readonly names: Check | undefined
}

const checkMember = (
  { additional, named, names, patterned }: Members,
  name: string,
  value: unknown,
  run: Run,
  path: Path | undefined,
  seen: Seen | undefined
): boolean => {
  const at = deeper(run, path, name)
  let verdict = names === undefined || names(name, run, at, undefined)
  let isNamed = false
  const check = named.get(name)
  if (check !== undefined) {
    isNamed = true
    if (!check(value, run, at, undefined)) verdict = false
  }
  for (const [pattern, check] of patterned) {
    if (!pattern.test(name, run)) continue
    isNamed = true
    if (!check(value, run, at, undefined)) verdict = false
  }
  if (!isNamed && additional !== undefined) {
    isNamed = true
    if (!additional(value, run, at, undefined)) verdict = false
  }
  if (isNamed) seen?.members.add(name)
  return verdict
}

const membersCheck = (members: Members): Check => (value, run, path, seen) => {
  if (!isJsonObject(value)) return true
  let verdict = true
  for (const name of Object.keys(value)) {
    spend(run, 1)
    if (checkMember(members, name, value[name], run, path, seen)) continue
    verdict = false
    if (run.issues === undefined) return false
  }
  return verdict
}

const itemsCheck = (first: ReadonlyArray<Check>, rest: Check | undefined): Check => (value, run, path, seen) => {
  if (!Array.isArray(value)) return true
  const end = rest === undefined ? Math.min(first.length, value.length) : value.length
  let verdict = true
  for (let index = 0; index < end; index++) {
    const check = first[index] ?? rest ?? always
    spend(run, 1)
    seen?.items.add(index)
    if (check(value[index], run, deeper(run, path, index), undefined)) continue
    verdict = false
    if (run.issues === undefined) return false
  }
  return verdict
}

const containsCheck =
  (check: Check, min: number, max: number, isModern: boolean): Check => (value, run, path, seen) => {
    if (!Array.isArray(value)) return true
    let count = 0
    for (const [index, item] of value.entries()) {
      if (!quietly(run, () => check(item, run, undefined, undefined))) continue
      count++
      if (isModern) seen?.items.add(index)
      if (seen === undefined && count >= min && max === Infinity) return true
    }
    if (count < min) return fault(run, path, `Expected at least ${min} of a certain form among the items`)
    return count <= max || fault(run, path, `Expected at most ${max} of a certain form among the items`)
  }

const unevaluatedMembers = (check: Check): Check => (value, run, path, seen) => {
  if (!isJsonObject(value)) return true
  let verdict = true
  for (const name of Object.keys(value)) {
    spend(run, 1)
    if (seen?.members.has(name) === true) continue
    seen?.members.add(name)
    if (!check(value[name], run, deeper(run, path, name), undefined)) verdict = false
  }
  return verdict
}

const unevaluatedItems = (check: Check): Check => (value, run, path, seen) => {
  if (!Array.isArray(value)) return true
  let verdict = true
  for (const [index, item] of value.entries()) {
    spend(run, 1)
    if (seen?.items.has(index) === true) continue
    seen?.items.add(index)
    if (!check(item, run, deeper(run, path, index), undefined)) verdict = false
  }
  return verdict
}

const optional = (compiler: Compiler, schema: unknown): Check | undefined =>
  schema === undefined ? undefined : sub(compiler, schema)

const applicators = (compiler: Compiler, schema: JsonObject, isModern: boolean): Array<Check> => {
  const out: Array<Check> = []
  const { allOf, anyOf: some, else: onFalse, if: test, not: ruledOut, oneOf: one, then: onTrue } = schema
  for (const check of subs(compiler, allOf)) out.push(inPlace(check))
  if (Array.isArray(some)) out.push(anyOf(subs(compiler, some)))
  if (Array.isArray(one)) out.push(oneOf(subs(compiler, one)))
  if (ruledOut !== undefined) out.push(not(sub(compiler, ruledOut)))
  if (test !== undefined) {
    out.push(conditional(inPlace(sub(compiler, test)), inPlace(sub(compiler, onTrue)), inPlace(sub(compiler, onFalse))))
  }
  const dependents = [
    ...(isModern ? subMap(compiler, schema["dependentSchemas"]) : []),
    ...subMap(compiler, schema["dependencies"])
  ]
  for (const [name, check] of dependents) out.push(dependent(name, inPlace(check)))
  return out
}

const containers = (compiler: Compiler, schema: JsonObject, isModern: boolean): Array<Check> => {
  const { patterns } = compiler
  const { additionalItems, additionalProperties, contains, items, maxContains, minContains, propertyNames } = schema
  const out: Array<Check> = []
  const members: Members = {
    named: new Map(subMap(compiler, schema["properties"])),
    patterned: subMap(compiler, schema["patternProperties"]).flatMap(([source, check]) => {
      const pattern = patterns.get(source)
      return pattern === undefined ? [] : [[pattern, check] as const]
    }),
    additional: optional(compiler, additionalProperties),
    names: optional(compiler, propertyNames)
  }
  if (
    members.named.size + members.patterned.length > 0 || members.additional !== undefined || members.names !== undefined
  ) {
    out.push(membersCheck(members))
  }
  const prefix = isModern ? schema["prefixItems"] : undefined
  const first = subs(compiler, Array.isArray(items) ? items : prefix)
  const rest = optional(compiler, Array.isArray(items) ? additionalItems : items)
  if (first.length > 0 || rest !== undefined) out.push(itemsCheck(first, rest))
  if (contains !== undefined) {
    const min = isModern && typeof minContains === "number" ? minContains : 1
    const max = isModern && typeof maxContains === "number" ? maxContains : Infinity
    out.push(containsCheck(sub(compiler, contains), min, max, isModern))
  }
  return out
}

const referred = (compiler: Compiler, schema: JsonObject): ReadonlyArray<Check> =>
  (["$ref", "$dynamicRef"] as const).flatMap((keyword) => {
    const target = compiler.document.target(schema, keyword)
    return target === undefined ? [] : [inPlace(sub(compiler, target))]
  })

const build = (compiler: Compiler, schema: JsonObject): Check => {
  const isModern = compiler.document.dialect === "2020-12"
  const references = referred(compiler, schema)
  // in draft-07 a reference hides what stands next to it
  if (!isModern && references.length > 0) return every(references)
  const { pattern } = schema
  const checks = [
    ...assertions(schema, {
      isModern,
      formats: compiler.formats,
      pattern: typeof pattern === "string" ? compiler.patterns.get(pattern) : undefined
    }),
    ...references,
    ...applicators(compiler, schema, isModern),
    ...containers(compiler, schema, isModern)
  ]
  const lastMembers = isModern ? optional(compiler, schema["unevaluatedProperties"]) : undefined
  const lastItems = isModern ? optional(compiler, schema["unevaluatedItems"]) : undefined
  if (lastMembers === undefined && lastItems === undefined) return every(checks)
  const all = every([
    ...checks,
    ...(lastMembers === undefined ? [] : [unevaluatedMembers(lastMembers)]),
    ...(lastItems === undefined ? [] : [unevaluatedItems(lastItems)])
  ])
  return (value, run, path, seen) => all(value, run, path, seen ?? newSeen())
}

const compile = (compiler: Compiler, schema: JsonObject): Check => {
  const known = compiler.made.get(schema)
  if (known !== undefined) return known
  let check: Check | undefined
  // entered before it is built, so that a schema can refer to itself
  const enter: Check = (value, run, path, seen) => {
    spend(run, 1)
    check ??= build(compiler, schema)
    return check(value, run, path, seen)
  }
  compiler.made.set(schema, enter)
  return enter
}

/** The check of a whole document; `formats` is whether formats are asserted. */
export const compileDocument = (document: Document, patterns: Patterns, formats: boolean): Check =>
  sub({ document, formats, patterns, made: new Map() }, document.root)

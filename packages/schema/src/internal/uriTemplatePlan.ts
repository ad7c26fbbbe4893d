/**
 * Turns a template into a plan that matches without backtracking, or says why no such plan exists.
 *
 * A URI is cut at its first `;`, `?` and `#` where the template has those parts. What is left in the path is a sequence of
 * literals and holes in which at most one hole is wide, that is, may span what ends the others; so holes before the wide
 * one are found from the left, those after it from the right, and each character is looked at a bounded number of times.
 */
import * as Result from "effect/Result"
import { normalizeTriplets } from "./percent.ts"
import type { Expression, Part, Variable } from "./uriTemplateParse.ts"

/** What a hole may hold: one value; anything; `/`-led segments; a list with commas. */
export type HoleKind = "simple" | "reserved" | "segments" | "commas"

export interface Hole {
  readonly _tag: "Hole"
  readonly name: string
  readonly kind: HoleKind
}

export interface Text {
  readonly _tag: "Text"
  readonly text: string
}

export type Token = Hole | Text

/** Tokens with the place of the hole that takes what the others leave; -1 without holes. */
export interface Glob {
  readonly tokens: ReadonlyArray<Token>
  readonly pivot: number
}

export interface Named {
  readonly name: string
  readonly list: boolean
}

export interface Query {
  /** What stands before the named variables, `undefined` when nothing does. */
  readonly fixed: Glob | undefined
  /** `&` inside of `fixed`. */
  readonly fixedAmpersands: number
  readonly names: ReadonlyArray<Named>
}

export interface Captured {
  readonly name: string
  /** Its value is a list. */
  readonly list: boolean
  /** A URI may match without it. */
  readonly optional: boolean
}

export interface Plan {
  /** Tried in order: trailing variables of the path may be absent. */
  readonly paths: ReadonlyArray<Glob>
  readonly matrix: ReadonlyArray<Named> | undefined
  readonly query: Query | undefined
  /** A variable that takes the whole fragment, or fixed text and holes. */
  readonly fragment: { readonly _tag: "Variable"; readonly name: string } | { readonly _tag: "Glob"; readonly glob: Glob } | undefined
  readonly variables: ReadonlyArray<Captured>
  /** Commas part values, so a single value cannot hold one. */
  readonly commas: boolean
}

type Zone = "path" | "matrix" | "query" | "fragment"

interface Draft {
  zone: Zone
  path: Array<Token>
  /** Where the variables at the end of the path begin, with one entry a variable; empty once something follows. */
  trailing: Array<ReadonlyArray<Token>>
  matrix: Array<Named> | undefined
  query: Array<Token>
  queryNames: Array<Named> | undefined
  hasQuery: boolean
  fragment: Array<Token>
  fragmentVariable: string | undefined
  hasFragment: boolean
}

const text = (value: string): Text => ({ _tag: "Text", text: normalizeTriplets(value) })
const hole = (name: string, kind: HoleKind): Hole => ({ _tag: "Hole", name, kind })
const isWide = (token: Token): boolean => token._tag === "Hole" && token.kind !== "simple"

const settle = (draft: Draft): void => {
  draft.path.push(...draft.trailing.flat())
  draft.trailing = []
}

const addLiteral = (draft: Draft, literal: string): string | undefined => {
  if (draft.zone !== "fragment") {
    const hash = literal.indexOf("#")
    if (hash !== -1) {
      const before = hash === 0 ? undefined : addLiteral(draft, literal.slice(0, hash))
      if (before !== undefined) return before
      draft.zone = "fragment"
      draft.hasFragment = true
      return hash + 1 === literal.length ? undefined : addLiteral(draft, literal.slice(hash + 1))
    }
  }
  if (draft.zone === "path" || draft.zone === "matrix") {
    const mark = literal.indexOf("?")
    if (mark !== -1) {
      const before = mark === 0 ? undefined : addLiteral(draft, literal.slice(0, mark))
      if (before !== undefined) return before
      draft.zone = "query"
      draft.hasQuery = true
      return mark + 1 === literal.length ? undefined : addLiteral(draft, literal.slice(mark + 1))
    }
  }
  switch (draft.zone) {
    case "path":
      settle(draft)
      draft.path.push(text(literal))
      return undefined
    case "matrix":
      return "nothing but a query or a fragment can follow {;…}"
    case "query":
      if (draft.queryNames !== undefined) return "nothing but a fragment can follow {?…} or {&…}"
      draft.query.push(text(literal))
      return undefined
    case "fragment":
      if (draft.fragmentVariable !== undefined) return "nothing can follow {#…}"
      draft.fragment.push(text(literal))
      return undefined
  }
}

const addHoles = (draft: Draft, holes: ReadonlyArray<Token>): string | undefined => {
  switch (draft.zone) {
    case "path":
      settle(draft)
      draft.path.push(...holes)
      return undefined
    case "matrix":
      return "nothing but a query or a fragment can follow {;…}"
    case "query":
      if (draft.queryNames !== undefined) return "nothing but a fragment can follow {?…} or {&…}"
      draft.query.push(...holes)
      return undefined
    case "fragment":
      if (draft.fragmentVariable !== undefined) return "nothing can follow {#…}"
      draft.fragment.push(...holes)
      return undefined
  }
}

const names = (variables: ReadonlyArray<Variable>): Array<Named> =>
  variables.map(({ explode, name }) => ({ name, list: explode }))

const addSimple = (draft: Draft, variables: ReadonlyArray<Variable>): string | undefined =>
  addHoles(
    draft,
    variables.flatMap(({ explode, name }, index): ReadonlyArray<Token> => {
      const one = hole(name, explode ? "commas" : "simple")
      return index === 0 ? [one] : [text(","), one]
    })
  )

const addLed = (draft: Draft, operator: "." | "/", variables: ReadonlyArray<Variable>): string | undefined => {
  if (draft.zone !== "path") return `{${operator}…} belongs to the path`
  settle(draft)
  for (const { explode, name } of variables) {
    if (explode && operator === ".") return "the members of a list joined by \".\" cannot be told apart"
    draft.trailing.push(explode ? [hole(name, "segments")] : [text(operator), hole(name, "simple")])
  }
  return undefined
}

const addQueryNames = (draft: Draft, operator: "?" | "&", variables: ReadonlyArray<Variable>): string | undefined => {
  if (draft.zone === "fragment") return "a query cannot follow a fragment"
  if (operator === "?" && draft.hasQuery) return "a second {?…} or \"?\""
  if (operator === "&" && !draft.hasQuery) return "{&…} without a query before it"
  draft.zone = "query"
  draft.hasQuery = true
  draft.queryNames = [...draft.queryNames ?? [], ...names(variables)]
  return undefined
}

const addFragmentVariable = (draft: Draft, variables: ReadonlyArray<Variable>): string | undefined => {
  const [only] = variables
  if (draft.hasFragment) return "a second fragment"
  if (only === undefined || variables.length > 1 || only.explode) return "{#…} can hold one plain variable only"
  draft.zone = "fragment"
  draft.hasFragment = true
  draft.fragmentVariable = only.name
  return undefined
}

const addExpression = (draft: Draft, { operator, variables }: Expression): string | undefined => {
  const prefixed = variables.find(({ prefix }) => prefix !== undefined)
  if (prefixed !== undefined) return `the prefix modifier of "${prefixed.name}" loses a part of its value`
  switch (operator) {
    case "":
      return addSimple(draft, variables)
    case "+": {
      const [only] = variables
      return only === undefined || variables.length > 1 || only.explode
        ? "{+…} can hold one plain variable only"
        : addHoles(draft, [hole(only.name, "reserved")])
    }
    case ".":
    case "/":
      return addLed(draft, operator, variables)
    case ";":
      if (draft.zone !== "path") return "{;…} belongs to the end of the path"
      settle(draft)
      draft.zone = "matrix"
      draft.matrix = names(variables)
      return undefined
    case "?":
    case "&":
      return addQueryNames(draft, operator, variables)
    case "#":
      return addFragmentVariable(draft, variables)
  }
}

const joined = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  const out: Array<Token> = []
  for (const token of tokens) {
    const last = out.at(-1)
    if (token._tag === "Text" && last?._tag === "Text") out[out.length - 1] = { _tag: "Text", text: last.text + token.text }
    else out.push(token)
  }
  return out
}

const describe = (token: Token): string => token._tag === "Hole" ? `"${token.name}"` : `"${token.text}"`

const glob = (parts: ReadonlyArray<Token>): Result.Result<Glob, string> => {
  const tokens = joined(parts)
  const wide = tokens.filter(isWide)
  const [first, second] = wide
  if (first !== undefined && second !== undefined) {
    return Result.fail(`where ${describe(first)} ends and ${describe(second)} begins cannot be told`)
  }
  for (const [index, token] of tokens.entries()) {
    const next = tokens[index + 1]
    if (token._tag === "Text" || next === undefined || next._tag === "Text") continue
    if (token.kind !== "simple" || next.kind !== "segments") {
      return Result.fail(`nothing stands between ${describe(token)} and ${describe(next)}`)
    }
  }
  const pivot = first === undefined ? tokens.findLastIndex(({ _tag }) => _tag === "Hole") : tokens.indexOf(first)
  return Result.succeed({ tokens, pivot })
}

const holesOf = (tokens: ReadonlyArray<Token>): ReadonlyArray<Hole> =>
  tokens.flatMap((token) => token._tag === "Hole" ? [token] : [])

/** Trailing `{/x}` and `{.x}` may be absent, from the last on, unless a wide hole would swallow the difference. */
const pathPlans = (draft: Draft): Result.Result<ReadonlyArray<Glob>, string> => {
  const fixed = draft.path.some(isWide) || draft.trailing.flat().some(isWide)
  const fewest = fixed ? draft.trailing.length : 0
  const out: Array<Glob> = []
  for (let kept = draft.trailing.length; kept >= fewest; kept--) {
    const one = glob([...draft.path, ...draft.trailing.slice(0, kept).flat()])
    if (Result.isFailure(one)) return Result.fail(one.failure)
    out.push(one.success)
  }
  return Result.succeed(out)
}

const queryPlan = (draft: Draft): Result.Result<Query | undefined, string> => {
  if (!draft.hasQuery) return Result.succeed(undefined)
  const queryNames = draft.queryNames ?? []
  if (draft.query.length === 0) {
    return Result.succeed({ fixed: undefined, fixedAmpersands: 0, names: queryNames })
  }
  const fixed = glob(draft.query)
  if (Result.isFailure(fixed)) return Result.fail(fixed.failure)
  const wide = holesOf(fixed.success.tokens).find(isWide)
  if (wide !== undefined && queryNames.length > 0) return Result.fail(`${describe(wide)} would swallow the variables after it`)
  const literals = fixed.success.tokens.map((token) => token._tag === "Text" ? token.text : "").join("")
  return Result.succeed({ fixed: fixed.success, fixedAmpersands: literals.split("&").length - 1, names: queryNames })
}

const fragmentPlan = (draft: Draft): Result.Result<Plan["fragment"], string> => {
  if (draft.fragmentVariable !== undefined) return Result.succeed({ _tag: "Variable", name: draft.fragmentVariable })
  if (!draft.hasFragment) return Result.succeed(undefined)
  return Result.map(glob(draft.fragment), (one) => ({ _tag: "Glob", glob: one }))
}

const captured = (draft: Draft, paths: ReadonlyArray<Glob>): ReadonlyArray<Captured> => {
  const always = new Set(holesOf(paths.at(-1)?.tokens ?? []).map(({ name }) => name))
  const fromHole = (one: Hole, optional: boolean): Captured => ({
    name: one.name,
    list: one.kind === "segments" || one.kind === "commas",
    optional: optional || one.kind === "segments"
  })
  const fromNamed = ({ list, name }: Named): Captured => ({ name, list, optional: true })
  return [
    ...holesOf(paths[0]?.tokens ?? []).map((one) => fromHole(one, !always.has(one.name))),
    ...(draft.matrix ?? []).map(fromNamed),
    ...holesOf(draft.query).map((one) => fromHole(one, false)),
    ...(draft.queryNames ?? []).map(fromNamed),
    ...holesOf(draft.fragment).map((one) => fromHole(one, false)),
    ...(draft.fragmentVariable === undefined ? [] : [{ name: draft.fragmentVariable, list: false, optional: true }])
  ]
}

const clash = (draft: Draft, variables: ReadonlyArray<Captured>): string | undefined => {
  const seen = new Set<string>()
  for (const { name } of variables) {
    if (seen.has(name)) return `"${name}" appears twice`
    seen.add(name)
  }
  const pathText = draft.path.some((token) => token._tag === "Text" && token.text.includes(";"))
  return draft.matrix !== undefined && pathText ? "a \";\" before {;…}" : undefined
}

/** The plan of a template, or one sentence on why it cannot be matched. */
export const makePlan = (parts: ReadonlyArray<Part>): Result.Result<Plan, string> => {
  const draft: Draft = {
    zone: "path",
    path: [],
    trailing: [],
    matrix: undefined,
    query: [],
    queryNames: undefined,
    hasQuery: false,
    fragment: [],
    fragmentVariable: undefined,
    hasFragment: false
  }
  for (const part of parts) {
    const fault = part._tag === "Literal" ? addLiteral(draft, part.text) : addExpression(draft, part)
    if (fault !== undefined) return Result.fail(fault)
  }
  return Result.gen(function*() {
    const paths = yield* pathPlans(draft)
    const query = yield* queryPlan(draft)
    const fragment = yield* fragmentPlan(draft)
    const variables = captured(draft, paths)
    const fault = clash(draft, variables)
    if (fault !== undefined) return yield* Result.fail(fault)
    const expressions = parts.flatMap((part) => part._tag === "Expression" ? [part] : [])
    const commas = expressions.some(({ operator, variables }) =>
      operator === "" && (variables.length > 1 || variables.some(({ explode }) => explode))
    )
    return { paths, matrix: draft.matrix, query, fragment, variables, commas }
  })
}

/**
 * Turns a template into a plan that matches without backtracking, or says why no such plan exists.
 *
 * A URI is cut at its first `;`, `?` and `#` where the template has those parts. What is left in the path is a sequence of
 * literals and holes in which at most one hole is wide, that is, may span what ends the others; so holes before the wide
 * one are found from the left, those after it from the right, and each character is looked at a bounded number of times.
 */
import * as Result from "effect/Result"
import { type Draft, type Hole, isWide, makeDraft, type Named, type Token } from "./uriTemplateDraft.ts"
import type { Part } from "./uriTemplateParse.ts"

/** Tokens with the place of the hole that takes what the others leave; -1 without holes. */
export interface Glob {
  readonly tokens: ReadonlyArray<Token>
  readonly pivot: number
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
  readonly fragment: { readonly _tag: "Variable"; readonly name: string } | {
    readonly _tag: "Glob"
    readonly glob: Glob
  } | undefined
  readonly variables: ReadonlyArray<Captured>
  /** Commas part values, so a single value cannot hold one. */
  readonly commas: boolean
}

const joined = (tokens: ReadonlyArray<Token>): ReadonlyArray<Token> => {
  const out: Array<Token> = []
  for (const token of tokens) {
    const last = out.at(-1)
    if (token._tag === "Text" && last?._tag === "Text") {
      out[out.length - 1] = { _tag: "Text", text: last.text + token.text }
    } else out.push(token)
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
  if (wide !== undefined && queryNames.length > 0) {
    return Result.fail(`${describe(wide)} would swallow the variables after it`)
  }
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
  const draft = makeDraft(parts)
  if (typeof draft === "string") return Result.fail(draft)
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

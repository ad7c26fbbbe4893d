/** Runs a plan against a URI. Nothing is tried twice, so the steps grow with the length of the URI and no faster. */
import { decodeOnce, normalizeTriplets } from "./percent.ts"
import type { Hole, Named } from "./uriTemplateDraft.ts"
import type { Glob, Plan, Query } from "./uriTemplatePlan.ts"

export type Value = string | ReadonlyArray<string>

export interface Outcome {
  /** `undefined` when the URI is not of the template. */
  readonly variables: ReadonlyMap<string, Value> | undefined
  /** Characters looked at. */
  readonly steps: number
}

interface Run {
  readonly plan: Plan
  /** Whether an encoded `/` or `\` in a single value is decoded; otherwise it is no match. */
  readonly separators: boolean
  readonly found: Map<string, Value>
  steps: number
}

type Zone = "path" | "query" | "fragment"

/** What no URI holds unencoded: controls, space, `"`, `<`, `>`, `\`, `^`, the grave accent, `{`, `|`, `}`. */
const never = "\"<>\\^`{|}"
const isIllegal = (char: string): boolean => char <= " " || char === "\u007f" || never.includes(char)

const isDotSegment = (segment: string): boolean => segment === "." || segment === ".."
const hasSeparator = (value: string): boolean => value.includes("/") || value.includes("\\")

const decodeLegal = (run: Run, raw: string, excluded: string): string | undefined => {
  run.steps += raw.length
  for (const char of raw) if (isIllegal(char) || excluded.includes(char)) return undefined
  const value = decodeOnce(raw)
  return value === undefined || value.includes("\u0000") ? undefined : value
}

/** One value: never empty, never a dot segment, never with a separator in it unless that was asked for. */
const decodeSingle = (run: Run, raw: string, excluded: string): string | undefined => {
  const value = raw === "" ? undefined : decodeLegal(run, raw, excluded)
  if (value === undefined || isDotSegment(value)) return undefined
  return hasSeparator(value) && !run.separators ? undefined : value
}

const decodeEach = (raw: ReadonlyArray<string>, decode: (one: string) => string | undefined): Value | undefined => {
  const values: Array<string> = []
  for (const one of raw) {
    const value = decode(one)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

/** A separator may stand in it as it is, never encoded: what is a segment before decoding is one after it. */
const decodeReserved = (run: Run, raw: string): string | undefined => {
  const value = raw === "" ? undefined : decodeLegal(run, raw, "")
  if (value === undefined || /%(?:2F|5C)/.test(raw)) return undefined
  return value.split("/").some(isDotSegment) ? undefined : value
}

const singleExcluded = (plan: Plan, zone: Zone): string =>
  `/?#${zone === "query" ? "&" : ""}${zone === "path" && plan.matrix !== undefined ? ";" : ""}`

/** Keeps what a hole holds; `false` when it cannot hold it. */
const capture = (run: Run, one: Hole, raw: string, zone: Zone): boolean => {
  const excluded = singleExcluded(run.plan, zone)
  const decode = (part: string) => decodeSingle(run, part, run.plan.commas ? `,${excluded}` : excluded)
  switch (one.kind) {
    case "simple": {
      const value = decode(raw)
      if (value === undefined) return false
      run.found.set(one.name, value)
      return true
    }
    case "reserved": {
      const value = decodeReserved(run, raw)
      if (value === undefined) return false
      run.found.set(one.name, value)
      return true
    }
    case "segments": {
      if (raw === "") return true
      if (!raw.startsWith("/")) return false
      const values = decodeEach(raw.slice(1).split("/"), decode)
      if (values === undefined) return false
      run.found.set(one.name, values)
      return true
    }
    case "commas": {
      const values = decodeEach(raw.split(","), decode)
      if (values === undefined) return false
      run.found.set(one.name, values)
      return true
    }
  }
}

const at = (run: Run, text: string, part: string, index: number): boolean => {
  run.steps += part.length
  return text.startsWith(part, index)
}

/** The first place of `part` in `text[from, to)`, or -1. */
const findFirst = (run: Run, text: string, part: string, from: number, to: number): number => {
  for (let index = from; index + part.length <= to; index++) if (at(run, text, part, index)) return index
  return -1
}

const findLast = (run: Run, text: string, part: string, from: number, to: number): number => {
  for (let index = to - part.length; index >= from; index--) if (at(run, text, part, index)) return index
  return -1
}

/** Matches the tokens before the pivot; the place after them, or -1. */
const matchLeft = (run: Run, { pivot, tokens }: Glob, text: string, zone: Zone): number => {
  let low = 0
  for (let index = 0; index < pivot; index++) {
    const token = tokens[index]
    if (token === undefined) break
    if (token._tag === "Text") {
      if (!at(run, text, token.text, low)) return -1
      low += token.text.length
      continue
    }
    // a hole ends where what follows it is first found; the tokens of a plan put a text or a run of segments there
    const next = tokens[index + 1]
    const part = next?._tag === "Text" ? next.text : "/"
    const found = findFirst(run, text, part, low + 1, text.length)
    const end = found === -1 && next?._tag === "Hole" ? text.length : found
    if (end === -1 || !capture(run, token, text.slice(low, end), zone)) return -1
    low = end
  }
  return low
}

/** Matches the tokens after the pivot from the end; the place before them, or -1. */
const matchRight = (run: Run, { pivot, tokens }: Glob, text: string, low: number, zone: Zone): number => {
  let high = text.length
  for (let index = tokens.length - 1; index > pivot; index--) {
    const token = tokens[index]
    if (token === undefined) break
    if (token._tag === "Text") {
      high -= token.text.length
      if (high < low || !at(run, text, token.text, high)) return -1
      continue
    }
    const before = tokens[index - 1]
    if (before === undefined || before._tag === "Hole") return -1
    const found = findLast(run, text, before.text, low, high - 1)
    if (found === -1) return -1
    const start = found + before.text.length
    if (!capture(run, token, text.slice(start, high), zone)) return -1
    high = start
  }
  return high
}

const matchGlob = (run: Run, one: Glob, text: string, zone: Zone): boolean => {
  const pivot = one.tokens[one.pivot]
  const low = matchLeft(run, one, text, zone)
  if (low === -1) return false
  const high = matchRight(run, one, text, low, zone)
  if (high < low) return false
  return pivot === undefined || pivot._tag === "Text" ? low === high : capture(run, pivot, text.slice(low, high), zone)
}

/** `name=value` pairs in any order; a name that is not in the list, or comes twice without being one, is no match. */
const matchNamed = (run: Run, wanted: ReadonlyArray<Named>, pairs: ReadonlyArray<string>): boolean => {
  const byName = new Map(wanted.map((one) => [one.name, one]))
  const lists = new Map<string, Array<string>>()
  for (const pair of pairs) {
    if (pair === "") continue
    const equals = pair.indexOf("=")
    const name = equals === -1 ? pair : pair.slice(0, equals)
    const one = byName.get(name)
    const value = decodeLegal(run, equals === -1 ? "" : pair.slice(equals + 1), "#")
    if (one === undefined || value === undefined) return false
    if (!one.list) {
      if (run.found.has(name)) return false
      run.found.set(name, value)
      continue
    }
    const list = lists.get(name) ?? []
    list.push(value)
    lists.set(name, list)
  }
  for (const [name, values] of lists) run.found.set(name, values)
  return true
}

const matchQuery = (run: Run, query: Query, text: string | undefined): boolean => {
  if (query.fixed === undefined) return matchNamed(run, query.names, text === undefined ? [] : text.split("&"))
  if (text === undefined) return false
  if (query.names.length === 0) return matchGlob(run, query.fixed, text, "query")
  const pieces = text.split("&")
  const fixed = pieces.slice(0, query.fixedAmpersands + 1).join("&")
  return matchGlob(run, query.fixed, fixed, "query") &&
    matchNamed(run, query.names, pieces.slice(query.fixedAmpersands + 1))
}

const matchFragment = (run: Run, fragment: Plan["fragment"], text: string | undefined): boolean => {
  if (fragment === undefined) return true
  if (fragment._tag === "Glob") return text !== undefined && matchGlob(run, fragment.glob, text, "fragment")
  if (text === undefined) return true
  const value = decodeLegal(run, text, "")
  if (value !== undefined) run.found.set(fragment.name, value)
  return value !== undefined
}

const cut = (text: string, mark: string, wanted: boolean): readonly [string, string | undefined] => {
  const index = wanted ? text.indexOf(mark) : -1
  return index === -1 ? [text, undefined] : [text.slice(0, index), text.slice(index + 1)]
}

/** Matches one URI. */
export const runPlan = (plan: Plan, uri: string, separators: boolean): Outcome => {
  const [beforeHash, fragment] = cut(normalizeTriplets(uri), "#", plan.fragment !== undefined)
  const [beforeMark, query] = cut(beforeHash, "?", plan.query !== undefined)
  const [path, matrix] = cut(beforeMark, ";", plan.matrix !== undefined)
  let steps = uri.length
  for (const one of plan.paths) {
    const run: Run = { plan, separators, found: new Map(), steps: 0 }
    const matched = matchGlob(run, one, path, "path")
    const rest = matched &&
      (plan.matrix === undefined || matchNamed(run, plan.matrix, matrix === undefined ? [] : matrix.split(";"))) &&
      (plan.query === undefined || matchQuery(run, plan.query, query)) &&
      matchFragment(run, plan.fragment, fragment)
    steps += run.steps
    if (rest) return { variables: run.found, steps }
    if (matched) break
  }
  return { variables: undefined, steps }
}

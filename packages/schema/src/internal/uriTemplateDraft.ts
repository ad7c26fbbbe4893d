/** Sorts the parts of a template into the zones of a URI, before anything is said on how they match. */
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

export interface Named {
  readonly name: string
  readonly list: boolean
}

type Zone = "path" | "matrix" | "query" | "fragment"

export interface Draft {
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
export const isWide = (token: Token): boolean => token._tag === "Hole" && token.kind !== "simple"

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

/** The zones of a template, or one sentence on why its parts cannot stand in this order. */
export const makeDraft = (parts: ReadonlyArray<Part>): Draft | string => {
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
    if (fault !== undefined) return fault
  }
  return draft
}

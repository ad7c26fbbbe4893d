/**
 * How long a regular expression can take, seen from its shape. The engine backtracks, so what counts is where the same text
 * can be split in more than one way. The answer is on the safe side: some harmless patterns are refused, no pattern passes
 * that takes more than about a hundred million steps.
 */
import * as Result from "effect/Result"
import { type CharSet, parsePattern, type Pattern } from "./patternParse.ts"

export interface PatternCost {
  /** Longer texts are not to be tried; `undefined` where the time grows with the length alone. */
  readonly maxLength: number | undefined
}

/** Repeating more often than this counts as without end. */
const manyTimes = 16
/** Ways to split a text among repeats that are all short. */
const maxWays = 1_000
/** Places in the pattern with all its counted repeats written out. */
const maxSize = 100_000
/** Longest text by how many loops may compete for it, so that the steps stay near 10^8. */
const lengths: ReadonlyArray<number | undefined> = [undefined, undefined, 10_000, 464]

interface Shape {
  readonly nullable: boolean
  /** What it can begin with. */
  readonly first: CharSet
  /** Everything that can be in it. */
  readonly all: CharSet
  /** Loops that compete for the same text. */
  readonly loops: number
  readonly hasLoop: boolean
  /** Ways to split a text among its short repeats. */
  readonly ways: number
  readonly variable: boolean
  readonly size: number
}

type Judged = Result.Result<Shape, string>

const nothing: Shape = {
  nullable: true,
  first: 0n,
  all: 0n,
  loops: 0,
  hasLoop: false,
  ways: 1,
  variable: false,
  size: 0
}

const isDisjoint = (left: CharSet, right: CharSet): boolean => (left & right) === 0n

const bounded = (shape: Shape): Judged =>
  shape.ways > maxWays
    ? Result.fail("its repeats can split a text in too many ways")
    : shape.size > maxSize
    ? Result.fail("its counted repeats are too large")
    : Result.succeed(shape)

const isZeroWidth = ({ _tag }: Pattern): boolean => _tag === "Start" || _tag === "Edge" || _tag === "Look"

/** The next place that takes a character must not be one the item before it could take: then there is one way to go on. */
const isEndedBy = (one: Shape, next: Shape | undefined): boolean =>
  next !== undefined && !next.nullable && isDisjoint(one.all, next.first)

const judgeSequence = (items: ReadonlyArray<Pattern>): Judged => {
  const shapes: Array<Shape> = []
  let looks = 0
  for (const item of items) {
    const shape = judge(item)
    if (Result.isFailure(shape)) return shape
    if (isZeroWidth(item)) looks = Math.max(looks, shape.success.loops)
    else shapes.push(shape.success)
  }
  let out = nothing
  for (const [index, one] of shapes.entries()) {
    const free = isEndedBy(one, shapes[index + 1])
    out = {
      nullable: out.nullable && one.nullable,
      first: out.nullable ? out.first | one.first : out.first,
      all: out.all | one.all,
      loops: out.loops + (free ? Math.max(0, one.loops - 1) : one.loops),
      hasLoop: out.hasLoop || one.hasLoop,
      ways: out.ways * (free ? 1 : one.ways),
      variable: out.variable || one.variable,
      size: out.size + one.size
    }
  }
  // a look-ahead is tried once where it stands, next to the rest and not in every combination with it
  return bounded({ ...out, loops: Math.max(out.loops, looks), hasLoop: out.hasLoop || looks > 0 })
}

const judgeChoice = (options: ReadonlyArray<Pattern>): Judged => {
  let out: Shape | undefined
  let overlap = false
  for (const option of options) {
    const shape = judge(option)
    if (Result.isFailure(shape)) return shape
    const one = shape.success
    if (out === undefined) {
      out = one
      continue
    }
    overlap = overlap || out.nullable || one.nullable || !isDisjoint(out.first, one.first)
    out = {
      nullable: out.nullable || one.nullable,
      first: out.first | one.first,
      all: out.all | one.all,
      loops: Math.max(out.loops, one.loops),
      hasLoop: out.hasLoop || one.hasLoop,
      ways: out.ways + one.ways,
      variable: out.variable || one.variable,
      size: out.size + one.size
    }
  }
  // where more than one option can begin with the same character the choice itself can be taken back
  return bounded(out === undefined ? nothing : overlap ? { ...out, variable: true } : { ...out, ways: Math.max(1, out.ways - options.length + 1) })
}

const isSingle = (pattern: Pattern | undefined): pattern is Extract<Pattern, { readonly _tag: "Chars" }> =>
  pattern?._tag === "Chars"

/** Whether a character at an end of the body, found nowhere else in it, tells where one round ends and the next begins. */
const isSeparated = (body: Pattern): boolean => {
  if (body._tag !== "Sequence") return false
  const items = body.items.filter((item) => !isZeroWidth(item))
  const apart = (end: Pattern | undefined, rest: ReadonlyArray<Pattern>): boolean => {
    if (!isSingle(end)) return false
    const shape = judgeSequence(rest)
    return Result.isSuccess(shape) && isDisjoint(end.set, shape.success.all)
  }
  return apart(items[0], items.slice(1)) || apart(items.at(-1), items.slice(0, -1))
}

const hasLoopingLook = (pattern: Pattern): boolean => {
  switch (pattern._tag) {
    case "Look": {
      const shape = judge(pattern.body)
      return Result.isFailure(shape) || shape.success.hasLoop
    }
    case "Sequence":
      return pattern.items.some(hasLoopingLook)
    case "Choice":
      return pattern.options.some(hasLoopingLook)
    case "Repeat":
      return hasLoopingLook(pattern.body)
    default:
      return false
  }
}

const judgeRepeat = ({ body, max, min }: Extract<Pattern, { readonly _tag: "Repeat" }>): Judged => {
  const judged = judge(body)
  if (Result.isFailure(judged)) return judged
  const inner = judged.success
  const many = max > manyTimes
  const twice = max > 1
  if (twice && hasLoopingLook(body)) return Result.fail("it repeats a look-around that repeats")
  const nullable = min === 0 || inner.nullable
  const size = inner.size * Math.max(1, Number.isFinite(max) ? max : min + 1)
  const base = { ...inner, nullable, size, variable: inner.variable || max !== min }
  if (!twice) return bounded({ ...base, ways: inner.ways + (max === min ? 0 : 1) })
  const ambiguous = inner.nullable || (inner.variable && !isSeparated(body))
  if (many) {
    return ambiguous
      ? Result.fail("it repeats what can itself be of several lengths")
      : bounded({ ...base, loops: Math.max(1, inner.loops), hasLoop: max !== min || inner.hasLoop, ways: 1 })
  }
  if (ambiguous && inner.hasLoop) return Result.fail("it repeats what can itself be of several lengths")
  return bounded({ ...base, ways: (ambiguous ? inner.ways ** max : 1) * (max - min + 1) })
}

const judge = (pattern: Pattern): Judged => {
  switch (pattern._tag) {
    case "Chars":
      return Result.succeed({ ...nothing, nullable: false, first: pattern.set, all: pattern.set, size: 1 })
    case "Start":
    case "Edge":
      return Result.succeed(nothing)
    case "Look":
      return Result.map(judge(pattern.body), (shape): Shape => ({ ...nothing, loops: shape.loops, hasLoop: shape.hasLoop, size: shape.size }))
    case "Sequence":
      return judgeSequence(pattern.items)
    case "Choice":
      return judgeChoice(pattern.options)
    case "Repeat":
      return judgeRepeat(pattern)
  }
}

const isAnchored = (pattern: Pattern): boolean => {
  switch (pattern._tag) {
    case "Start":
      return true
    case "Sequence": {
      const [first] = pattern.items
      return first !== undefined && isAnchored(first)
    }
    case "Choice":
      return pattern.options.every(isAnchored)
    default:
      return false
  }
}

/** What a pattern may be used on, or one clause on why it is refused. Nothing is run to find out. */
export const patternCost = (source: string): Result.Result<PatternCost, string> =>
  Result.flatMap(parsePattern(source), (pattern) =>
    Result.flatMap(judge(pattern), ({ hasLoop, loops }): Result.Result<PatternCost, string> => {
      // without an anchor the engine starts again at every character
      const degree = Math.max(1, loops) + (hasLoop && !isAnchored(pattern) ? 1 : 0)
      return degree < lengths.length
        ? Result.succeed({ maxLength: lengths[degree] })
        : Result.fail("too many of its repeats compete for the same text")
    }))

/**
 * How long a regular expression can take, seen from its shape. The engine backtracks, so what counts is where the same text
 * can be taken apart in more than one way: inside of a loop that is exponential and refused, next to each other such places
 * multiply. The answer is on the safe side: some harmless patterns are refused or counted too high, none too low.
 */
import * as Result from "effect/Result"
import type { CharSet, Pattern } from "./patternParse.ts"

export interface PatternCost {
  /** The steps for a text of length n are `ways * n ** degree`, give or take a small factor. */
  readonly degree: number
  readonly ways: number
}

/** Repeating more often than this counts as without end. */
const manyTimes = 16
const maxDegree = 4
const maxWays = 100_000
/** Places in the pattern with all its counted repeats written out. */
const maxSize = 100_000

interface Shape {
  readonly nullable: boolean
  /** What it can begin with. */
  readonly first: CharSet
  /** Everything that can be in it. */
  readonly all: CharSet
  readonly degree: number
  /** Ways to take a text apart among repeats that are all short. */
  readonly ways: number
  /** It can take texts of several lengths. */
  readonly variable: boolean
  /** It can take the same text in several ways. */
  readonly ambiguous: boolean
  readonly size: number
}

type Judged = Result.Result<Shape, string>

const nothing: Shape = {
  nullable: true,
  first: 0n,
  all: 0n,
  degree: 0,
  ways: 1,
  variable: false,
  ambiguous: false,
  size: 0
}

const isDisjoint = (left: CharSet, right: CharSet): boolean => (left & right) === 0n

const bounded = (shape: Shape): Judged =>
  shape.ways > maxWays
    ? Result.fail("its repeats can take a text apart in too many ways")
    : shape.size > maxSize
    ? Result.fail("its counted repeats are too large")
    : Result.succeed(shape)

const isZeroWidth = ({ _tag }: Pattern): boolean => _tag === "Start" || _tag === "Edge" || _tag === "Look"

/** `one` and then `rest`, which was put together from the right. */
const before = (one: Shape, rest: Shape): Shape => {
  // when what follows cannot begin with anything that `one` takes, there is one place where `one` can end
  const ends = !rest.nullable && !one.ambiguous && isDisjoint(one.all, rest.first)
  return {
    nullable: one.nullable && rest.nullable,
    first: one.nullable ? one.first | rest.first : one.first,
    all: one.all | rest.all,
    degree: ends ? Math.max(one.degree, rest.degree) : one.degree + rest.degree,
    ways: ends ? Math.max(one.ways, rest.ways) : one.ways * rest.ways,
    variable: one.variable || rest.variable,
    ambiguous: one.ambiguous || rest.ambiguous || (one.variable && !ends && rest.all !== 0n),
    size: one.size + rest.size
  }
}

const judgeSequence = (items: ReadonlyArray<Pattern>): Judged => {
  let rest = nothing
  for (const item of items.toReversed()) {
    const judged = judge(item)
    if (Result.isFailure(judged)) return judged
    // a look-around takes nothing; it is tried wherever what stands before it ends
    rest = isZeroWidth(item)
      ? { ...rest, degree: Math.max(rest.degree, judged.success.degree), size: rest.size + judged.success.size }
      : before(judged.success, rest)
    if (rest.ways > maxWays || rest.size > maxSize) return bounded(rest)
  }
  return Result.succeed(rest)
}

const either = (left: Shape, right: Shape): Shape => {
  const overlap = left.nullable || right.nullable || !isDisjoint(left.first, right.first)
  return {
    nullable: left.nullable || right.nullable,
    first: left.first | right.first,
    all: left.all | right.all,
    degree: Math.max(left.degree, right.degree),
    ways: overlap ? left.ways + right.ways : Math.max(left.ways, right.ways),
    variable: true,
    ambiguous: left.ambiguous || right.ambiguous || overlap,
    size: left.size + right.size
  }
}

const judgeChoice = (options: ReadonlyArray<Pattern>): Judged => {
  let out: Shape | undefined
  for (const option of options) {
    const judged = judge(option)
    if (Result.isFailure(judged)) return judged
    out = out === undefined ? judged.success : either(out, judged.success)
  }
  const single = options.every((option) =>
    isSingle(option) || (option._tag === "Sequence" && isSingle(option.items[0]) && option.items.length === 1)
  )
  return bounded(out === undefined ? nothing : single ? { ...out, variable: false } : out)
}

const isSingle = (pattern: Pattern | undefined): pattern is Extract<Pattern, { readonly _tag: "Chars" }> =>
  pattern?._tag === "Chars"

/** Whether a character at an end of the body, found nowhere else in it, tells where one round ends and the next begins. */
const isSeparated = (body: Pattern): boolean => {
  if (body._tag !== "Sequence") return false
  const items = body.items.filter((item) => !isZeroWidth(item))
  const apart = (end: Pattern | undefined, rest: ReadonlyArray<Pattern>): boolean => {
    if (!isSingle(end)) return false
    const judged = judgeSequence(rest)
    return Result.isSuccess(judged) && isDisjoint(end.set, judged.success.all)
  }
  return apart(items[0], items.slice(1)) || apart(items.at(-1), items.slice(0, -1))
}

/** Whether every option of a choice begins with a character of its own and is of one length: `(?:[a-z]|%[0-9A-F]{2})*`. */
const isPlainChoice = (body: Pattern): boolean =>
  body._tag === "Choice" && body.options.every((option) => {
    const judged = judge(option)
    return Result.isSuccess(judged) && !judged.success.variable
  })

/** Whether a pattern looks ahead or behind anywhere. */
export const hasLook = (pattern: Pattern): boolean => {
  switch (pattern._tag) {
    case "Look":
      return true
    case "Sequence":
      return pattern.items.some(hasLook)
    case "Choice":
      return pattern.options.some(hasLook)
    case "Repeat":
      return hasLook(pattern.body)
    default:
      return false
  }
}

const judgeRepeat = ({ body, max, min }: Extract<Pattern, { readonly _tag: "Repeat" }>): Judged => {
  const judged = judge(body)
  if (Result.isFailure(judged)) return judged
  const inner = judged.success
  const base = {
    ...inner,
    nullable: min === 0 || inner.nullable,
    variable: inner.variable || max !== min,
    size: inner.size * Math.max(1, Number.isFinite(max) ? max : min + 1)
  }
  if (max <= 1) return bounded({ ...base, ways: inner.ways + (max === min ? 0 : 1) })
  const blurred = inner.nullable || inner.ambiguous || (inner.variable && !isSeparated(body) && !isPlainChoice(body))
  if (blurred && (max > manyTimes || inner.degree > 0)) {
    return Result.fail("it repeats what can itself be taken apart in several ways")
  }
  if (max > manyTimes) {
    // the rounds share the text out among them, but a look-around in them sees all of it every time
    const degree = inner.degree > 0 && hasLook(body) ? inner.degree + 1 : inner.degree
    return bounded({ ...base, degree: max === min ? degree : Math.max(1, degree), ways: 1 })
  }
  return bounded({ ...base, ambiguous: blurred, ways: (blurred ? inner.ways ** max : 1) * (max - min + 1) })
}

const judge = (pattern: Pattern): Judged => {
  switch (pattern._tag) {
    case "Chars":
      return Result.succeed({ ...nothing, nullable: false, first: pattern.set, all: pattern.set, size: 1 })
    case "Start":
    case "Edge":
      return Result.succeed(nothing)
    case "Look":
      return Result.map(judge(pattern.body), ({ degree, size }): Shape => ({ ...nothing, degree, size }))
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

/** A loop with nothing after it cannot be taken back: all that counts is that it can begin. */
const withoutEnd = (pattern: Pattern): Pattern => {
  if (pattern._tag === "Choice") return { _tag: "Choice", options: pattern.options.map(withoutEnd) }
  if (pattern._tag !== "Sequence") return pattern
  const last = pattern.items.at(-1)
  return last?._tag === "Repeat" && isSingle(last.body)
    ? { _tag: "Sequence", items: [...pattern.items.slice(0, -1), { ...last, max: last.min }] }
    : pattern
}

/** What a pattern costs the engine, or one clause on why it is not to be trusted with it. Nothing is run to find out. */
export const patternCost = (pattern: Pattern): Result.Result<PatternCost, string> =>
  Result.flatMap(judge(withoutEnd(pattern)), ({ degree, ways }): Result.Result<PatternCost, string> => {
    // without an anchor the engine starts again at every character
    const total = Math.max(1, degree + (degree > 0 && !isAnchored(pattern) ? 1 : 0))
    return total > maxDegree
      ? Result.fail("too many of its repeats compete for the same text")
      : Result.succeed({ degree: total, ways })
  })

/**
 * Reads a regular expression, already known to compile with the `u` flag, into the shape its cost depends on: which
 * characters each place takes, what repeats and what is a choice.
 */
import * as Result from "effect/Result"

/** One bit for each ASCII character, and one for all others together. */
export type CharSet = bigint

export type Pattern =
  | { readonly _tag: "Chars"; readonly set: CharSet; /** As written. */ readonly source: string }
  | { readonly _tag: "Start" }
  | { readonly _tag: "Edge"; readonly edge: "end" | "boundary" | "inside" }
  | { readonly _tag: "Look"; readonly body: Pattern }
  | { readonly _tag: "Sequence"; readonly items: ReadonlyArray<Pattern> }
  | { readonly _tag: "Choice"; readonly options: ReadonlyArray<Pattern> }
  | { readonly _tag: "Repeat"; readonly body: Pattern; readonly min: number; readonly max: number }

const bit = (code: number): CharSet => 1n << BigInt(Math.min(code, 128))
const all: CharSet = (1n << 129n) - 1n

const range = (from: number, to: number): CharSet => {
  let set = 0n
  for (let code = from; code <= Math.min(to, 127); code++) set |= bit(code)
  return to > 127 ? set | bit(128) : set
}

const digits = range(48, 57)
const word = digits | range(65, 90) | range(97, 122) | bit(95)
const space = range(9, 13) | bit(32) | bit(128)
const lineEnds = bit(10) | bit(13) | bit(128)

/** Sets by the letter of their escape; a complement keeps the bit of the others, some of which are always in it. */
const classes: Readonly<Record<string, CharSet>> = {
  d: digits,
  D: all & ~digits,
  w: word,
  W: all & ~word,
  s: space,
  S: (all & ~space) | bit(128)
}

const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, b: 8, "0": 0 }

const maxDepth = 32
const maxSource = 2_000

class Refused {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

interface Cursor {
  readonly chars: ReadonlyArray<string>
  at: number
  depth: number
}

type Read<A> = Result.Result<A, Refused>

const refuse = (reason: string): Read<never> => Result.fail(new Refused(reason))

const peek = (cursor: Cursor, ahead = 0): string => cursor.chars[cursor.at + ahead] ?? ""
const eat = (cursor: Cursor, text: string): boolean => {
  for (let index = 0; index < text.length; index++) if (peek(cursor, index) !== text[index]) return false
  cursor.at += text.length
  return true
}

const until = (cursor: Cursor, end: string): string => {
  const start = cursor.at
  while (cursor.at < cursor.chars.length && peek(cursor) !== end) cursor.at++
  const text = cursor.chars.slice(start, cursor.at).join("")
  cursor.at++
  return text
}

const hexadecimal = (cursor: Cursor, length: number): number => {
  const digits = cursor.chars.slice(cursor.at, cursor.at + length).join("")
  cursor.at += length
  return Number.parseInt(digits, 16)
}

/** What a backslash starts, inside or outside of brackets: a set, or the code of one character. */
const escape = (cursor: Cursor): Read<{ readonly set: CharSet; readonly code: number | undefined }> => {
  const letter = peek(cursor)
  cursor.at++
  const known = classes[letter]
  if (known !== undefined) return Result.succeed({ set: known, code: undefined })
  if (letter === "p" || letter === "P") {
    until(cursor, "}")
    return Result.succeed({ set: all, code: undefined })
  }
  if (letter === "k" || (letter >= "1" && letter <= "9")) return refuse("it refers back to a group")
  const code = letter === "x"
    ? hexadecimal(cursor, 2)
    : letter === "u"
    ? eat(cursor, "{") ? Number.parseInt(until(cursor, "}"), 16) : hexadecimal(cursor, 4)
    : letter === "c"
    ? (cursor.chars[cursor.at++] ?? "").charCodeAt(0) % 32
    : controls[letter] ?? letter.codePointAt(0) ?? 128
  return Result.succeed({ set: bit(code), code })
}

const member = (cursor: Cursor): Read<{ readonly set: CharSet; readonly code: number | undefined }> => {
  if (eat(cursor, "\\")) return escape(cursor)
  const code = peek(cursor).codePointAt(0) ?? 128
  cursor.at++
  return Result.succeed({ set: bit(code), code })
}

const brackets = (cursor: Cursor): Read<CharSet> => {
  const negated = eat(cursor, "^")
  let set = 0n
  while (cursor.at < cursor.chars.length && !eat(cursor, "]")) {
    const from = member(cursor)
    if (Result.isFailure(from)) return Result.fail(from.failure)
    set |= from.success.set
    if (peek(cursor) !== "-" || peek(cursor, 1) === "]") continue
    cursor.at++
    const to = member(cursor)
    if (Result.isFailure(to)) return Result.fail(to.failure)
    set |= from.success.code === undefined || to.success.code === undefined
      ? to.success.set | bit(45)
      : range(from.success.code, to.success.code)
  }
  return Result.succeed(negated ? (all & ~set) | bit(128) : set)
}

const group = (cursor: Cursor): Read<Pattern> => {
  const look = eat(cursor, "?=") || eat(cursor, "?!") || eat(cursor, "?<=") || eat(cursor, "?<!")
  if (!look && !eat(cursor, "?:")) {
    if (eat(cursor, "?<")) until(cursor, ">")
    else if (peek(cursor) === "?") return refuse("it changes flags on the way")
  }
  cursor.depth++
  if (cursor.depth > maxDepth) return refuse("its groups are nested too deeply")
  const body = choice(cursor)
  cursor.depth--
  cursor.at++
  return look ? Result.map(body, (body): Pattern => ({ _tag: "Look", body })) : body
}

const chars = (cursor: Cursor, start: number, set: CharSet): Pattern => ({
  _tag: "Chars",
  set,
  source: cursor.chars.slice(start, cursor.at).join("")
})

const atom = (cursor: Cursor): Read<Pattern> => {
  if (eat(cursor, "^")) return Result.succeed({ _tag: "Start" })
  if (eat(cursor, "$")) return Result.succeed({ _tag: "Edge", edge: "end" })
  if (eat(cursor, "\\b")) return Result.succeed({ _tag: "Edge", edge: "boundary" })
  if (eat(cursor, "\\B")) return Result.succeed({ _tag: "Edge", edge: "inside" })
  if (eat(cursor, "(")) return group(cursor)
  const start = cursor.at
  if (eat(cursor, "[")) return Result.map(brackets(cursor), (set) => chars(cursor, start, set))
  if (eat(cursor, ".")) return Result.succeed(chars(cursor, start, (all & ~lineEnds) | bit(128)))
  return Result.map(member(cursor), ({ set }) => chars(cursor, start, set))
}

const bounds = (cursor: Cursor): readonly [min: number, max: number] | undefined => {
  if (eat(cursor, "*")) return [0, Infinity]
  if (eat(cursor, "+")) return [1, Infinity]
  if (eat(cursor, "?")) return [0, 1]
  if (!eat(cursor, "{")) return undefined
  const [min = "", max] = until(cursor, "}").split(",")
  return [Number(min), max === undefined ? Number(min) : max === "" ? Infinity : Number(max)]
}

const sequence = (cursor: Cursor): Read<Pattern> => {
  const items: Array<Pattern> = []
  while (cursor.at < cursor.chars.length && peek(cursor) !== "|" && peek(cursor) !== ")") {
    const body = atom(cursor)
    if (Result.isFailure(body)) return body
    const times = bounds(cursor)
    if (times === undefined) {
      items.push(body.success)
      continue
    }
    eat(cursor, "?")
    const [min, max] = times
    items.push({ _tag: "Repeat", body: body.success, min, max })
  }
  return Result.succeed({ _tag: "Sequence", items })
}

const choice = (cursor: Cursor): Read<Pattern> => {
  const options: Array<Pattern> = []
  do {
    const option = sequence(cursor)
    if (Result.isFailure(option)) return option
    options.push(option.success)
  } while (eat(cursor, "|"))
  const [only] = options
  return Result.succeed(options.length === 1 && only !== undefined ? only : { _tag: "Choice", options })
}

/** The shape of a pattern, or one clause on why it is not looked into. */
export const parsePattern = (source: string): Result.Result<Pattern, string> =>
  source.length > maxSource
    ? Result.fail("it is too long")
    : Result.mapError(choice({ chars: Array.from(source), at: 0, depth: 0 }), ({ reason }) => reason)

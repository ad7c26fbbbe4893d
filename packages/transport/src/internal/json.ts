import * as Result from "effect/Result"

/** Why a line is no JSON value that may be looked at. */
export type JsonFault = "Syntax" | "TooDeep"
/** What a body is read as: its value, or why there is none. */
export type Json = Result.Result<unknown, JsonFault | "Encoding">

const QUOTE = 34
const BACKSLASH = 92
const OPEN_BRACKET = 91
const CLOSE_BRACKET = 93
const OPEN_BRACE = 123
const CLOSE_BRACE = 125

/** Whether a text has more than `limit` of `bracket`; native search, so long strings between them cost next to nothing. */
const moreThan = (text: string, bracket: string, limit: number): boolean => {
  let count = 0
  for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) {
    if (++count > limit) return true
  }
  return false
}

const deeperThan = (text: string, limit: number): boolean => {
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE:
        for (i++; i < text.length && text.charCodeAt(i) !== QUOTE; i++) if (text.charCodeAt(i) === BACKSLASH) i++
        break
      case OPEN_BRACKET:
      case OPEN_BRACE:
        if (++depth > limit) return true
        break
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        depth--
    }
  }
  return false
}

/**
 * Whether arrays and objects nest deeper than `limit`. Looked at before parsing, since a parsed tower takes many times its
 * text; the look at every character is for texts with enough brackets to build one.
 */
export const isTooDeep = (text: string, limit: number): boolean =>
  text.length > 2 * limit &&
  (moreThan(text, "{", limit / 2) || moreThan(text, "[", limit / 2)) &&
  deeperThan(text, limit)

const syntax = (): JsonFault => "Syntax"

export const parseJson = (text: string, depth: number): Result.Result<unknown, JsonFault> =>
  isTooDeep(text, depth)
    ? Result.fail("TooDeep")
    : Result.try({ try: (): unknown => JSON.parse(text), catch: syntax })

const decoder = new TextDecoder("utf-8", { fatal: true })
const encoding = (): "Encoding" => "Encoding"

/** The value of a whole body; gives nothing back that keeps the bytes or their text alive. */
export const parseBytes = (bytes: Uint8Array, depth: number): Json => {
  const text = Result.try({ try: () => decoder.decode(bytes), catch: encoding })
  return Result.isSuccess(text) ? parseJson(text.success, depth) : Result.fail(text.failure)
}

/** Bytes of a text in UTF-8. */
export const byteLength = (text: string): number => {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    // A surrogate pair is four bytes: two more than its two units.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}

/** Whether a text has more bytes than `limit`; counts only where its length leaves it open. */
export const isLongerThan = (text: string, limit: number): boolean =>
  text.length > limit || (text.length * 3 > limit && byteLength(text) > limit)

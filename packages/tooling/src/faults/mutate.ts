/** Ways in which messages go wrong. */
import type { Random } from "./random.ts"
import { isJson, parse } from "./wire.ts"

const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`

/** Values where others were meant. */
const odd: ReadonlyArray<unknown> = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  -0,
  Number.MAX_SAFE_INTEGER + 2,
  "",
  " ",
  "0",
  "constructor",
  "__proto__",
  "\u0000",
  "\ud800",
  "\u202e\u2028\ufeff\u{1f600}",
  "x".repeat(5000),
  "2026-07-28",
  "1999-01-01",
  [],
  {},
  [[]],
  { "": {} },
  { toString: 1, hasOwnProperty: null, then: 1 }
]

/** Texts that no value is written as. */
const oddText: ReadonlyArray<string> = [
  "1e999",
  "-0.0e-0",
  "123456789012345678901234567890",
  nested(100),
  nested(200),
  nested(50_000),
  "{\"__proto__\":{\"x\":1}}",
  "{\"a\":1,\"a\":2}",
  "\"\\ud800\"",
  "NaN",
  "undefined",
  "01",
  "'x'"
]

const keys = [
  "id",
  "method",
  "params",
  "jsonrpc",
  "result",
  "error",
  "_meta",
  "progressToken",
  "name",
  "arguments",
  "cursor",
  "uri",
  "__proto__"
]

/** The objects and arrays inside a value, down to a depth. */
const holders = (value: unknown, found: Array<object> = [], depth = 0): Array<object> => {
  if (typeof value !== "object" || value === null || depth > 100) return found
  found.push(value)
  for (const member of Object.values(value)) holders(member, found, depth + 1)
  return found
}

/** As text; what is too deep for that stays as it was. */
const print = (value: unknown, text: string): string => {
  try {
    return JSON.stringify(value)
  } catch {
    return text
  }
}

/** Puts something else in the place of one member, or takes it away, or adds one. */
const bend = (text: string, random: Random): string => {
  const value = parse(text)
  const holder = random.pick(holders(value))
  if (holder === undefined) return text
  const own = Object.keys(holder)
  const key = random.chance(0.2) ? random.pick(keys) : random.pick(own) ?? random.pick(keys)
  if (key === undefined) return text
  if (random.chance(0.2)) {
    Reflect.deleteProperty(holder, key)
    return print(value, text)
  }
  if (random.chance(0.3)) {
    const mark = "\"@odd@\""
    Object.defineProperty(holder, key, { value: "@odd@", enumerable: true, configurable: true, writable: true })
    return print(value, text).replace(mark, () => random.pick(oddText) ?? "")
  }
  Object.defineProperty(holder, key, { value: random.pick(odd), enumerable: true, configurable: true, writable: true })
  return print(value, text)
}

const flip = (bytes: Uint8Array, random: Random): Uint8Array => {
  const flipped = bytes.slice()
  for (let flips = 1 + random.below(4); flips > 0; flips--) {
    const index = random.below(flipped.length)
    flipped[index] = (flipped[index] ?? 0) ^ (1 << random.below(8))
  }
  return flipped
}

const utf8 = new TextEncoder()

/** One message gone wrong, in one or more ways. */
export const mutate = (text: string, random: Random): Uint8Array => {
  switch (random.below(8)) {
    case 0:
      return flip(utf8.encode(text), random)
    case 1:
      return utf8.encode(text.slice(0, random.below(text.length)))
    case 2:
      return utf8.encode(bend(bend(bend(text, random), random), random))
    case 3:
      return utf8.encode(
        `[${Array.from({ length: random.below(5) }, () => random.chance(0.5) ? text : bend(text, random)).join(",")}]`
      )
    case 4:
      return utf8.encode(text + (random.pick([text, "x", "\u0000", "}", ",", "\r"]) ?? ""))
    default:
      return utf8.encode(bend(text, random))
  }
}

/** The messages with some doubled, some exchanged and some gone wrong. */
export const spoil = (texts: ReadonlyArray<string>, random: Random): ReadonlyArray<Uint8Array> => {
  const spoilt = texts.flatMap((text) => {
    const message = random.chance(0.6) ? mutate(text, random) : utf8.encode(text)
    return random.chance(0.15) ? [message, message] : [message]
  })
  for (let swaps = random.below(3); swaps > 0; swaps--) {
    const [a, b] = [random.below(spoilt.length), random.below(spoilt.length)]
    const [one, other] = [spoilt[a], spoilt[b]]
    if (one !== undefined && other !== undefined) {
      spoilt[a] = other
      spoilt[b] = one
    }
  }
  return spoilt
}

/** Headers with some gone wrong. */
export const spoilHeaders = (
  headers: Readonly<Record<string, string>>,
  random: Random
): Readonly<Record<string, string>> => {
  const spoilt: Record<string, string> = { ...headers }
  for (let times = random.below(3); times > 0; times--) {
    const name = random.pick(Object.keys(headers)) ?? "accept"
    switch (random.below(4)) {
      case 0:
        Reflect.deleteProperty(spoilt, name)
        break
      case 1:
        spoilt[name] = random.pick([
          "",
          " ",
          "x",
          "\u00e9",
          "=?base64?!!?=",
          "=?base64?eA==?=",
          "2025-06-18",
          "2026-07-28",
          "*/*;q=0"
        ]) ?? ""
        break
      case 2:
        spoilt[
          random.pick([
            "mcp-session-id",
            "last-event-id",
            "mcp-method",
            "mcp-name",
            "origin",
            "host",
            "content-encoding"
          ]) ?? "x"
        ] = random.pick(["x", "tools/call", "http://evil.example", "gzip", "0"]) ?? ""
        break
      default:
        spoilt[name] = "y".repeat(1 + random.below(3000))
    }
  }
  return spoilt
}

/** What a message asks for, where it can be read. */
export const readRequest = (bytes: Uint8Array): { readonly id: unknown; readonly method: unknown } | undefined => {
  const value = parse(new TextDecoder().decode(bytes))
  return isJson(value) ? { id: value["id"], method: value["method"] } : undefined
}

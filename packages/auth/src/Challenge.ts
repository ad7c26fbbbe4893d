/**
 * Challenges: what a server wants to see before it answers (`WWW-Authenticate`, RFC 9110, 11.6.1), read and written.
 *
 * Reading takes anything, fails never and is bounded: what cannot be read is left out. Writing keeps every value inside
 * its quotes and its header.
 *
 * **Example** (From the answer of a server)
 *
 * ```ts
 * import { Challenge } from "@mcpfx/auth"
 *
 * const header = `Basic realm="old", bearer scope="read write", error=insufficient_scope`
 * const bearer = Challenge.find(header, "Bearer")
 * bearer?.parameters.get("scope") // => "read write"
 * bearer?.parameters.get("error") // => "insufficient_scope"
 * ```
 *
 * @since 0.1.0
 */

/**
 * One challenge of a header.
 *
 * @category models
 * @since 0.1.0
 */
export interface Challenge {
  /** In lower case, for schemes have no case. */
  readonly scheme: string
  /** By name in lower case; of a name that comes twice the first counts. */
  readonly parameters: ReadonlyMap<string, string>
  /** What some schemes have in place of parameters, such as `Negotiate`. */
  readonly token68?: string | undefined
}

/** Characters of a header that are read; no header that means well is longer. */
const maxLength = 32 * 1024
const maxChallenges = 32
const maxParameters = 64

// Each is anchored where it is tried and has no nested repetition, so reading is linear.
const separators = /[ \t\r\n,]*/y
const space = /[ \t\r\n]*/y
const token = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/y
const token68 = /[0-9A-Za-z\-._~+/]+=*(?=[ \t]*(?:,|$))/y
const quoted = /"(?:[^"\\]|\\[^])*"/y
/** Wider than a token: addresses are met without quotes in the field. */
const bare = /[^\s,]*/y

/** A place in a text that moves forward. */
class Reader {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  get ended(): boolean {
    return this.at >= this.text.length
  }

  /** What matches here, which is then behind. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text)?.[0]
    if (found !== undefined) this.at += found.length
    return found
  }

  next(character: string): boolean {
    if (this.text[this.at] !== character) return false
    this.at++
    return true
  }
}

interface Building {
  readonly scheme: string
  readonly parameters: Map<string, string>
  token68?: string
  /** The parameter that was last and had no quotes: words that follow without a comma are more of it. */
  open: string | undefined
}

const unescape = (text: string): string => text.slice(1, -1).replace(/\\([^])/g, "$1")

const add = (current: Building | undefined, name: string, value: string): boolean => {
  if (current === undefined || current.parameters.size >= maxParameters || current.parameters.has(name)) return false
  current.parameters.set(name, value)
  return true
}

/** The value behind a `=`; a quote that never ends spoils the rest. */
const readValue = (reader: Reader, current: Building | undefined, name: string): void => {
  if (reader.text[reader.at] !== "\"") {
    const value = reader.take(bare) ?? ""
    const added = add(current, name, value)
    if (current !== undefined) current.open = added ? name : undefined
    return
  }
  const value = reader.take(quoted)
  if (value === undefined) reader.at = reader.text.length
  else add(current, name, unescape(value))
  if (current !== undefined) current.open = undefined
}

/**
 * All challenges of a header, in their order. Several headers are read joined by a comma, which is how they come.
 *
 * At most 32 challenges of 64 parameters within the first 32 KiB are read.
 *
 * @category decoding
 * @since 0.1.0
 */
export const parse = (header: string | undefined): ReadonlyArray<Challenge> => {
  if (header === undefined) return []
  const reader = new Reader(header.slice(0, maxLength))
  const challenges: Array<Building> = []
  let current: Building | undefined
  while (!reader.ended) {
    const atBorder = (reader.take(separators) ?? "").includes(",") || current === undefined
    const word = reader.take(token)
    if (word === undefined) {
      reader.at++
      continue
    }
    const afterWord = reader.at
    reader.take(space)
    if (reader.next("=")) {
      reader.take(space)
      readValue(reader, current, word.toLowerCase())
      continue
    }
    reader.at = afterWord
    if (current !== undefined && !atBorder) {
      if (current.open !== undefined) {
        current.parameters.set(current.open, `${current.parameters.get(current.open) ?? ""} ${word}`)
      }
      continue
    }
    if (challenges.length >= maxChallenges) break
    current = { scheme: word.toLowerCase(), parameters: new Map(), open: undefined }
    challenges.push(current)
    if (reader.take(space) === "") continue
    const whole = reader.take(token68)
    if (whole !== undefined) current.token68 = whole
  }
  return challenges.map(({ parameters, scheme, token68 }) =>
    token68 === undefined ? { scheme, parameters } : { scheme, parameters, token68 }
  )
}

/**
 * The first challenge of a scheme, whose case does not matter.
 *
 * @category decoding
 * @since 0.1.0
 */
export const find = (header: string | undefined, scheme: string): Challenge | undefined => {
  const wanted = scheme.toLowerCase()
  return parse(header).find((challenge) => challenge.scheme === wanted)
}

/** Clients that compare letters expect these. */
const spellings: ReadonlyMap<string, string> = new Map([["bearer", "Bearer"], ["dpop", "DPoP"], ["basic", "Basic"]])

const notToken = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/g

/** Control characters would leave the header, and others are not for headers. */
const quote = (value: string): string =>
  `"${value.replace(/[^\x20-\x7e]/g, (character) => character < " " ? " " : "?").replace(/["\\]/g, "\\$&")}"`

/**
 * What `print` takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Printable {
  readonly scheme: string
  /** Those that are `undefined` are left out. */
  readonly parameters: Iterable<readonly [name: string, value: string | undefined]>
}

/**
 * A challenge as it stands in the header. Characters that cannot be in a header become a space or `?`; quotes and
 * backslashes are escaped; what is no token cannot be a name and is left out.
 *
 * @category encoding
 * @since 0.1.0
 */
export const print = (challenge: Printable): string => {
  const scheme = spellings.get(challenge.scheme.toLowerCase()) ?? challenge.scheme.replace(notToken, "")
  const parameters: Array<string> = []
  for (const [name, value] of challenge.parameters) {
    const clean = name.replace(notToken, "")
    if (value !== undefined && clean !== "" && clean === name) parameters.push(`${name}=${quote(value)}`)
  }
  return parameters.length === 0 ? scheme : `${scheme} ${parameters.join(", ")}`
}

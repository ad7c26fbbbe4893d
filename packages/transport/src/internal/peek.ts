import type * as JsonRpc from "@mcpfx/schema/JsonRpc"

/** What the start of a message that is too long to be read tells about it. */
export interface Peeked {
  readonly id: JsonRpc.RequestId | undefined
  /** Whether it has a `result` or an `error`; a request otherwise, as far as can be seen. */
  readonly response: boolean
}

/** The end of the JSON string that starts at `from`, past its closing quote; -1 where the text ends before. */
const stringEnd = (text: string, from: number): number => {
  for (let i = from + 1; i < text.length; i++) {
    const char = text[i]
    if (char === "\\") i++
    else if (char === "\"") return i + 1
  }
  return -1
}

/** The end of the JSON value that starts at `from`; -1 where the text ends before. */
const valueEnd = (text: string, from: number): number => {
  let depth = 0
  for (let i = from; i < text.length; i++) {
    switch (text[i]) {
      case "\"": {
        const end = stringEnd(text, i)
        if (end === -1) return -1
        if (depth === 0) return end
        i = end - 1
        break
      }
      case "{":
      case "[":
        depth++
        break
      case "}":
      case "]":
        if (depth === 0) return i
        if (--depth === 0) return i + 1
        break
      case ",":
        if (depth === 0) return i
    }
  }
  return -1
}

const whiteSpace = /^[ \t\r\n]*/
const skipSpace = (text: string, from: number): number => from + (whiteSpace.exec(text.slice(from))?.[0].length ?? 0)

const plainId = /^(?:"[^"\\]*"|-?[0-9]{1,15})$/

const readId = (raw: string): JsonRpc.RequestId | undefined => {
  if (!plainId.test(raw)) return undefined
  return raw.startsWith("\"") ? raw.slice(1, -1) : Number(raw)
}

/**
 * Looks for the id among the members of the outermost object, as far as the text goes. So a message of which only the
 * start was kept can still be answered, or fail the request it answers.
 */
export const peek = (text: string): Peeked => {
  let id: JsonRpc.RequestId | undefined = undefined
  let response = false
  let at = skipSpace(text, 0)
  if (text[at] !== "{") return { id, response }
  do {
    const key = skipSpace(text, at + 1)
    const keyEnd = text[key] === "\"" ? stringEnd(text, key) : -1
    if (keyEnd === -1) break
    const name = text.slice(key + 1, keyEnd - 1)
    if (name === "result" || name === "error") response = true
    const colon = skipSpace(text, keyEnd)
    if (text[colon] !== ":") break
    const start = skipSpace(text, colon + 1)
    const end = valueEnd(text, start)
    if (end === -1) break
    if (name === "id") id = readId(text.slice(start, end).trim())
    at = skipSpace(text, end)
  } while (text[at] === ",")
  return { id, response }
}

/** Reads what came back: throws unless it is what the request is to be answered with. */
import * as Messages from "./messages.ts"
import { hello, longText, resource } from "./texts.ts"

const isObject = (u: unknown): u is Readonly<Record<string, unknown>> => typeof u === "object" && u !== null

/** What is at the end of a path, if there is something. */
export const member = (u: unknown, ...path: ReadonlyArray<string | number>): unknown =>
  path.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), u)

/** Some write the text of a text as JSON again. */
const sameText = (text: unknown, expected: string): boolean => text === expected || text === JSON.stringify(expected)

/** The progress that was told before the answer. */
const stepsIn = (messages: ReadonlyArray<unknown>): string =>
  messages.slice(0, -1).map((message) => member(message, "params", "progress")).join()

const fault = (template: Messages.Template, id: number, messages: ReadonlyArray<unknown>): string | undefined => {
  const answer = messages.at(-1)
  const result = member(answer, "result")
  if (member(answer, "id") !== id || !isObject(result)) return "no result under the id"
  if (result["isError"] === true) return "the tool failed"
  if (template.method === "tools/list") {
    const tools = result["tools"]
    return Array.isArray(tools) && tools.length === 103 ? undefined : "not 103 tools"
  }
  if (template.method === "resources/read") {
    return member(result, "contents", 0, "text") === resource.text ? undefined : "not the text of the resource"
  }
  const text = member(result, "content", 0, "text")
  switch (template.name) {
    case "add":
      return sameText(text, String(id + 1)) ? undefined : "not the sum"
    case "echo":
      return sameText(text, longText) ? undefined : "not the text that was sent"
    case "progress":
      return stepsIn(messages) === "1,2,3" ? undefined : "not three steps"
    case "ask":
      return sameText(text, hello(Messages.name)) ? undefined : "not the greeting"
    default:
      return undefined
  }
}

/** Throws unless these messages are what the request of this id is to be answered with, in this order. */
export const check = (template: Messages.Template, id: number, messages: ReadonlyArray<unknown>): void => {
  const what = fault(template, id, messages)
  if (what !== undefined) throw new Error(`${what}: ${JSON.stringify(messages).slice(0, 600)}`)
}

/** The id of the question in a message, where it is one. */
export const questionIn = (message: unknown): string | number | undefined => {
  const id = member(message, "id")
  const isQuestion = member(message, "method") === "elicitation/create"
  return isQuestion && (typeof id === "string" || typeof id === "number") ? id : undefined
}

/** What an answer of 2026-07-28 asks for before the call can go on. */
export const roundIn = (
  message: unknown
): { readonly keys: ReadonlyArray<string>; readonly state: string | undefined } | undefined => {
  const result = member(message, "result")
  if (member(result, "resultType") !== "input_required") return undefined
  const requests = member(result, "inputRequests")
  const state = member(result, "requestState")
  return {
    keys: isObject(requests) ? Object.keys(requests) : [],
    state: typeof state === "string" ? state : undefined
  }
}

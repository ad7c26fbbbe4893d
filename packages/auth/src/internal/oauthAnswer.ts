/** The body of an answer as an object, in whichever of the two forms it is written (field AUT-18). */
import * as Headers from "effect/http/Headers"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Answer } from "./outbound.ts"

/** Names from the wire: read with `member`, never with a dot. */
export type Members = Readonly<Record<string, unknown>>

/** What is there itself, not what every object inherits. */
export const member = (members: Members, name: string): unknown =>
  Object.hasOwn(members, name) ? members[name] : undefined

/** A text that says something: `null`, `""` and other types are one with absence. */
export const textOf = (members: Members, name: string): string | undefined => {
  const value = member(members, name)
  return typeof value === "string" && value !== "" ? value : undefined
}

const decimal = /^\d+(?:\.\d+)?$/

/** A number, or a text that is one in decimals, as some servers write it. */
export const numberOf = (members: Members, name: string): number | undefined => {
  const value = member(members, name)
  if (typeof value === "number") return Number.isNaN(value) ? undefined : value
  return typeof value === "string" && decimal.test(value.trim()) ? Number(value) : undefined
}

const isMembers = (value: unknown): value is Members => Predicate.isObject(value) && !Array.isArray(value)

const nothing = (): undefined => undefined

export const parseJson = (text: string): unknown =>
  Result.getOrElse(Result.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))), nothing)

/** `name=value` pairs and nothing that looks like prose or markup. */
const pairs = /^[\w.~%+-]+=[^<>\s&]*(?:&[\w.~%+-]+=[^<>\s&]*)*$/

const mediaType = (headers: Headers.Headers): string =>
  Option.getOrElse(Headers.get(headers, "content-type"), () => "").split(";", 1).join("").trim().toLowerCase()

/** Which of the two forms an answer is in is found out by looking: servers label them wrongly. */
export const membersOf = ({ body, headers }: Pick<Answer, "body" | "headers">): Members | undefined => {
  const json = parseJson(body)
  if (isMembers(json)) return json
  const type = mediaType(headers)
  const form = type === "application/x-www-form-urlencoded" || type === "text/plain" || type === ""
  return form && pairs.test(body.trim()) ? Object.fromEntries(new URLSearchParams(body.trim())) : undefined
}

/** What an unreadable answer looked like, without a word of it. */
export const looksLike = ({ body, headers }: Pick<Answer, "body" | "headers">): string => {
  if (body.trim() === "") return "nothing"
  return mediaType(headers) === "text/html" || body.trimStart().startsWith("<") ? "a page" : "no object"
}

/** The members of JSON objects and forms that others wrote: nothing of them is believed to be there, or of any type. */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/** Names from the wire: read with `member`, never with a dot. */
export type Members = Readonly<Record<string, unknown>>

export const isMembers = (value: unknown): value is Members => Predicate.isObject(value) && !Array.isArray(value)

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

const nothing = (): undefined => undefined

/** `undefined` for what is no JSON. A mark of byte order does not matter. */
export const parseJson = (text: string): unknown =>
  Result.getOrElse(Result.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))), nothing)

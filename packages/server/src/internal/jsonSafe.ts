/**
 * Makes JSON of what somebody logs. What could give away the insides of a server stays out: of errors and causes only
 * their names are kept, and what is redacted stays redacted.
 */
import * as Cause from "effect/Cause"
import * as Result from "effect/Result"

const maxDepth = 8
const maxMembers = 100

/** How many values may still be looked at: each costs at least a character of what is kept. */
interface Budget {
  left: number
}

type Json = string | number | boolean | null | ReadonlyArray<Json> | { readonly [key: string]: Json }

const nameOf = (error: Error): string => {
  const tag: unknown = Reflect.get(error, "_tag")
  return typeof tag === "string" ? tag : error.name
}

const object = (value: object, depth: number, above: ReadonlyArray<object>, budget: Budget): Json => {
  if (value instanceof Error) return nameOf(value)
  if (Cause.isCause(value)) return "Cause"
  if (depth === 0 || budget.left <= 0 || above.includes(value)) return "[…]"
  const path = [...above, value]
  if (value instanceof Map) return object(Array.from(value), depth, path, budget)
  if (value instanceof Set) return object(Array.from(value), depth, path, budget)
  if (Array.isArray(value)) return value.slice(0, maxMembers).map((item) => json(item, depth - 1, path, budget))
  const toJSON: unknown = Reflect.get(value, "toJSON")
  if (typeof toJSON === "function") return json(Reflect.apply(toJSON, value, []), depth - 1, path, budget)
  const members: Record<string, Json> = Object.create(null)
  for (const key of Object.keys(value).slice(0, maxMembers)) {
    const member: unknown = Reflect.get(value, key)
    if (member !== undefined && typeof member !== "function") members[key] = json(member, depth - 1, path, budget)
  }
  return members
}

const json = (value: unknown, depth: number, above: ReadonlyArray<object>, budget: Budget): Json => {
  budget.left -= 1
  switch (typeof value) {
    case "string":
    case "boolean":
      return value
    case "number":
      return Number.isFinite(value) ? value : String(value)
    case "bigint":
      return String(value)
    case "object":
      return value === null ? null : object(value, depth, above, budget)
    case "symbol":
      return String(value)
    default:
      return null
  }
}

/**
 * `value` as JSON of at most `length` characters; longer JSON becomes its start, as a string. Values that throw when they
 * are looked at become a note.
 */
export const jsonSafe = (value: unknown, length: number): unknown =>
  Result.getOrElse(
    Result.try(() => {
      const safe = json(value, maxDepth, [], { left: length })
      const text = JSON.stringify(safe)
      if (text.length <= length) return safe
      return `${(typeof safe === "string" ? safe : text).slice(0, length)}…`
    }),
    () => "[unreadable]"
  )

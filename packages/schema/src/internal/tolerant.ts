/** Reading results as sloppy peers send them: `null` where a member should be absent. */
import { isJsonObject, type JsonObject } from "../JsonRpc.ts"
import type { Reader } from "./codec.ts"

/** Members whose insides belong to someone else: a `null` in there is a value. */
const theirs: ReadonlySet<string> = new Set([
  "_meta",
  "arguments",
  "data",
  "default",
  "experimental",
  "extensions",
  "input",
  "inputSchema",
  "metadata",
  "outputSchema",
  "result",
  "structuredContent"
])

/** Members for which `null` says something. */
const meant: ReadonlySet<string> = new Set(["data", "default", "structuredContent", "ttl", "ttlMs"])

const strip = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(strip)
  return isJsonObject(value) ? stripObject(value) : value
}

const stripObject = (self: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(self)
      .filter(([name, value]) => value !== null || meant.has(name))
      .map(([name, value]) => [name, theirs.has(name) ? value : strip(value)])
  )

/** Reads as `reader` does; where that fails, tries once more without the nulls. */
export const tolerant = <A>(reader: Reader<A>): Reader<A> => ({
  schema: reader.schema,
  read: (wire) => reader.read(wire) ?? reader.read(stripObject(wire))
})

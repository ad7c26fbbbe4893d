import * as Schema from "effect/Schema"
import { readFileSync } from "node:fs"

/** Reads a JSON file and checks its shape; throws an error that names the file. */
export const readJson = <S extends Schema.ConstraintDecoder<unknown>>(path: string, schema: S): S["Type"] => {
  try {
    return Schema.decodeUnknownSync(schema)(JSON.parse(readFileSync(path, "utf8")))
  } catch (cause) {
    throw new Error(`${path} does not hold what it should: ${String(cause)}`, { cause })
  }
}

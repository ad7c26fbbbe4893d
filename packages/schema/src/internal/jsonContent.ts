/** Contents of a resource that are the JSON text of a value. */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as JsonSchema from "../JsonSchema.ts"
import type { SchemaMismatch } from "../SchemaMismatch.ts"
import { mismatch, schemaSide } from "./side.ts"

export interface ContentSide {
  readonly decode: (text: string) => Result.Result<unknown, SchemaMismatch>
  readonly encode: (value: unknown) => Result.Result<string, SchemaMismatch>
}

export const contentSide = (
  name: string,
  content: Schema.ConstraintCodec<unknown, unknown, never, never> | undefined
): ContentSide => {
  if (content === undefined) {
    const none = () => mismatch(name, "content", "the resource declares no schema for its content")
    return { decode: none, encode: none }
  }
  const side = schemaSide<unknown>(name, "content", () => JsonSchema.codec<unknown, never, never>(content))
  return {
    decode: (text) => {
      const parsed = Result.try((): unknown => JSON.parse(text))
      return Result.isSuccess(parsed) ? side.decode(parsed.success) : mismatch(name, "content", "it is not JSON")
    },
    encode: (value) => Result.map(side.encode(value), (encoded) => JSON.stringify(encoded))
  }
}

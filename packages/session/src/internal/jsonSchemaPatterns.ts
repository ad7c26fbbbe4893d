/** Compiles the patterns of a document, after each was judged by what it can cost. */
import { isJsonObject } from "@mcpfx/schema/JsonRpc"
import * as Result from "effect/Result"
import { InvalidSchema, type JsonSchemaError, SchemaTooComplex } from "../JsonSchemaError.ts"
import type { Pattern } from "./jsonSchemaChecks.ts"
import type { Document } from "./jsonSchemaDocument.ts"
import { patternCost } from "./patternCost.ts"

const judge = (source: string, path: string): Result.Result<Pattern, JsonSchemaError> => {
  const regExp = Result.try(() => new RegExp(source, "u"))
  if (Result.isFailure(regExp)) return Result.fail(new InvalidSchema({ path, reason: "it is not a regular expression" }))
  const cost = patternCost(source)
  return Result.isSuccess(cost)
    ? Result.succeed({ source, regExp: regExp.success, ...cost.success })
    : Result.fail(new SchemaTooComplex({ path, limit: "patterns", reason: cost.failure }))
}

/** Every pattern of a document by its source, or why one of them is not used. */
export const judgePatterns = (document: Document, maxPatterns: number): Result.Result<ReadonlyMap<string, Pattern>, JsonSchemaError> => {
  const patterns = new Map<string, Pattern>()
  for (const schema of document.schemas) {
    const path = document.pathOf(schema)
    const { pattern, patternProperties } = schema
    const sources = [
      ...(typeof pattern === "string" ? [[pattern, `${path}/pattern`] as const] : []),
      ...(isJsonObject(patternProperties)
        ? Object.keys(patternProperties).map((source) => [source, `${path}/patternProperties`] as const)
        : [])
    ]
    for (const [source, at] of sources) {
      if (patterns.has(source)) continue
      const judged = judge(source, at)
      if (Result.isFailure(judged)) return Result.fail(judged.failure)
      patterns.set(source, judged.success)
      if (patterns.size > maxPatterns) {
        return Result.fail(new SchemaTooComplex({ path: at, limit: "patterns", reason: `it has more than ${maxPatterns} patterns` }))
      }
    }
  }
  return Result.succeed(patterns)
}

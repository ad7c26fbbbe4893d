/** Compiles the patterns of a document, after each was judged by what it can cost. */
import { isJsonObject } from "@mcpfx/schema/JsonRpc"
import * as Result from "effect/Result"
import { InvalidSchema, type JsonSchemaError, SchemaTooComplex } from "../JsonSchemaError.ts"
import type { Document } from "./jsonSchemaDocument.ts"
import { type Run, spend } from "./jsonSchemaRun.ts"
import { patternCost } from "./patternCost.ts"
import { makeNfa, nfaSize } from "./patternNfa.ts"
import { parsePattern } from "./patternParse.ts"

export interface Pattern {
  readonly source: string
  /** Whether a text matches; takes its price from the run. */
  readonly test: (text: string, run: Run) => boolean
}

/** Steps of the engine that take as long as one step of a run. */
const engineSteps = 32
/** States of the own matcher that take as long as one step of a run. */
const stateSteps = 2
const maxStates = 5_000

const never = Infinity

/** The engine or the own matcher, whichever is cheaper on this text; one that cannot take the pattern costs without end. */
const makePattern = (source: string, regExp: RegExp): Result.Result<Pattern, string> =>
  Result.flatMap(parsePattern(source), (shape): Result.Result<Pattern, string> => {
    const cost = patternCost(shape)
    const size = nfaSize(shape)
    if (Result.isFailure(cost) && size > maxStates) return Result.fail(cost.failure)
    let nfa: ((text: string) => boolean) | undefined
    return Result.succeed({
      source,
      test: (text, run) => {
        const byEngine = Result.isSuccess(cost)
          ? cost.success.ways * text.length ** cost.success.degree / engineSteps
          : never
        const byStates = size > maxStates ? never : text.length * size / stateSteps
        spend(run, Math.min(byEngine, byStates))
        if (byEngine <= byStates) return regExp.test(text)
        nfa ??= makeNfa(shape)
        return nfa(text)
      }
    })
  })

const judge = (source: string, path: string): Result.Result<Pattern, JsonSchemaError> => {
  const regExp = Result.try(() => new RegExp(source, "u"))
  if (Result.isFailure(regExp)) {
    return Result.fail(new InvalidSchema({ path, reason: "it is not a regular expression" }))
  }
  return Result.mapError(
    makePattern(source, regExp.success),
    (reason) => new SchemaTooComplex({ path, limit: "patterns", reason })
  )
}

/** Every pattern of a document by its source, or why one of them is not used. */
export const judgePatterns = (
  document: Document,
  maxPatterns: number
): Result.Result<ReadonlyMap<string, Pattern>, JsonSchemaError> => {
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
        return Result.fail(
          new SchemaTooComplex({ path: at, limit: "patterns", reason: `it has more than ${maxPatterns} patterns` })
        )
      }
    }
  }
  return Result.succeed(patterns)
}

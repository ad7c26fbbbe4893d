/**
 * Checks JSON values against JSON Schemas from elsewhere, which nobody has reason to trust.
 *
 * **Details**
 *
 * The dialect is 2020-12 unless `$schema` says draft-07 (JSC-01); `format` is asserted where it is known, unless an option
 * says otherwise. Nothing is fetched and no code is generated. Every check has a limit on the work it may do, which grows
 * with the size of the value and no faster, so neither a schema nor a value, nor both together, can keep a process busy
 * (JSC-05, SCH-22 of field practice).
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type { Issue } from "@mcpfx/schema/SchemaMismatch"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { type Check, compileDocument } from "./internal/jsonSchemaCompile.ts"
import { type Document, readDocument } from "./internal/jsonSchemaDocument.ts"
import { judgePatterns } from "./internal/jsonSchemaPatterns.ts"
import type { Run } from "./internal/jsonSchemaRun.ts"
import type { JsonSchemaError } from "./JsonSchemaError.ts"

export * from "./JsonSchemaError.ts"

/**
 * Limits of a validator.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Whether `format` is asserted where it is known, unless an option says
   * otherwise. Default `true`. */
  readonly formats?: boolean | undefined
  /** How deep schemas may be nested. Default 128. */
  readonly maxDepth?: number | undefined
  /** How many schemas one schema may hold, itself included. Default 10,000. */
  readonly maxSubschemas?: number | undefined
  /** How many patterns one schema may have. Default 500. */
  readonly maxPatterns?: number | undefined
  /** Steps a check may take whatever the value. Default 500,000, some tens of milliseconds. */
  readonly maxSteps?: number | undefined
  /** Steps a check may take besides for each value inside the value. Default 100. */
  readonly maxStepsPerNode?: number | undefined
}

/**
 * A schema that can be checked against: everything that is wrong with a value, where and what was expected, never the value.
 *
 * @category models
 * @since 0.1.0
 */
export type Validate = (value: unknown) => Result.Result<void, ReadonlyArray<Issue>>

interface Shape {
  /** Prepares a schema; one object is prepared once, so it must not be changed afterwards. */
  readonly compile: (schema: JsonObject | boolean) => Effect.Effect<Validate, JsonSchemaError>
}

const start = (root: unknown, maxSteps: number, stepsPerNode: number, issues: Array<Issue> | undefined): Run => ({
  root,
  stepsPerNode,
  steps: 0,
  limit: maxSteps,
  isExtended: false,
  issues
})

const tooCostly: ReadonlyArray<Issue> = [{ path: [], message: "takes too long to check against its schema" }]

/** The verdict first, and what is wrong only when something is. What is thrown is a passed limit, of steps or of the stack. */
const toValidate = (check: Check, maxSteps: number, stepsPerNode: number): Validate => (value) => {
  const quiet = start(value, maxSteps, stepsPerNode, undefined)
  const verdict = Result.try(() => check(value, quiet, undefined, undefined))
  if (Result.isFailure(verdict)) return Result.fail(tooCostly)
  if (verdict.success) return Result.succeed(undefined)
  const issues: Array<Issue> = []
  const loud = start(value, maxSteps, stepsPerNode, issues)
  const explained = Result.try(() => check(value, loud, undefined, undefined))
  const isPartial = Result.isFailure(explained) && issues.length === 0
  return Result.fail(isPartial ? [{ path: [], message: "does not fit its schema" }] : issues)
}

/**
 * Makes a validator with limits of its own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options = {}): Shape => {
  const {
    formats = true,
    maxDepth = 128,
    maxPatterns = 500,
    maxSteps = 500_000,
    maxStepsPerNode = 100,
    maxSubschemas = 10_000
  } = options
  const known = new WeakMap<JsonObject, Result.Result<Validate, JsonSchemaError>>()
  const prepare = (schema: JsonObject | boolean): Result.Result<Validate, JsonSchemaError> =>
    Result.gen(function*() {
      const document: Document = yield* readDocument(schema, { maxDepth, maxSubschemas })
      const patterns = yield* judgePatterns(document, maxPatterns)
      return toValidate(compileDocument(document, patterns, formats), maxSteps, maxStepsPerNode)
    })
  return {
    compile: (schema) =>
      Effect.suspend(() => {
        if (typeof schema === "boolean") return Effect.fromResult(prepare(schema))
        const found = known.get(schema) ?? prepare(schema)
        known.set(schema, found)
        return Effect.fromResult(found)
      })
  }
}

/**
 * The validator in use: the default one, with its default limits, unless another is provided.
 *
 * **Example** (Checking arguments)
 *
 * ```ts
 * import { JsonSchemaValidator } from "@mcpfx/session"
 * import { Effect, Result } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const validator = yield* JsonSchemaValidator.JsonSchemaValidator
 *   const check = yield* validator.compile({ type: "object", required: ["n"], properties: { n: { type: "integer" } } })
 *   return check({ n: 1.5 })
 * })
 * Effect.runSync(program) // => Result.fail([{ path: ["n"], message: "Expected integer" }])
 * ```
 *
 * @category services
 * @since 0.1.0
 */
export const JsonSchemaValidator: Context.Reference<Shape> = Context.Reference<Shape>(
  "@mcpfx/session/JsonSchemaValidator",
  { defaultValue: () => make() }
)

/**
 * @category models
 * @since 0.1.0
 */
export interface JsonSchemaValidator extends Shape {}

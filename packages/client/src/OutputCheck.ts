/**
 * Structured output against the schema the server lists for its tool (TOL-08).
 *
 * A result with `isError` is not checked (it need not have structured output), nor is that of a tool without a schema.
 * Schemas that cannot be used (an unknown dialect, an external reference, one too large) make the check say so, once per
 * tool, and let the result through: one odd tool never hides the others.
 *
 * @since 0.1.0
 */
import type * as Tool from "@mcpfx/schema/Tool"
import type * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BadOutput, fail, type McpClientError } from "./McpClientError.ts"

const maxProblems = 5

/**
 * Passes `result` on, or fails with `BadOutput` that names what does not fit and where.
 *
 * @category combinators
 * @since 0.1.0
 */
export const check = (
  validator: JsonSchemaValidator.JsonSchemaValidator["Service"],
  descriptor: Tool.Descriptor | undefined,
  result: Tool.CallResult
): Effect.Effect<Tool.CallResult, McpClientError> => {
  const schema = descriptor?.outputSchema
  if (descriptor === undefined || schema === undefined || result.isError === true) return Effect.succeed(result)
  if (result.structuredContent === undefined) {
    return Effect.fail(bad(descriptor.name, ["the tool declares an output schema and gave no structuredContent"]))
  }
  const value = result.structuredContent
  return validator.compile(schema).pipe(
    Effect.matchEffect({
      onFailure: (unusable) =>
        Effect.as(
          Effect.logDebug(`The output schema of ${descriptor.name} cannot be used: ${unusable.message}`),
          result
        ),
      onSuccess: (validate) =>
        Result.match(validate(value), {
          onSuccess: () => Effect.succeed(result),
          onFailure: (problems) =>
            Effect.fail(
              bad(descriptor.name, problems.slice(0, maxProblems).map(({ message, path }) => `${path}: ${message}`))
            )
        })
    })
  )
}

const bad = (tool: string, problems: ReadonlyArray<string>) => fail(new BadOutput({ tool, problems }), "tools/call")

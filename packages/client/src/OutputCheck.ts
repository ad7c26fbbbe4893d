/**
 * Structured output against the schema the server lists for its tool (TOL-08).
 *
 * A result with `isError` is not checked (it need not have structured output), nor is that of a tool without a schema.
 * A schema that cannot be used, such as one of an unknown dialect or with a reference to elsewhere, is told about once and
 * checks nothing: one odd tool never hides the others (JSC-02).
 *
 * @since 0.1.0
 */
import * as Methods from "@mcpfx/schema/Methods"
import type { Issue } from "@mcpfx/schema/SchemaMismatch"
import type * as Tool from "@mcpfx/schema/Tool"
import type * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { BadOutput, fail, type McpClientError } from "./McpClientError.ts"

const maxProblems = 5

/**
 * Passes `result` on, or fails with `BadOutput` that names what does not fit and where. `unusable` is told why a schema
 * checks nothing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const check = (
  validator: JsonSchemaValidator.JsonSchemaValidator,
  descriptor: Tool.Descriptor | undefined,
  result: Tool.CallResult,
  unusable: (reason: string) => Effect.Effect<void> = Effect.logWarning
): Effect.Effect<Tool.CallResult, McpClientError> => {
  const schema = descriptor?.outputSchema
  if (descriptor === undefined || schema === undefined || result.isError === true) return Effect.succeed(result)
  const { name } = descriptor
  if (result.structuredContent === undefined) {
    return Effect.fail(bad(name, ["the tool declares an output schema and gave no structuredContent"]))
  }
  return Effect.matchEffect(validator.compile(schema), {
    onFailure: (error) =>
      Effect.as(unusable(`The output schema of ${name} checks nothing: ${reasonOf(error)}`), result),
    onSuccess: (validate) => {
      const verdict = validate(result.structuredContent)
      return Result.isSuccess(verdict)
        ? Effect.succeed(result)
        : Effect.fail(bad(name, verdict.failure.slice(0, maxProblems).map(line)))
    }
  })
}

const reasonOf = (error: JsonSchemaValidator.JsonSchemaError): string => {
  switch (error._tag) {
    case "UnsupportedDialect":
      return `unknown dialect ${error.dialect}`
    case "ExternalRef":
      return `${place(error)} refers to ${error.ref}, and nothing is fetched`
    default:
      return `${place(error)}: ${error.reason}`
  }
}

const place = ({ path }: { readonly path: string }): string => path === "" ? "its root" : path

const line = ({ message, path }: Issue): string => path.length === 0 ? message : `${path.join(".")}: ${message}`

const bad = (tool: string, problems: ReadonlyArray<string>) =>
  fail(new BadOutput({ tool, problems }), Methods.ToolsCall.name)

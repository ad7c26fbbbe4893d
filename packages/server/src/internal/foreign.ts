/** Checks of values whose JSON Schema came from elsewhere and is not one of Effect. */
import { InvalidContract } from "@mcpfx/schema/InvalidContract"
import type { Foreign } from "@mcpfx/schema/JsonSchema"
import { SchemaMismatch } from "@mcpfx/schema/SchemaMismatch"
import { type JsonSchemaError, JsonSchemaValidator } from "@mcpfx/session/JsonSchemaValidator"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Check } from "./checks.ts"

const reasonOf = (error: JsonSchemaError): string => {
  switch (error._tag) {
    case "InvalidSchema":
    case "SchemaTooComplex":
      return `${error.reason} at "${error.path}"`
    case "UnsupportedDialect":
      return `the dialect "${error.dialect}" is not known`
    case "ExternalRef":
      return `"${error.ref}" at "${error.path}" is not inside it`
  }
}

/**
 * Prepares a schema, once for a registration. One that cannot be checked against is a mistake in the program: the tool is
 * not offered, since nothing would keep wrong values from its handler (SCH-04, SCH-22 of field practice).
 */
export const compileCheck = (name: string, side: "input" | "output", foreign: Foreign): Effect.Effect<Check> =>
  Effect.flatMap(JsonSchemaValidator, (validator) =>
    Effect.matchEffect(validator.compile(foreign.json), {
      onFailure: (error) =>
        Effect.die(new InvalidContract({ kind: "tool", name, reason: `its ${side} schema: ${reasonOf(error)}` })),
      onSuccess: (validate) =>
        Effect.succeed<Check>((value) => {
          const verdict = validate(value)
          return Result.isSuccess(verdict) ? undefined : new SchemaMismatch(name, side, () => verdict.failure)
        })
    }))

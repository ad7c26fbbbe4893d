/** Answers to forms: defaults are filled in, and what does not fit is not sent (ELI-05, ELI-10). */
import type { FormSchema } from "@mcpfx/schema/FormSchema"
import * as McpError from "@mcpfx/schema/McpError"
import type { Issue } from "@mcpfx/schema/SchemaMismatch"
import type * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Content } from "../ClientElicitation.ts"

/** The values that a form starts with. */
export const defaultsOf = (schema: FormSchema): Content =>
  Object.fromEntries(
    Object.entries(schema.properties).flatMap(([name, property]): Array<[string, Content[string]]> =>
      property.default === undefined ? [] : [[name, property.default]]
    )
  )

const line = ({ message, path }: Issue): string => path.length === 0 ? message : `${path.join(".")}: ${message}`

/** What the user was not asked about stays here. */
const unasked = (schema: FormSchema, content: Content): ReadonlyArray<string> =>
  Object.keys(content).filter((name) => !Object.hasOwn(schema.properties, name)).map((name) =>
    `${name}: is not in the form`
  )

/**
 * How answers to this form are completed: the content with its defaults, or what is wrong with it. Fails where the form
 * itself cannot be used.
 */
export const completer = (
  validator: JsonSchemaValidator.JsonSchemaValidator,
  schema: FormSchema
): Effect.Effect<(content: Content) => Result.Result<Content, ReadonlyArray<string>>, McpError.InvalidParams> =>
  Effect.matchEffect(validator.compile({ ...schema }), {
    onFailure: ({ _tag }) =>
      Effect.fail(new McpError.InvalidParams({ detail: `requestedSchema: cannot be used: ${_tag}` })),
    onSuccess: (validate) =>
      Effect.succeed((content) => {
        const extra = unasked(schema, content)
        if (extra.length > 0) return Result.fail(extra)
        const defaults = Object.entries(defaultsOf(schema)).filter(([name]) => !Object.hasOwn(content, name))
        const filled = { ...Object.fromEntries(defaults), ...content }
        const verdict = validate(filled)
        if (Result.isSuccess(verdict)) return Result.succeed(filled)
        // A default that breaks the server's own rules is not the user's answer: the field is then left out.
        const broken = new Set(verdict.failure.map(({ path: [name] }) => name))
        const sound = { ...Object.fromEntries(defaults.filter(([name]) => !broken.has(name))), ...content }
        const second = validate(sound)
        return Result.isSuccess(second) ? Result.succeed(sound) : Result.fail(second.failure.map(line))
      })
  })

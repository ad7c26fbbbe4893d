/** One call of a tool of `effect/ai`. Its handler is run as it is: no fiber, queue or stream stands between. */
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import * as SchemaMismatch from "@mcpfx/schema/SchemaMismatch"
import type * as Tool from "@mcpfx/schema/Tool"
import * as AiError from "effect/ai/AiError"
import type * as AiTool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { Target } from "../Call.ts"
import { InvalidArguments, type RequestServices, type ToolEntry } from "../Entry.ts"
import { type Refusal, ResultMismatch } from "../ServerError.ts"
import { excessOf, hasOutput, toContent } from "./aiTool.ts"
import type { Captured } from "./capture.ts"
import { type Enclosing, wrap } from "./enclosing.ts"
import type { Gate } from "./gate.ts"
import { running } from "./handling.ts"
import { declared, errorResult, ofHandler, undeclared } from "./toolCall.ts"

type Answer = Effect.Effect<Tool.CallResult, Refusal, RequestServices>
type Schemaed = Effect.Effect<unknown, Schema.SchemaError, unknown>

/** Nobody listens for results before the last. */
const handlerContext = { toolCallId: undefined, preliminary: () => Effect.void }

const textIn = (error: unknown): string =>
  typeof error === "object" && error !== null && "message" in error ? String(error.message) : "The tool failed"

export const runAiTool = (
  tool: AiTool.Any,
  handler: AiTool.Handler<string>,
  enclosing: Enclosing,
  captured: Captured<unknown>,
  gate: Gate,
  check: Check | undefined
): ToolEntry["run"] => {
  const name: string = tool.name
  const target: Target = { kind: "tool", name }
  const isInput = Schema.is(tool.parametersSchema)
  const isFailure = Schema.is(tool.failureSchema)
  const decode: (u: unknown) => Schemaed = Schema.decodeUnknownEffect(JsonSchema.codec(tool.parametersSchema), {
    onExcessProperty: excessOf(tool),
    errors: "all"
  })
  const encodeSuccess: (u: unknown) => Schemaed = Schema.encodeUnknownEffect(JsonSchema.codec(tool.successSchema))
  const encodeFailure: (u: unknown) => Schemaed = Schema.encodeUnknownEffect(JsonSchema.codec(tool.failureSchema))
  const mismatch = (detail: string) => Effect.die(new ResultMismatch({ kind: "tool", name, detail }))
  const unfit = (error: Schema.SchemaError) =>
    mismatch(new SchemaMismatch.SchemaMismatch(name, "output", () => SchemaMismatch.fromIssue(error.issue)).message())

  const encode = (value: unknown): Effect.Effect<Tool.CallResult, never, unknown> => {
    if (!hasOutput(tool)) return Effect.succeed({ content: toContent(tool, value, value) })
    return Effect.matchEffect(encodeSuccess(value), {
      onFailure: unfit,
      onSuccess: (json) => Effect.succeed({ content: toContent(tool, value, json), structuredContent: json })
    })
  }

  const fail = (failure: unknown): Answer => {
    const error = ofHandler(failure)
    if (Option.isNone(error)) return undeclared(failure)
    if (isFailure(error.value)) {
      return running(
        captured,
        Effect.matchEffect(encodeFailure(error.value), {
          onFailure: unfit,
          onSuccess: (encoded) => Effect.succeed(declared(error.value, encoded))
        })
      ).pipe(Effect.orDie)
    }
    const shown = tool.failureMode === "return" && (AiError.isAiError(error.value) || AiError.isAiErrorReason(error.value))
    return shown ? Effect.succeed(errorResult(textIn(error.value))) : undeclared(failure)
  }

  const run = wrap(enclosing, (call) => {
    if (call.kind !== "tool") return mismatch(`middleware made a call of kind "${call.kind}" of it`)
    if (!isInput(call.arguments)) return mismatch("middleware made arguments that it does not take")
    return gate(running(captured, handler.handler(call.arguments, handlerContext)))
  })

  return (params) =>
    Effect.matchEffect(running(captured, decode(params.arguments ?? {})), {
      onFailure: (error) => Effect.fail(invalidArguments(name, error)),
      onSuccess: (input) => {
        const fault = check?.(input)
        return fault === undefined ? called(input, params) : Effect.fail(misfit(name, fault))
      }
    })
  }

XX        Effect.matchEffect(run({ kind: "tool", target, contract: tool, arguments: input, params }), {
          onFailure: fail,
          onSuccess: (value) => Effect.orDie(running(captured, encode(value)))
        })
    })
}

const invalidArguments = (tool: string, error: unknown): InvalidArguments =>
  new InvalidArguments({
    tool,
    describe: () =>
      Schema.isSchemaError(error)
        ? new SchemaMismatch.SchemaMismatch(tool, "input", () => SchemaMismatch.fromIssue(error.issue)).message()
        : "the arguments do not fit"
  })

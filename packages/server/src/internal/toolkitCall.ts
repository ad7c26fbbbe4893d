/** One call of a tool of `effect/ai`. Its handler is run as it is: no fiber, queue or stream stands between. */
import * as JsonSchema from "@mcpfx/schema/JsonSchema"
import { fromIssue, SchemaMismatch } from "@mcpfx/schema/SchemaMismatch"
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
import type { Check } from "./checks.ts"
import { type Enclosing, wrap } from "./enclosing.ts"
import type { Gate } from "./gate.ts"
import { running } from "./handling.ts"
import { declared, errorResult, ofHandler, undeclared } from "./toolCall.ts"

type Answer = Effect.Effect<Tool.CallResult, Refusal, RequestServices>
type Called = Effect.Effect<Tool.CallResult, Refusal | InvalidArguments, RequestServices>

/** Schemas of such tools may need services. */
type Schemaed = Effect.Effect<unknown, Schema.SchemaError, unknown>

/** Nobody listens for results before the last. */
const handlerContext = { toolCallId: undefined, preliminary: () => Effect.void }

const mismatch = (tool: AiTool.Any, detail: string) =>
  Effect.die(new ResultMismatch({ kind: "tool", name: String(tool.name), detail }))

const unfit = (tool: AiTool.Any) => (error: Schema.SchemaError) =>
  mismatch(tool, new SchemaMismatch(String(tool.name), "output", () => fromIssue(error.issue)).message())

/** Writes what a handler returned. */
const makeEncode = (tool: AiTool.Any) => {
  const encode: (u: unknown) => Schemaed = Schema.encodeUnknownEffect(JsonSchema.codec(tool.successSchema))
  return (value: unknown): Effect.Effect<Tool.CallResult, never, unknown> =>
    hasOutput(tool)
      ? Effect.matchEffect(encode(value), {
        onFailure: unfit(tool),
        onSuccess: (json) => Effect.succeed({ content: toContent(tool, value, json), structuredContent: json })
      })
      : Effect.succeed({ content: toContent(tool, value, value) })
}

/** Writes what a handler failed with, in both failure modes alike. */
const makeFail = (tool: AiTool.Any, captured: Captured<unknown>) => {
  const isFailure = Schema.is(tool.failureSchema)
  const encode: (u: unknown) => Schemaed = Schema.encodeUnknownEffect(JsonSchema.codec(tool.failureSchema))
  const shown = (error: unknown): error is AiError.AiError | AiError.AiErrorReason =>
    tool.failureMode === "return" && (AiError.isAiError(error) || AiError.isAiErrorReason(error))
  return (failure: unknown): Answer => {
    const error = ofHandler(failure)
    if (Option.isNone(error)) return undeclared(failure)
    if (shown(error.value)) return Effect.succeed(errorResult(error.value.message))
    if (!isFailure(error.value)) return undeclared(failure)
    const encoded = Effect.matchEffect(encode(error.value), {
      onFailure: unfit(tool),
      onSuccess: (encoded) => Effect.succeed(declared(error.value, encoded))
    })
    return Effect.orDie(running(captured, encoded))
  }
}

const refuse = (tool: AiTool.Any, fault: SchemaMismatch) =>
  Effect.fail(new InvalidArguments({ tool: String(tool.name), describe: () => fault.message() }))

export interface Surroundings {
  readonly enclosing: Enclosing
  readonly captured: Captured<unknown>
  readonly gate: Gate
  /** For tools whose parameters are a JSON Schema from elsewhere. */
  readonly check: Check | undefined
}

export const runAiTool = (
  tool: AiTool.Any,
  handler: AiTool.Handler<string>,
  { captured, check, enclosing, gate }: Surroundings
): ToolEntry["run"] => {
  const target: Target = { kind: "tool", name: String(tool.name) }
  const isInput = Schema.is(tool.parametersSchema)
  const encode = makeEncode(tool)
  const fail = makeFail(tool, captured)
  const decode: (u: unknown) => Schemaed = Schema.decodeUnknownEffect(JsonSchema.codec(tool.parametersSchema), {
    onExcessProperty: excessOf(tool),
    errors: "all"
  })

  const run = wrap(enclosing, (call) => {
    if (call.kind !== "tool") return mismatch(tool, `middleware made a call of kind "${call.kind}" of it`)
    if (!isInput(call.arguments) || check?.(call.arguments) !== undefined) {
      return mismatch(tool, "middleware made arguments that it does not take")
    }
    return gate(running(captured, handler.handler(call.arguments, handlerContext)))
  })

  const call = (input: unknown, params: Tool.CallParams): Answer =>
    Effect.matchEffect(run({ kind: "tool", target, contract: tool, arguments: input, params }), {
      onFailure: fail,
      onSuccess: (value) => Effect.orDie(running(captured, encode(value)))
    })

  return (params) => {
    const decoded = Effect.mapError(
      decode(params.arguments ?? {}),
      (error) => new SchemaMismatch(target.name, "input", () => fromIssue(error.issue))
    )
    return Effect.matchEffect(Effect.updateContext(decoded, captured.enter), {
      onFailure: (fault) => refuse(tool, fault),
      onSuccess: (input): Called => {
        const fault = check?.(input)
        return fault === undefined ? call(input, params) : refuse(tool, fault)
      }
    })
  }
}

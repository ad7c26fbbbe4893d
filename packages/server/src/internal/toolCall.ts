/** One call of a tool: arguments in, the handler with what is around it, the result out. */
import type * as Content from "@mcpfx/schema/Content"
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import type { SchemaMismatch } from "@mcpfx/schema/SchemaMismatch"
import type * as Tool from "@mcpfx/schema/Tool"
import type * as ToolContract from "@mcpfx/schema/ToolContract"
import * as ToolResult from "@mcpfx/schema/ToolResult"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Target } from "../Call.ts"
import { InvalidArguments, type RequestServices, type ToolEntry } from "../Entry.ts"
import { type Refusal, ResultMismatch, Unhandled } from "../ServerError.ts"
import type { Returned } from "../ServerTool.ts"
import type { Check } from "./checks.ts"
import { type Enclosing, isBare, wrap } from "./enclosing.ts"
import { isExit } from "./exit.ts"
import { sort, textOf, Told } from "./failures.ts"

type Handled = Effect.Effect<unknown, unknown, RequestServices>
type Answer = Effect.Effect<Tool.CallResult, Refusal, RequestServices>

const textBlock = (text: string): Content.Content => ({ type: "text", text })

/** The failure of a tool, for the model to read (TOL-14). */
export const errorResult = (text: string, meta?: JsonObject): Tool.CallResult =>
  meta === undefined
    ? { content: [textBlock(text)], isError: true }
    : { content: [textBlock(text)], isError: true, _meta: meta }

const mismatch = (name: string, detail: string) => Effect.die(new ResultMismatch({ kind: "tool", name, detail }))

const isBlock = (u: unknown): u is Content.Content =>
  typeof u === "object" && u !== null && "type" in u && typeof u.type === "string"

const isContent = (u: unknown): u is ToolResult.ContentInput =>
  typeof u === "string" || (Array.isArray(u) ? u.every((one) => typeof one === "string" || isBlock(one)) : isBlock(u))

/** Whether a value is something that a handler of the contract may return. */
export const isReturned = <Output>(contract: ToolContract.AnyContract) => (u: unknown): u is Returned<Output> =>
  u instanceof ToolResult.Result ||
  (contract.hasOutput ? Result.isSuccess(contract.encodeOutput(u)) : u === undefined || u === null || isContent(u))

/** Writes what a handler returned; a value is told from a {@link ToolResult.Result} by its class alone. */
const makeEncode = (contract: ToolContract.AnyContract, check: Check | undefined) => {
  const structured = (
    value: unknown,
    content: ReadonlyArray<Content.Content>,
    extra?: Partial<Tool.CallResult>
  ): Answer => {
    const encoded = contract.encodeOutput(value)
    if (Result.isFailure(encoded)) return mismatch(contract.name, encoded.failure.message())
    // `undefined` has no JSON; the nearest thing to it has.
    const structuredContent = encoded.success ?? null
    const fault = check?.(structuredContent)
    if (fault !== undefined) return mismatch(contract.name, fault.message())
    const shown = content.length === 0 ? [textBlock(JSON.stringify(structuredContent))] : content
    return Effect.succeed(
      extra === undefined ? { content: shown, structuredContent } : { content: shown, structuredContent, ...extra }
    )
  }

  const whole = (result: ToolResult.Result<unknown>): Answer => {
    const extra = {
      ...(result.isError ? { isError: true } : undefined),
      ...(result.meta === undefined ? undefined : { _meta: result.meta })
    }
    if (Option.isSome(result.structured)) return structured(result.structured.value, result.content, extra)
    return contract.hasOutput && !result.isError
      ? mismatch(contract.name, "the structured output is missing")
      : Effect.succeed({ content: result.content, ...extra })
  }

  return (value: unknown): Answer => {
    if (value instanceof ToolResult.Result) return whole(value)
    if (contract.hasOutput) return structured(value, [])
    if (value === undefined || value === null) return Effect.succeed({ content: [] })
    return isContent(value)
      ? Effect.succeed({ content: ToolResult.toContent(value) })
      : mismatch(contract.name, "what it returned is not content")
  }
}

/** What becomes of a failure that no contract declares. */
export const undeclared = (failure: unknown): Answer =>
  Effect.catchIf(
    sort(failure),
    (error) => error instanceof Told,
    (error) => Effect.succeed(errorResult(error.message))
  )

/** The failure a handler declared, with what a client that has its schema can read it back from. */
export const declared = (error: unknown, encoded: unknown): Tool.CallResult =>
  errorResult(textOf(error, encoded), { [MetaKey.failure]: encoded })

/** What the handler itself failed with, if it was not middleware. */
export const ofHandler = (failure: unknown): Option.Option<unknown> => {
  if (!(failure instanceof Unhandled)) return Option.some(failure)
  return failure.from === undefined ? Option.some(failure.error) : Option.none()
}

/** Writes what a handler failed with. Such results need no structured output (SCH-01 of field practice). */
const makeFail = (contract: ToolContract.AnyContract) => (failure: unknown): Answer => {
  const error = ofHandler(failure)
  if (Option.isSome(error)) {
    const encoded = contract.encodeFailure(error.value)
    if (Result.isSuccess(encoded)) return Effect.succeed(declared(error.value, encoded.success))
  }
  return undeclared(failure)
}

/** The way of a call through the middleware that stands around its tool. */
const throughMiddleware = <Input>(
  contract: ToolContract.AnyContract,
  enclosing: Enclosing,
  check: Check | undefined,
  handle: (input: Input) => Handled
) => {
  const target: Target = { kind: "tool", name: contract.name }
  const isInput = (u: unknown): u is Input => Result.isSuccess(contract.encodeInput(u)) && check?.(u) === undefined
  return (input: Input, params: Tool.CallParams): Handled => {
    const run = wrap(enclosing, (call) => {
      if (call.kind !== "tool") return mismatch(contract.name, `middleware made a call of kind "${call.kind}" of it`)
      if (call.arguments === input) return handle(input)
      return isInput(call.arguments)
        ? handle(call.arguments)
        : mismatch(contract.name, "middleware made arguments that it does not take")
    })
    return run({ kind: "tool", target, contract, arguments: input, params })
  }
}

const refuse = (tool: string, fault: SchemaMismatch) =>
  Effect.fail(new InvalidArguments({ tool, describe: () => fault.message() }))

/** What an Effect schema does not check: arguments and output of contracts with a JSON Schema from elsewhere. */
export interface Checks {
  readonly input: Check | undefined
  readonly output: Check | undefined
}

export const runTool = <Name extends string, Input, Output, Failure>(
  contract: ToolContract.Contract<Name, Input, Output, Failure>,
  enclosing: Enclosing,
  checks: Checks,
  handle: (input: Input) => Handled
): ToolEntry["run"] => {
  const encode = makeEncode(contract, checks.output)
  const fail = makeFail(contract)
  const call: (input: Input, params: Tool.CallParams) => Handled = isBare(enclosing)
    ? handle
    : throughMiddleware(contract, enclosing, checks.input, handle)
  const outcome = { onFailure: fail, onSuccess: encode }
  return (params) => {
    const args = params.arguments ?? undefined
    const input = contract.decodeInput(args)
    if (Result.isFailure(input)) return refuse(contract.name, input.failure)
    const fault = checks.input?.(args ?? {})
    if (fault !== undefined) return refuse(contract.name, fault)
    const effect = call(input.success, params)
    return isExit(effect) && Exit.isSuccess(effect) ? encode(effect.value) : Effect.matchEffect(effect, outcome)
  }
}

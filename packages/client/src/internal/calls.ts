/** Calls of tools, raw and typed. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import * as Outcome from "@mcpfx/schema/Outcome"
import type * as Tool from "@mcpfx/schema/Tool"
import type { AnyContract, Contract } from "@mcpfx/schema/ToolContract"
import type * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClientOptions } from "../ClientOptions.ts"
import type { CallOutput, McpClient } from "../McpClient.ts"
import { BadAnswer, BadOutput, fail, type McpClientError, ToolFailed } from "../McpClientError.ts"
import * as OutputCheck from "../OutputCheck.ts"
import { type Call, Course, type Starter } from "./callStart.ts"
import * as Start from "./callStart.ts"
import type { Oddities } from "./oddities.ts"
import type { TaskWait } from "./taskWait.ts"

const method = Methods.ToolsCall.name

export interface Parts extends Start.Parts {
  readonly validator: JsonSchemaValidator.JsonSchemaValidator
  readonly odd: Oddities
  readonly options: ClientOptions
  readonly waits: TaskWait
}

/** How calls are sent and their results read, for those that become tasks. */
export interface Calls extends Pick<McpClient["Service"], "call" | "callTool">, Starter {
  /** Checks the result of a tool that was listed. */
  readonly checked: (name: string, result: Tool.CallResult) => Effect.Effect<Tool.CallResult, McpClientError>
}

export const make = (parts: Parts): Calls => {
  const { known, odd, options: defaults, validator, waits } = parts
  const { byName, start } = Start.make(parts)

  /** A call and what is made of its result, whether or not the server has made a task of it (TKX-03). */
  const send = <A, E>(
    call: Call,
    read: (result: Tool.CallResult) => Effect.Effect<A, McpClientError | E>
  ): Effect.Effect<A, McpClientError | E> => {
    const course = new Course()
    const { options } = call
    const sent = options?.onProgress === undefined ? call : {
      ...call,
      options: {
        ...options,
        onSent: (id: JsonRpc.RequestId) => {
          course.token = id
          options.onSent?.(id)
        }
      }
    }
    return start(sent, course, (outcome) => {
      if (!Outcome.isTask(outcome)) return read(outcome)
      const { task } = outcome
      return course.mayBeTask ? Effect.flatMap(waits.instead(task, options, course.token), read) : unasked
    })
  }

  const checked: Calls["checked"] = (name, result) =>
    defaults.checkOutput === false
      ? Effect.succeed(result)
      : OutputCheck.check(validator, known.get(name), result, odd)

  const callTool: McpClient["Service"]["callTool"] = (name, args, options) =>
    send(byName(name, args, options), (result) => checked(name, result))

  const call = <Name extends string, I, O, F>(
    contract: Contract<Name, I, O, F>,
    input?: I,
    options?: RequestOptions
  ): Effect.Effect<CallOutput<O>, McpClientError | F> =>
    Effect.suspend(() => {
      const call = Start.byContract(contract, input, options)
      return Result.isFailure(call)
        ? Effect.fail(call.failure)
        : send(call.success, (result) => typed(contract, result))
    })

  return { call, callTool, start, byName, checked }
}

/** What a call by its contract gives, or the failure that it declares. */
export const typed = <Name extends string, I, O, F>(
  contract: Contract<Name, I, O, F>,
  result: Tool.CallResult
): Effect.Effect<CallOutput<O>, McpClientError | F> =>
  result.isError === true ? failed(contract, result) : output(contract, result)

/** The declared failure, where the result carries one that decodes. */
const failed = <Name extends string, I, O, F>(
  contract: Contract<Name, I, O, F>,
  result: Tool.CallResult
): Effect.Effect<never, McpClientError | F> => {
  const encoded = result._meta?.[MetaKey.failure]
  const declared = encoded === undefined ? undefined : contract.decodeFailure(encoded)
  return declared !== undefined && Result.isSuccess(declared)
    ? Effect.fail(declared.success)
    : Effect.fail(fail(new ToolFailed({ tool: contract.name, result }), method))
}

/** What the contract says a call gives: its output, or the whole result. */
function output<Name extends string, I, O, F>(
  contract: Contract<Name, I, O, F>,
  result: Tool.CallResult
): Effect.Effect<CallOutput<O>, McpClientError>
function output(contract: AnyContract, result: Tool.CallResult): Effect.Effect<unknown, McpClientError> {
  if (!contract.hasOutput) return Effect.succeed(result)
  const structured = result.structuredContent === undefined ? fromText(result) : result.structuredContent
  return Result.match(contract.decodeOutput(structured), {
    onSuccess: Effect.succeed,
    onFailure: (mismatch) =>
      Effect.fail(fail(new BadOutput({ tool: contract.name, problems: [mismatch.message()] }), method))
  })
}

/** Revisions without structured output, or without such as is no object, carry its JSON as the one text block (TOL-08). */
const fromText = ({ content }: Tool.CallResult): unknown => {
  const block = content.length === 1 ? content[0] : undefined
  if (block?.type !== "text") return undefined
  const { text } = block
  return Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
}

const unasked = Effect.fail(fail(new BadAnswer({ detail: "a task was created that was not asked for" }), method))

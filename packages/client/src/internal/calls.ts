/** Calls of tools, raw and typed. */
import * as Codes from "@mcpfx/schema/Codes"
import * as HeaderParam from "@mcpfx/schema/HeaderParam"
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import * as Outcome from "@mcpfx/schema/Outcome"
import type * as Tool from "@mcpfx/schema/Tool"
import type { AnyContract, Contract } from "@mcpfx/schema/ToolContract"
import type * as JsonSchemaValidator from "@mcpfx/session/JsonSchemaValidator"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as McpHeaders from "@mcpfx/transport/McpHeaders"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ClientOptions } from "../ClientOptions.ts"
import type { Connection, Live } from "../Connection.ts"
import type { CallOutput, McpClient } from "../McpClient.ts"
import { BadAnswer, BadInput, BadOutput, fail, type McpClientError, ToolFailed } from "../McpClientError.ts"
import * as OutputCheck from "../OutputCheck.ts"
import type { Lists } from "./lists.ts"
import { inputNeeded, type Requests } from "./requests.ts"

const method = Methods.ToolsCall.name

export const make = (
  connection: Connection,
  requests: Requests,
  lists: Lists,
  validator: JsonSchemaValidator.JsonSchemaValidator["Service"],
  defaults: ClientOptions
): Pick<McpClient["Service"], "call" | "callTool"> => {
  /** The headers that mirror arguments, on HTTP of 2026-07-28 (XH-01). */
  const headersFor = (live: Live, params: ReadonlyArray<HeaderParam.HeaderParam>, args: JsonRpc.JsonObject) =>
    params.length === 0 || live.revision.era === "legacy" || connection.transport !== "http"
      ? undefined
      : McpHeaders.mirrorParams(params, args)

  const listedParams = (name: string): ReadonlyArray<HeaderParam.HeaderParam> => {
    const schema = lists.known(name)?.inputSchema
    if (schema === undefined) return []
    return Result.getOrElse(HeaderParam.headerParams(schema), () => [])
  }

  const send = (
    name: string,
    args: JsonRpc.JsonObject | undefined,
    params: () => ReadonlyArray<HeaderParam.HeaderParam>,
    options: RequestOptions | undefined
  ): Effect.Effect<Tool.CallResult, McpClientError> => {
    const once = connection.use(method, (live) => {
      const mirrored = headersFor(live, params(), args ?? {})
      const merged = requests.optionsFor(live, options)
      return live.session.peer.request(
        Methods.ToolsCall,
        args === undefined ? { name } : { name, arguments: args },
        mirrored === undefined ? merged : { ...merged, headers: { ...mirrored, ...merged.headers } }
      )
    })
    return Effect.flatMap(Effect.catch(once, refreshed(once)), settled)
  }

  /** The server wants other headers than we know of: its tools are listed anew and the call is sent once more (XH-13). */
  const refreshed = <A>(once: Effect.Effect<A, McpClientError>) => (error: McpClientError) =>
    error.reason._tag === "Refused" && error.reason.code === Codes.headerMismatch
      ? Effect.andThen(lists.tools, once)
      : Effect.fail(error)

  const callTool: McpClient["Service"]["callTool"] = (name, args, options) => {
    const sent = send(name, args, () => listedParams(name), options)
    return defaults.checkOutput === false
      ? sent
      : Effect.flatMap(sent, (result) => OutputCheck.check(validator, lists.known(name), result))
  }

  const call = <Name extends string, I, O, F>(
    contract: Contract<Name, I, O, F>,
    input?: I,
    options?: RequestOptions
  ): Effect.Effect<CallOutput<O>, McpClientError | F> => {
    const encoded = input === undefined ? none : contract.encodeInput(input)
    if (Result.isFailure(encoded)) {
      return Effect.fail(fail(new BadInput({ detail: encoded.failure.message() }), method))
    }
    const sent = send(contract.name, encoded.success, () => contract.headerParams, options)
    return Effect.flatMap(
      sent,
      (result) => result.isError === true ? failed(contract, result) : output(contract, result)
    )
  }

  return { call, callTool }
}

const none: Result.Result<JsonRpc.JsonObject | undefined> = Result.succeed(undefined)

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
  return Result.match(contract.decodeOutput(result.structuredContent ?? fromText(result)), {
    onSuccess: Effect.succeed,
    onFailure: (mismatch) =>
      Effect.fail(fail(new BadOutput({ tool: contract.name, problems: [mismatch.message()] }), method))
  })
}

/** Revisions without structured output carry its JSON as the one text block (TOL-08). */
const fromText = ({ content }: Tool.CallResult): unknown => {
  const block = content.length === 1 ? content[0] : undefined
  if (block?.type !== "text" || typeof block.text !== "string") return undefined
  const text = block.text
  return Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))
}

const settled = (outcome: Outcome.ToolCall): Effect.Effect<Tool.CallResult, McpClientError> => {
  if (Outcome.isInputRequired(outcome)) return Effect.fail(inputNeeded(method, outcome))
  return Outcome.isTask(outcome)
    ? Effect.fail(fail(new BadAnswer({ detail: "a task was created that was not asked for" }), method))
    : Effect.succeed(outcome)
}

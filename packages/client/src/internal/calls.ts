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
import type { KnownTools, Lists } from "./lists.ts"
import type { Oddities } from "./oddities.ts"
import { inputNeeded, type Requests } from "./requests.ts"

const method = Methods.ToolsCall.name

type HeaderParams = ReadonlyArray<HeaderParam.HeaderParam>

export interface Parts {
  readonly connection: Connection
  readonly requests: Requests
  readonly lists: Lists
  readonly known: KnownTools
  readonly validator: JsonSchemaValidator.JsonSchemaValidator
  readonly odd: Oddities
  readonly options: ClientOptions
}

export const make = (parts: Parts): Pick<McpClient["Service"], "call" | "callTool"> => {
  const { connection, known, lists, odd, options: defaults, requests, validator } = parts
  const isHttp = connection.transport === "http"

  const listedParams = (name: string): HeaderParams | undefined => {
    const schema = isHttp ? known.get(name)?.inputSchema : undefined
    return schema === undefined ? undefined : Result.getOrUndefined(HeaderParam.headerParams(schema))
  }

  /** The headers that mirror arguments, on HTTP of 2026-07-28 (XH-01). */
  const headersFor = (live: Live, params: HeaderParams, args: JsonRpc.JsonObject) =>
    params.length === 0 || live.revision.era === "legacy" ? undefined : McpHeaders.mirrorParams(params, args)

  const send = (
    name: string,
    args: JsonRpc.JsonObject | undefined,
    headerParams: () => HeaderParams,
    options: RequestOptions | undefined
  ): Effect.Effect<Tool.CallResult, McpClientError> => {
    const params = args === undefined ? { name } : { name, arguments: args }
    const once = (paramsOf: () => HeaderParams) =>
      requests.use(method, (live, merged) => {
        const mirrored = isHttp ? headersFor(live, paramsOf(), args ?? {}) : undefined
        return live.session.peer.request(
          Methods.ToolsCall,
          params,
          mirrored === undefined ? merged : { ...merged, headers: { ...mirrored, ...merged.headers } }
        )
      }, options)
    const sent = isHttp ? Effect.catch(once(headerParams), refreshed(name, headerParams, once)) : once(headerParams)
    return Effect.flatMap(sent, settled)
  }

  /**
   * The server wants other headers than were sent: its tools are listed anew, and the call is sent once more with what they
   * say. It was not carried out before (XH-13).
   */
  const refreshed = <A>(
    name: string,
    headerParams: () => HeaderParams,
    once: (params: () => HeaderParams) => Effect.Effect<A, McpClientError>
  ) =>
  (error: McpClientError): Effect.Effect<A, McpClientError> =>
    error.reason._tag === "Refused" && error.reason.code === Codes.headerMismatch
      ? Effect.matchEffect(lists.refreshTools, {
        onFailure: () => Effect.fail(error),
        onSuccess: () => once(() => listedParams(name) ?? headerParams())
      })
      : Effect.fail(error)

  const callTool: McpClient["Service"]["callTool"] = (name, args, options) => {
    const sent = send(name, args, () => listedParams(name) ?? [], options)
    return defaults.checkOutput === false
      ? sent
      : Effect.flatMap(sent, (result) => OutputCheck.check(validator, known.get(name), result, odd))
  }

  const call = <Name extends string, I, O, F>(
    contract: Contract<Name, I, O, F>,
    input?: I,
    options?: RequestOptions
  ): Effect.Effect<CallOutput<O>, McpClientError | F> =>
    Effect.suspend(() => {
      const encoded = input === undefined ? none : contract.encodeInput(input)
      if (Result.isFailure(encoded)) {
        return Effect.fail(fail(new BadInput({ detail: encoded.failure.message() }), method))
      }
      return Effect.flatMap(
        send(contract.name, encoded.success, () => contract.headerParams, options),
        (result): Effect.Effect<CallOutput<O>, McpClientError | F> =>
          result.isError === true ? failed(contract, result) : output(contract, result)
      )
    })

  return { call, callTool }
}

const none: Result.Result<undefined> = Result.succeed(undefined)

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

const settled = (outcome: Outcome.ToolCall): Effect.Effect<Tool.CallResult, McpClientError> => {
  if (Outcome.isInputRequired(outcome)) return Effect.fail(inputNeeded(method, outcome))
  return Outcome.isTask(outcome)
    ? Effect.fail(fail(new BadAnswer({ detail: "a task was created that was not asked for" }), method))
    : Effect.succeed(outcome)
}

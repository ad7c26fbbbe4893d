/** Resources, prompts and completions, raw and typed. */
import * as Codes from "@mcpfx/schema/Codes"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import * as Outcome from "@mcpfx/schema/Outcome"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as PromptContract from "@mcpfx/schema/PromptContract"
import type * as Resource from "@mcpfx/schema/Resource"
import type * as ResourceContract from "@mcpfx/schema/ResourceContract"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { InputDriver } from "../InputDriver.ts"
import type { McpClient, ReadOutput } from "../McpClient.ts"
import { BadAnswer, BadInput, fail, type McpClientError, ResourceNotFound } from "../McpClientError.ts"
import { isPart, type ResponseCache } from "../ResponseCache.ts"
import type { Requests } from "./requests.ts"

type Service = McpClient["Service"]

const reading = Methods.ResourcesRead.name
const prompting = Methods.PromptsGet.name

const asItIs = <A>(result: A): Effect.Effect<A> => Effect.succeed(result)

export const make = (
  requests: Requests,
  cache: ResponseCache,
  inRounds: InputDriver
): Pick<Service, "read" | "readResource" | "prompt" | "getPrompt" | "complete"> => {
  // A resource changes with its parts, and a part may have changed with the whole (SUB-11).
  const table = cache.table<Outcome.ResourceRead>(
    (change, params) =>
      change.kind === "resource" && "uri" in params && typeof params.uri === "string" &&
      (isPart(params.uri, change.uri) || isPart(change.uri, params.uri)),
    weigh
  )

  const readResource: Service["readResource"] = (uri, options) =>
    inRounds(
      reading,
      (retry, options) =>
        retry === undefined
          ? requests.cached(
            table,
            reading,
            { uri },
            (live, merged) => live.session.peer.request(Methods.ResourcesRead, { uri }, merged),
            options
          )
          // What depends on answers is for this request alone (CCH-04).
          : requests.request(Methods.ResourcesRead, { uri, ...retry }, options),
      options,
      asItIs<Resource.ReadResult>
    ).pipe(
      Effect.catch((error) => Effect.fail(isNotFound(error) ? fail(new ResourceNotFound({ uri }), reading) : error))
    )

  const getPrompt: Service["getPrompt"] = (name, args, options) => {
    const params = args === undefined ? { name } : { name, arguments: args }
    return inRounds(
      prompting,
      (retry, options) =>
        requests.request(Methods.PromptsGet, retry === undefined ? params : { ...params, ...retry }, options),
      options,
      asItIs<Prompt.GetResult>
    )
  }

  const prompt = <Name extends string, A>(
    contract: PromptContract.Contract<Name, A>,
    args?: A,
    options?: RequestOptions
  ) =>
    Effect.suspend(() => {
      if (args === undefined) return getPrompt(contract.name, undefined, options)
      const encoded = contract.encodeArguments(args)
      return Result.isSuccess(encoded)
        ? getPrompt(contract.name, encoded.success, options)
        : Effect.fail(fail(new BadInput({ detail: encoded.failure.message() }), prompting))
    })

  return {
    readResource,
    getPrompt,
    prompt,
    read: reader(readResource),
    complete: (ref, argument, filled) =>
      Effect.map(
        requests.request(Methods.CompletionComplete, {
          ref,
          argument,
          ...(filled === undefined ? undefined : { context: { arguments: filled } })
        }),
        ({ completion }) => completion
      )
  }
}

type AnyContract = ResourceContract.AnyContract | ResourceContract.AnyTemplateContract

/** Reads by contract: of a template by its params too. */
const reader = (readResource: Service["readResource"]): Service["read"] => {
  function read<Uri extends string, C>(
    contract: ResourceContract.Contract<Uri, C>,
    options?: RequestOptions
  ): Effect.Effect<ReadOutput<C>, McpClientError>
  function read<Uri extends string, P, C>(
    contract: ResourceContract.TemplateContract<Uri, P, C>,
    params: P,
    options?: RequestOptions
  ): Effect.Effect<ReadOutput<C>, McpClientError>
  function read(
    contract: AnyContract,
    first?: unknown,
    second?: RequestOptions
  ): Effect.Effect<unknown, McpClientError> {
    return Effect.suspend(() => {
      if (contract._tag === "ResourceContract") {
        return Effect.flatMap(readResource(contract.uri, isOptions(first) ? first : undefined), contentOf(contract))
      }
      const uri = contract.expand(first)
      if (Result.isSuccess(uri)) return Effect.flatMap(readResource(uri.success, second), contentOf(contract))
      const { failure } = uri
      const detail = failure._tag === "SchemaMismatch" ? failure.message() : `${failure.variable}: ${failure.reason}`
      return Effect.fail(fail(new BadInput({ detail }), reading))
    })
  }
  return read
}

const isOptions = (u: unknown): u is RequestOptions => typeof u === "object" && u !== null

/** The value a contract's content stands for, or all there is where it has none. */
const contentOf = (contract: AnyContract) => (result: Resource.ReadResult): Effect.Effect<unknown, McpClientError> => {
  if (!contract.hasContent) return Effect.succeed(result)
  const [first] = result.contents
  const bad = (detail: string) => Effect.fail(fail(new BadAnswer({ detail: `${contract.name}: ${detail}` }), reading))
  if (first === undefined || !("text" in first)) return bad("the resource has no text")
  const decoded = contract.decodeContent(first.text)
  return Result.isSuccess(decoded) ? Effect.succeed(decoded.success) : bad(decoded.failure.message())
}

/** Whether the server says that the resource is not there: it has a code for that up to 2025-11-25, and data later. */
const isNotFound = ({ reason }: McpClientError): boolean =>
  reason._tag === "Refused" &&
  (reason.code === Codes.resourceNotFound || McpError.fromWire(reason, reading)._tag === "ResourceNotFound")

const weigh = (outcome: Outcome.ResourceRead): number =>
  Outcome.isInputRequired(outcome)
    ? 0
    : outcome.contents.reduce((sum, each) => sum + ("text" in each ? each.text.length : each.blob.length), 0)

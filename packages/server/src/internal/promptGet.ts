/** One request for a prompt: arguments in, the handler with what is around it, messages out. */
import { InvalidParams } from "@mcpfx/schema/McpError"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as PromptContract from "@mcpfx/schema/PromptContract"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Target } from "../Call.ts"
import type { PromptEntry, RequestServices } from "../Entry.ts"
import { type Refusal, ResultMismatch } from "../ServerError.ts"
import { type Enclosing, isBare, wrap } from "./enclosing.ts"
import { refuse } from "./failures.ts"
import * as Messages from "./messages.ts"

type Handled = Effect.Effect<unknown, unknown, RequestServices>
type Answer = Effect.Effect<Prompt.GetResult, Refusal, RequestServices>

export const getPrompt = <Name extends string, Arguments>(
  contract: PromptContract.Contract<Name, Arguments>,
  enclosing: Enclosing,
  handle: (args: Arguments) => Handled
): PromptEntry["get"] => {
  const target: Target = { kind: "prompt", name: contract.name }
  const bare = isBare(enclosing)
  const any: PromptContract.AnyContract = contract
  const mismatch = (detail: string) => Effect.die(new ResultMismatch({ ...target, detail }))
  const isArguments = (u: unknown): u is Arguments => Result.isSuccess(any.encodeArguments(u))

  const through = (args: Arguments, params: Prompt.GetParams): Handled =>
    wrap(enclosing, (call) => {
      if (call.kind !== "prompt") return mismatch(`middleware made a call of kind "${call.kind}" of it`)
      if (call.arguments === args) return handle(args)
      return isArguments(call.arguments)
        ? handle(call.arguments)
        : mismatch("middleware made arguments that it does not take")
    })({ kind: "prompt", target, contract, arguments: args, params })

  const encode = (value: unknown): Answer => {
    const result = value instanceof Messages.Result ? value : undefined
    const messages = result === undefined ? value : result.messages
    if (!Messages.isMessages(messages)) return mismatch("what it returned is neither text nor messages")
    const description = result?.description ?? contract.description
    return Effect.succeed({
      ...(description === undefined ? undefined : { description }),
      messages: Messages.write(messages),
      ...(result?.meta === undefined ? undefined : { _meta: result.meta })
    })
  }

  return (params) =>
    Effect.suspend((): Answer => {
      const args = contract.decodeArguments(params.arguments ?? undefined)
      if (Result.isFailure(args)) return Effect.fail(new InvalidParams({ detail: args.failure.message() }))
      const effect = bare ? handle(args.success) : through(args.success, params)
      return Effect.matchEffect(effect, { onFailure: refuse, onSuccess: encode })
    })
}

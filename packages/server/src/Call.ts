/**
 * Requests as middleware sees them: decoded, before the handler runs.
 *
 * @since 0.1.0
 */
import type * as Method from "@mcpfx/schema/Method"
import type * as Prompt from "@mcpfx/schema/Prompt"
import type * as PromptContract from "@mcpfx/schema/PromptContract"
import type * as ResourceContract from "@mcpfx/schema/ResourceContract"
import type * as Tool from "@mcpfx/schema/Tool"
import type * as ToolContract from "@mcpfx/schema/ToolContract"

/**
 * What a registration is called: a tool's or prompt's name, a resource's URI, a template as written.
 *
 * @category models
 * @since 0.1.0
 */
export interface Target {
  readonly kind: "tool" | "resource" | "template" | "prompt" | "method"
  readonly name: string
}

/**
 * A call of a tool. `arguments` were decoded by the contract; those in `params` are what came in and are not read again.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCall<Arguments = unknown> {
  readonly kind: "tool"
  readonly target: Target
  readonly contract: object
  readonly arguments: Arguments
  readonly params: Tool.CallParams
}

/**
 * A read of a resource. `variables` are the decoded values of the template's variables; empty where there is no template.
 *
 * @category models
 * @since 0.1.0
 */
export interface ResourceRead<Variables = unknown> {
  readonly kind: "resource"
  readonly target: Target
  readonly contract: object
  readonly uri: string
  readonly variables: Variables
}

/**
 * A request for the messages of a prompt. `arguments` were decoded by the contract.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromptGet<Arguments = unknown> {
  readonly kind: "prompt"
  readonly target: Target
  readonly contract: object
  readonly arguments: Arguments
  readonly params: Prompt.GetParams
}

/**
 * A question for the values that an argument of a prompt, or a variable of a template, may have.
 *
 * @category models
 * @since 0.1.0
 */
export interface Completion {
  readonly kind: "completion"
  readonly target: Target
  readonly contract: object
  readonly argument: string
  readonly value: string
  readonly siblings: Readonly<Record<string, string>>
}

/**
 * A request that is not the protocol's own; `contract` is its method. `params` were decoded by it.
 *
 * @category models
 * @since 0.1.0
 */
export interface MethodCall<Params = unknown> {
  readonly kind: "method"
  readonly target: Target
  readonly contract: object
  readonly params: Params
}

/**
 * @category models
 * @since 0.1.0
 */
export type Call = ToolCall | ResourceRead | PromptGet | Completion | MethodCall

/**
 * Whether a call is one of this very contract; its arguments then have the type of the contract's.
 *
 * **Example** (Looking at the arguments of one tool)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { Call, Middleware } from "@mcpfx/server"
 * import { Effect, Schema } from "effect"
 *
 * const Deploy = Tool.make("deploy", { input: { env: Schema.String } })
 * const Audit = Middleware.make()("audit", (next, call) =>
 *   Call.isToolCall(call, Deploy)
 *     ? Effect.tap(next(call), () => Effect.log(`deployed to ${call.arguments.env}`))
 *     : next(call))
 * Audit.id // => "audit"
 * ```
 *
 * @category guards
 * @since 0.1.0
 */
export const isToolCall = <Name extends string, Input, Output, Failure>(
  call: Call,
  contract: ToolContract.Contract<Name, Input, Output, Failure>
): call is ToolCall<Input> => call.kind === "tool" && call.contract === contract

/**
 * @category guards
 * @since 0.1.0
 */
export const isPromptGet = <Name extends string, Arguments>(
  call: Call,
  contract: PromptContract.Contract<Name, Arguments>
): call is PromptGet<Arguments> => call.kind === "prompt" && call.contract === contract

/**
 * @category guards
 * @since 0.1.0
 */
export const isMethodCall = <Name extends string, Params, Result>(
  call: Call,
  method: Method.RequestMethod<Name, Params, Result>
): call is MethodCall<Params> => call.kind === "method" && call.contract === method

/**
 * @category guards
 * @since 0.1.0
 */
export const isTemplateRead = <Uri extends string, Variables, Content>(
  call: Call,
  contract: ResourceContract.TemplateContract<Uri, Variables, Content>
): call is ResourceRead<Variables> => call.kind === "resource" && call.contract === contract

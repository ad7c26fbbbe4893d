/**
 * The answers of methods that can end in more than one way. `resultType` tells them apart (RPC-13).
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Elicitation from "./Elicitation.ts"
import { InputRequired } from "./InputRequired.ts"
import * as Prompt from "./internal/promptShapes.ts"
import * as Resource from "./internal/resourceShapes.ts"
import * as Sampling from "./Sampling.ts"
import * as Task from "./Task.ts"
import * as Tool from "./Tool.ts"

/**
 * How a `tools/call` can end.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolCall = Schema.Union([InputRequired, Task.Created, Tool.CallResult])

/**
 * @category models
 * @since 0.1.0
 */
export type ToolCall = Tool.CallResult | InputRequired | Task.Created

/**
 * How a `prompts/get` can end.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PromptGet = Schema.Union([InputRequired, Prompt.GetResult])

/**
 * @category models
 * @since 0.1.0
 */
export type PromptGet = Prompt.GetResult | InputRequired

/**
 * How a `resources/read` can end.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResourceRead = Schema.Union([InputRequired, Resource.ReadResult])

/**
 * @category models
 * @since 0.1.0
 */
export type ResourceRead = Resource.ReadResult | InputRequired

/**
 * How a `sampling/createMessage` can end.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Sample = Schema.Union([Task.Created, Sampling.CreateResult])

/**
 * @category models
 * @since 0.1.0
 */
export type Sample = Sampling.CreateResult | Task.Created

/**
 * How an `elicitation/create` can end.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Elicit = Schema.Union([Task.Created, Elicitation.Result])

/**
 * @category models
 * @since 0.1.0
 */
export type Elicit = Elicitation.Result | Task.Created

/**
 * @category guards
 * @since 0.1.0
 */
export const isInputRequired = <A extends { readonly resultType?: unknown }>(
  outcome: A | InputRequired
): outcome is InputRequired => outcome.resultType === "input_required"

/**
 * @category guards
 * @since 0.1.0
 */
export const isTask = <A extends object>(outcome: A | Task.Created): outcome is Task.Created =>
  "resultType" in outcome && outcome.resultType === "task"

/**
 * Answering what a server asks of the client's model.
 *
 * The handler is a layer beneath the client's. A person should see what is asked and what is answered, and be able to say no
 * (SMP-01): `ModelSampling` makes a handler of a `LanguageModel` and such a check.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Sampling from "@mcpfx/schema/Sampling"
import * as SamplingTurns from "@mcpfx/schema/SamplingTurns"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { AskServices } from "./AskContext.ts"
import * as ClientHandlers from "./ClientHandlers.ts"
import { capture } from "./internal/answering.ts"

/**
 * What the model may be asked for besides text.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** The handler offers tools to the model (`sampling.tools`, SMP-04); not by default. Exists from 2025-11-25 on. */
  readonly tools?: boolean | undefined
  /**
   * The handler adds what the client knows of servers (`sampling.context`, SMP-08); not by default, and `includeContext` is
   * then kept from it.
   */
  readonly context?: boolean | undefined
}

/**
 * The user does not want the model to answer: on stateful revisions the server hears -1, on 2026-07-28 the request that asked
 * ends with `InputRejected` (SMP-09).
 *
 * @category answers
 * @since 0.1.0
 */
export const reject: Effect.Effect<never, McpError.UserRejected> = Effect.fail(new McpError.UserRejected())

/**
 * An answer in one text.
 *
 * @category answers
 * @since 0.1.0
 */
export const text = (text: string, model: string, stopReason = "endTurn"): Sampling.CreateResult => ({
  role: "assistant",
  content: { type: "text", text },
  model,
  stopReason
})

/**
 * Which of `models`, by name, a server hints at: its hints in order, each matched as a part of a name, whatever the case
 * (SMP-03). The first of the models that match; `undefined` where none does.
 *
 * **Example** (The second hint is known)
 *
 * ```ts
 * import { ClientSampling } from "@mcpfx/client"
 *
 * const preferences = { hints: [{ name: "sonnet" }, { name: "mini" }] }
 * ClientSampling.hinted(preferences, ["large-2", "Mini-1"]) // => "Mini-1"
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const hinted = <Name extends string>(
  preferences: Sampling.ModelPreferences | undefined,
  models: ReadonlyArray<Name>
): Name | undefined => {
  for (const { name = "" } of preferences?.hints ?? []) {
    const found = name === "" ? undefined : models.find((model) => model.toLowerCase().includes(name.toLowerCase()))
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Answers for the client's model. The handler keeps to `maxTokens` (SMP-02). It is interrupted when the server takes its
 * question back. Conversations in which calls of tools and their results do not go together are refused with -32602 (SMP-05),
 * as are tools where they were not declared.
 *
 * **Example** (A model that knows one answer)
 *
 * ```ts
 * import { ClientSampling } from "@mcpfx/client"
 * import { Effect, Layer } from "effect"
 *
 * const Model = ClientSampling.layer(({ maxTokens }) =>
 *   maxTokens < 1 ? ClientSampling.reject : Effect.succeed(ClientSampling.text("42", "deep-thought"))
 * )
 * Layer.isLayer(Model) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  handler: (params: Sampling.CreateParams) => Effect.Effect<Sampling.CreateResult, McpError.UserRejected, R>,
  options: Options = {}
): Layer.Layer<never, never, Exclude<R, AskServices>> =>
  Layer.effect(
    ClientHandlers.CurrentModel,
    Effect.map(capture, (run) => ({
      capability: { sampling: capability(options) },
      answer: (params, facts) => {
        const problem = SamplingTurns.problem(params.messages)
        return problem === undefined
          ? Effect.suspend(() => run(handler(options.context === true ? params : withoutContext(params)), facts))
          : Effect.fail(new McpError.InvalidParams({ detail: problem }))
      }
    }))
  )

const capability = ({ context, tools }: Options): NonNullable<Capabilities.Client["sampling"]> => ({
  ...(tools === true ? { tools: {} } : undefined),
  ...(context === true ? { context: {} } : undefined)
})

const withoutContext = (params: Sampling.CreateParams): Sampling.CreateParams => {
  if (params.includeContext === undefined) return params
  const { includeContext: _, ...rest } = params
  return rest
}

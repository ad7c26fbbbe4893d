/**
 * A `LanguageModel` that answers what servers ask of the client's model, with a person in between.
 *
 * Loads `effect/ai`, as `RemoteToolkit` does and nothing else.
 *
 * @since 0.1.0
 */
import type * as McpError from "@mcpfx/schema/McpError"
import type * as Sampling from "@mcpfx/schema/Sampling"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as AiTool from "effect/ai/Tool"
import * as AiToolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { AskServices } from "./AskContext.ts"
import * as ClientSampling from "./ClientSampling.ts"
import { modelNames } from "./internal/modelNames.ts"
import * as Turns from "./internal/modelTurns.ts"

/**
 * What a server wants of the model that each provider has its own words for.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settings {
  /** Has to be kept to (SMP-02). */
  readonly maxTokens: number
  readonly temperature: number | undefined
  readonly stopSequences: ReadonlyArray<string> | undefined
  /** Hints in order, see `ClientSampling.hinted`. */
  readonly preferences: Sampling.ModelPreferences | undefined
}

/**
 * What {@link layer} takes. The first two have no default, since a library can know neither who is to be asked nor how a
 * provider is told of a limit.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options<R> {
  /**
   * Shows a person what a server asks of the model, and gives it back as they want it to go there, changed or not;
   * `ClientSampling.reject` where they do not (SMP-01). `AskContext` says which server it is.
   */
  readonly consent: (
    params: Sampling.CreateParams
  ) => Effect.Effect<Sampling.CreateParams, McpError.UserRejected, R>
  /**
   * Runs a call of the model with these settings, by the configuration of its provider; also the place to provide another
   * `LanguageModel` for this call.
   */
  readonly configure: <A, E, S>(call: Effect.Effect<A, E, S>, settings: Settings) => Effect.Effect<A, E, S>
  /** Shows a person the answer before the server gets it, and gives it back as it is to go there; by default as it is. */
  readonly review?:
    | ((
      result: Sampling.CreateResult,
      params: Sampling.CreateParams
    ) => Effect.Effect<Sampling.CreateResult, McpError.UserRejected, R>)
    | undefined
  /** What the server is told of the model; by default what the provider says of itself. */
  readonly model?: string | undefined
  /** Whether servers may offer tools to the model; not by default. They are called by the server, never here. */
  readonly tools?: boolean | undefined
}

/**
 * Answers for the client's model with the `LanguageModel` of the context.
 *
 * **Details**
 *
 * - Messages, the system prompt, images, audio, tools, calls of tools and their results go to the model; context of servers is
 *   not added.
 * - Text, calls of tools, images and audio come back. Why the model stopped becomes `endTurn`, `maxTokens`, `toolUse` or
 *   `contentFilter`.
 * - A failure of the model is an internal error to the server, and is logged here.
 *
 * **Example** (A model that asks first)
 *
 * ```ts
 * import { ClientSampling, ModelSampling } from "@mcpfx/client"
 * import { Effect } from "effect"
 * import { LanguageModel } from "effect/ai"
 *
 * declare const ask: (question: string) => Effect.Effect<boolean>
 * declare const withMaxTokens: (maxTokens: number) => <A, E, R>(call: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
 *
 * // needs a LanguageModel
 * export const Model = ModelSampling.layer({
 *   consent: (params) =>
 *     Effect.flatMap(
 *       ask(`Let the server use your model, up to ${params.maxTokens} tokens?`),
 *       (yes) => yes ? Effect.succeed(params) : ClientSampling.reject
 *     ),
 *   configure: (call, { maxTokens }) => withMaxTokens(maxTokens)(call)
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <R = never>(
  options: Options<R>
): Layer.Layer<never, never, LanguageModel.LanguageModel | Exclude<R, AskServices>> =>
  ClientSampling.layer((asked) =>
    Effect.gen(function*() {
      const params = yield* options.consent(asked)
      const { maxTokens, modelPreferences, stopSequences, temperature } = params
      const settings = { maxTokens, temperature, stopSequences, preferences: modelPreferences }
      const names = modelNames((params.tools ?? []).map(({ name }) => name), "", maxName)
      const parts = yield* Effect.orDie(options.configure(generate(params, names), settings))
      const result = Turns.result(parts, options.model, names)
      return options.review === undefined ? result : yield* options.review(result, params)
    }), { tools: options.tools })

/** The longest name of a tool that models take. */
const maxName = 64

const generate = (params: Sampling.CreateParams, names: Turns.Names) => {
  const { toolChoice, tools = [] } = params
  const prompt = Turns.prompt(params, names)
  if (tools.length === 0) {
    return Effect.map(
      LanguageModel.generateText({ prompt }),
      ({ content }): ReadonlyArray<Turns.ResponsePart> => content
    )
  }
  return Effect.flatMap(toolkit(tools, names), (toolkit) =>
    Effect.map(
      LanguageModel.generateText({
        prompt,
        toolkit,
        toolChoice: toolChoice?.mode ?? "auto",
        disableToolCallResolution: true,
        toolCallValidation: "deferred"
      }),
      ({ content }): ReadonlyArray<Turns.ResponsePart> => content
    ))
}

/** Tools for the model to call and nobody here to run. */
const toolkit = Effect.fnUntraced(function*(
  descriptors: NonNullable<Sampling.CreateParams["tools"]>,
  names: Turns.Names
) {
  const tools = descriptors.map(({ description, inputSchema, name }) =>
    AiTool.dynamic(names.get(name) ?? name, { description, parameters: inputSchema, success: Schema.Unknown })
      // Schemas from elsewhere need not follow the rules of a strict mode.
      .annotate(AiTool.Strict, false)
  )
  const toolkit: AiToolkit.Toolkit<{ readonly [name: string]: (typeof tools)[number] }> = AiToolkit.make(...tools)
  const handlers = Object.fromEntries(tools.map(({ name }) => [name, () => Effect.die("tools are not run here")]))
  return yield* Effect.provideContext(toolkit, yield* toolkit.toHandlers(handlers))
})

/**
 * Toolkits of `effect/ai` as they are: their tools are offered like any others.
 *
 * This is the only module of the server that loads `effect/ai`.
 *
 * @since 0.1.0
 */
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as AiTool from "effect/ai/Tool"
import type * as AiToolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { HandlerServices } from "./Entry.ts"
import { foreignOf, toDescriptor } from "./internal/aiTool.ts"
import { capture } from "./internal/capture.ts"
import { type Enclosing, registration, visibility } from "./internal/enclosing.ts"
import { compileCheck } from "./internal/foreign.ts"
import { makeGate } from "./internal/gate.ts"
import { runAiTool } from "./internal/toolkitCall.ts"
import { Registry } from "./Registry.ts"
import type { DuplicateEntry } from "./ServerError.ts"

/**
 * What holds for every tool of a toolkit.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Who sees a tool; everybody by default. To others it does not exist. */
  readonly visible?: ((context: RequestContext["Service"], name: string) => boolean) | undefined
  /** Calls of one tool that may run at the same time in one endpoint, at least 1. No bound by default. */
  readonly concurrency?: number | undefined
  /** Scopes a caller must have been granted. */
  readonly scopes?: ReadonlyArray<string> | undefined
}

/**
 * What a toolkit needs in order to be offered: its handlers, and whatever its tools declare as dependencies or its schemas
 * need, from the layer or, for the request's own, from the request.
 *
 * @category type-level
 * @since 0.1.0
 */
export type Requirements<Tools extends Record<string, AiTool.Any>> =
  | AiTool.HandlersFor<Tools>
  | Exclude<AiTool.HandlerServices<Tools[keyof Tools]>, HandlerServices>

const handlerOf = (context: Context.Context<never>, tool: AiTool.Any): AiTool.Handler<string> | undefined =>
  Context.getOrUndefined(context, Context.Service<never, AiTool.Handler<string>>(tool.id))

const offer = (
  tool: AiTool.Any,
  handler: AiTool.Handler<string>,
  options: Options,
  enclosing: Enclosing
) =>
  Effect.gen(function*() {
    const registry = yield* Registry
    const captured = yield* capture<unknown>(handler.context)
    const name: string = tool.name
    const foreign = foreignOf(tool)
    const { visible } = options
    yield* registry.register({
      kind: "tool",
      name,
      descriptor: toDescriptor(tool),
      headerParams: [],
      visible: visibility(
        enclosing,
        { kind: "tool", name },
        visible === undefined ? undefined : (context) => visible(context, name)
      ),
      asks: [],
      scopes: options.scopes ?? [],
      run: runAiTool(tool, handler, {
        enclosing,
        captured,
        gate: makeGate(name, options.concurrency),
        check: foreign === undefined ? undefined : yield* compileCheck(name, "input", foreign)
      })
    })
  })

/**
 * Offers the tools of a toolkit while the layer is open: names, descriptions, titles, hints, `Meta` and JSON Schemas as
 * they are there.
 *
 * **Details**
 *
 * - A text is shown as it is, not in quotes; anything else as its JSON, beside the structured content. A tool with
 *   `toModelOutput` is shown as that says, files as images, audio or embedded resources.
 * - A failure of the tool's `failure` schema is a result with `isError`, in both failure modes. An `AiError` is one for tools
 *   that return their failures, a defect for the others.
 * - Dependencies that a tool declares are taken from the layer, those of a request from the request.
 * - Tools that run at the provider of a model have no handler, and are left out. Preliminary results are dropped, and
 *   `needsApproval` is left to the host, which asks its user before it calls.
 *
 * **Example** (A toolkit)
 *
 * ```ts
 * import { Toolkit } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 * import { Tool, Toolkit as AiToolkit } from "effect/ai"
 *
 * const Weather = AiToolkit.make(Tool.make("weather", {
 *   parameters: Schema.Struct({ city: Schema.String }),
 *   success: Schema.String
 * }))
 * const WeatherLive = Toolkit.toolkit(Weather).pipe(
 *   Layer.provide(Weather.toLayer({ weather: ({ city }) => Effect.succeed(`Rain in ${city}`) }))
 * )
 * Layer.isLayer(WeatherLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const toolkit = <Tools extends Record<string, AiTool.Any>>(
  toolkit: AiToolkit.Toolkit<Tools>,
  options: Options = {}
): Layer.Layer<never, DuplicateEntry, Registry | Requirements<Tools>> =>
  registration((enclosing) =>
    Effect.gen(function*() {
      const context = yield* Effect.context<never>()
      for (const tool of Object.values<AiTool.Any>(toolkit.tools)) {
        const handler = handlerOf(context, tool)
        if (handler !== undefined) yield* offer(tool, handler, options, enclosing)
        else if (!AiTool.isProviderDefined(tool)) {
          return yield* Effect.die(`The tool "${String(tool.name)}" has no handler`)
        }
      }
    })
  )

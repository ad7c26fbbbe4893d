/**
 * Tools as layers: a contract and the function that keeps it.
 *
 * @since 0.1.0
 */
import type { JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Tool from "@mcpfx/schema/Tool"
import * as ToolContract from "@mcpfx/schema/ToolContract"
import type { ContentInput, Result } from "@mcpfx/schema/ToolResult"
import type { RequestContext } from "@mcpfx/session/RequestContext"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import type { HandlerServices } from "./Entry.ts"
import { capture } from "./internal/capture.ts"
import { makeCheck, requireTasks } from "./internal/checks.ts"
import { registration, visibility } from "./internal/enclosing.ts"
import { makeGate } from "./internal/gate.ts"
import { running } from "./internal/handling.ts"
import { runTool } from "./internal/toolCall.ts"
import { Registry } from "./Registry.ts"
import type { DuplicateEntry, InputError, Refusal } from "./ServerError.ts"
import type { Options as TaskOptions } from "./Tasks.ts"

/**
 * What a handler may return. With `output`: its type, or `Tool.result(…)`. Without: a text, a block of content, several of
 * either, `Tool.result(…)`, or nothing at all, which is an empty content (SCH-17 of field practice).
 *
 * @category models
 * @since 0.1.0
 */
export type Returned<Output> = [Output] extends [never] ? ContentInput | Result | void
  : Output | Result<Output>

/**
 * What a handler may fail with: the failure of its contract, what asking the client can fail with, or a protocol error.
 * The first two become results with `isError`, the last an error of JSON-RPC. Anything else is a defect.
 *
 * @category models
 * @since 0.1.0
 */
export type Failed<Failure> = Failure | InputError | Refusal

/**
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Who sees the tool; everybody by default. To others it does not exist. */
  readonly visible?: ((context: RequestContext["Service"]) => boolean) | undefined
  /**
   * Calls that may run at the same time in one endpoint, at least 1; the others wait in their own fibers. No bound by
   * default.
   */
  readonly concurrency?: number | undefined
  /** Scopes a caller must have been granted, beside those of the contract. */
  readonly scopes?: ReadonlyArray<string> | undefined
  /** Members for the `_meta` it is listed with, beside those of the contract. */
  readonly meta?: JsonObject | undefined
  /** How calls run as tasks, where the contract says that they may or must. */
  readonly task?: TaskOptions | undefined
}

const described = (descriptor: Tool.Descriptor, meta: JsonObject | undefined): Tool.Descriptor =>
  meta === undefined ? descriptor : { ...descriptor, _meta: { ...descriptor._meta, ...meta } }

/**
 * Offers a tool while the layer is open.
 *
 * The handler gets decoded arguments. What it needs is taken from the layer, once, except what belongs to the request: its
 * `RequestContext`, its `Scope`, which closes before the answer is sent, and references such as `CurrentPrincipal`. Arguments
 * that do not fit never reach it (TOL-13, TOL-14); a returned value that does not fit is a defect and never leaves it.
 *
 * **Example** (A tool)
 *
 * ```ts
 * import { Tool } from "@mcpfx/schema"
 * import { ServerTool } from "@mcpfx/server"
 * import { Effect, Layer, Schema } from "effect"
 *
 * const Add = Tool.make("add", {
 *   description: "Adds two numbers",
 *   input: { a: Schema.Finite, b: Schema.Finite },
 *   output: { sum: Schema.Finite }
 * })
 * const AddLive = ServerTool.tool(Add, ({ a, b }) => Effect.succeed({ sum: a + b }))
 * Layer.isLayer(AddLive) // => true
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const tool = <Name extends string, Input, Output, Failure, R = never>(
  contract: ToolContract.Contract<Name, Input, Output, Failure>,
  handler: (
    input: NoInfer<Input>
  ) => Effect.Effect<Returned<NoInfer<Output>>, Failed<NoInfer<Failure>>, R>,
  options: Options = {}
): Layer.Layer<never, DuplicateEntry, Registry | Exclude<R, HandlerServices>> =>
  registration((enclosing) =>
    Effect.gen(function*() {
      const { name } = contract
      const registry = yield* Registry
      const captured = yield* capture<R>()
      const gate = makeGate(name, options.concurrency)
      yield* requireTasks(name, contract.task)
      const checks = {
        input: yield* makeCheck(name, "input", contract.foreignInput),
        output: yield* makeCheck(name, "output", contract.foreignOutput)
      }
      yield* registry.register({
        kind: "tool",
        name,
        descriptor: described(ToolContract.toDescriptor(contract), options.meta),
        headerParams: contract.headerParams,
        visible: visibility(enclosing, { kind: "tool", name }, options.visible),
        asks: contract.asks,
        scopes: [...new Set([...contract.scopes, ...(options.scopes ?? [])])],
        ...(contract.task !== "never" && { task: { ...options.task, support: contract.task } }),
        run: runTool(contract, enclosing, checks, (input) => gate(running(captured, handler(input))))
      })
    })
  )

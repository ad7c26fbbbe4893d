/**
 * The tools of a server as a toolkit for a `LanguageModel`.
 *
 * This is the only module of the client that loads `effect/ai`.
 *
 * @since 0.1.0
 */
import * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import * as Tool from "@mcpfx/schema/Tool"
import type { RequestOptions } from "@mcpfx/session/Peer"
import * as AiTool from "effect/ai/Tool"
import * as AiToolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Descriptors from "./Descriptors.ts"
import { modelNames } from "./internal/modelNames.ts"
import { modelOutput } from "./internal/modelOutput.ts"
import type { McpClient } from "./McpClient.ts"
import { BadInput, fail, McpClientError } from "./McpClientError.ts"

/**
 * A tool of a server, as a model sees it: it takes what the server's JSON Schema says, and gives the whole result.
 *
 * @category models
 * @since 0.1.0
 */
export type RemoteTool = AiTool.Tool<string, {
  readonly parameters: typeof Schema.Unknown
  readonly success: typeof Tool.CallResult
  readonly failure: typeof McpClientError
  readonly failureMode: "error"
}>

/**
 * A toolkit of the tools of a server, with its handlers.
 *
 * @category models
 * @since 0.1.0
 */
export type RemoteToolkit = AiToolkit.WithHandler<{ readonly [name: string]: RemoteTool }>

/**
 * What {@link make} takes; everything has a default.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** Put before each name, such as `files__`: tells apart the tools of several servers. */
  readonly prefix?: string | undefined
  /** Which tools the model may use; all by default. */
  readonly filter?: ((tool: Tool.Descriptor) => boolean) | undefined
  /** Which tools a person has to approve before they are called; none by default. See `Descriptors.hints`. */
  readonly needsApproval?: ((tool: Tool.Descriptor) => boolean) | undefined
  /**
   * What becomes of a call that fails for another reason than its tool: `fail`, the default, fails the effect with a
   * `McpClientError`; `tell` tells the model, which may try something else.
   */
  readonly failures?: "fail" | "tell" | undefined
  /** Options of each call. */
  readonly request?: Pick<RequestOptions, "timeout" | "maxTimeout" | "meta" | "headers"> | undefined
  /** The longest name the model takes; 64 by default. */
  readonly maxName?: number | undefined
}

/**
 * The tools of a server, as they are listed now, for a model.
 *
 * **Details**
 *
 * - Names that models do not take are changed: other characters than letters, digits, `_` and `-` become `_`, and what is too
 *   long or not unique any more gets a suffix that depends on the name alone. No tool is left out for its name.
 * - The JSON Schema of the arguments is handed on as it is; arguments are not checked here, but by the server.
 * - A result goes to the model as its texts, images, audio and files, or as the JSON of its structured content where it has
 *   none. A tool that failed (`isError`) is a result too, which the model reads.
 * - Interrupting a call cancels it on the server.
 *
 * **Example** (A model with the tools of a server)
 *
 * ```ts
 * import { McpClient, RemoteToolkit } from "@mcpfx/client"
 * import { Effect } from "effect"
 * import { LanguageModel } from "effect/ai"
 *
 * const answer = Effect.gen(function*() {
 *   const client = yield* McpClient.McpClient
 *   const toolkit = yield* RemoteToolkit.make(client, { prefix: "files__" })
 *   return yield* LanguageModel.generateText({ prompt: "What is in my notes?", toolkit })
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = Effect.fnUntraced(function*(
  client: McpClient["Service"],
  options: Options = {}
): Effect.fn.Return<RemoteToolkit, McpClientError> {
  const { filter = () => true, maxName = 64, prefix = "" } = options
  const descriptors = (yield* client.tools).filter(filter)
  const names = modelNames(descriptors.map(({ name }) => name), prefix, maxName)
  const tools: Array<RemoteTool> = []
  const handlers: Array<readonly [name: string, handler: (args: unknown) => ReturnType<typeof call>]> = []
  for (const descriptor of descriptors) {
    const name = names.get(descriptor.name)
    if (name === undefined) continue
    tools.push(toTool(name, descriptor, options))
    handlers.push([name, (args) => call(client, descriptor.name, args, options)])
  }
  const toolkit: AiToolkit.Toolkit<{ readonly [name: string]: RemoteTool }> = AiToolkit.make(...tools)
  return yield* Effect.provideContext(toolkit, yield* toolkit.toHandlers(Object.fromEntries(handlers)))
})

const toTool = (name: string, descriptor: Tool.Descriptor, options: Options): RemoteTool => {
  const { destructive, idempotent, openWorld, readOnly } = Descriptors.hints(descriptor)
  const tool = AiTool.dynamic(name, {
    description: descriptor.description,
    parameters: descriptor.inputSchema,
    success: Tool.CallResult,
    failure: McpClientError,
    failureMode: "error",
    needsApproval: options.needsApproval?.(descriptor) ?? false,
    toModelOutput: modelOutput
  })
  return tool
    .annotate(AiTool.Title, Descriptors.displayName(descriptor))
    .annotate(AiTool.Readonly, readOnly)
    .annotate(AiTool.Destructive, destructive)
    .annotate(AiTool.Idempotent, idempotent)
    .annotate(AiTool.OpenWorld, openWorld)
    // Schemas from elsewhere need not follow the rules of a strict mode.
    .annotate(AiTool.Strict, false)
}

const call = (
  client: McpClient["Service"],
  name: string,
  args: unknown,
  { failures, request }: Options
): Effect.Effect<Tool.CallResult, McpClientError> => {
  const called = JsonRpc.isJsonObject(args)
    ? client.callTool(name, args, request)
    : Effect.fail(fail(new BadInput({ detail: "arguments are an object" }), Methods.ToolsCall.name))
  return failures === "tell"
    ? Effect.catch(
      called,
      (error) => Effect.succeed({ isError: true, content: [{ type: "text", text: error.message }] })
    )
    : called
}

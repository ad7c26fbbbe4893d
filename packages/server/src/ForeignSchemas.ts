/**
 * Tools whose JSON Schema comes from elsewhere, in servers that are put together with `McpStdio`.
 *
 * `McpServer` and `McpHttp` check such arguments and results as they are; `McpStdio` leaves out what does it, to be small,
 * until this brings it in.
 *
 * **Example** (A small server with a schema from elsewhere)
 *
 * ```ts
 * import { NodeStdio } from "@effect/platform-node"
 * import { JsonSchema, Tool } from "@mcpfx/schema"
 * import { ForeignSchemas, McpStdio, ServerTool } from "@mcpfx/server"
 * import { Effect } from "effect"
 *
 * const Count = Tool.make("count", { input: JsonSchema.foreign({ type: "object", required: ["items"] }) })
 * const CountLive = ServerTool.tool(Count, () => Effect.succeed("counted"))
 *
 * const program = McpStdio.runStdio(CountLive, { name: "counter", version: "1.0.0" }).pipe(
 *   Effect.provide(ForeignSchemas.layer),
 *   Effect.provide(NodeStdio.layer)
 * )
 * ```
 *
 * @since 0.1.0
 */
import * as Layer from "effect/Layer"
import { compileCheck } from "./internal/foreign.ts"
import { ForeignPart } from "./internal/parts.ts"

/**
 * Has contracts with a JSON Schema from elsewhere checked, by the `JsonSchemaValidator` in use.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never> = Layer.succeed(ForeignPart, compileCheck)

/** Requests that come again with answers, as far as it takes no engine of rounds to tell. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as Methods from "@mcpfx/schema/Methods"
import * as Effect from "effect/Effect"

/** Requests that may ask (MRT-02). */
const asking: ReadonlySet<string> = new Set([
  Methods.ToolsCall.name,
  Methods.PromptsGet.name,
  Methods.ResourcesRead.name
])

export const mayAsk = (method: string): boolean => asking.has(method)

/** The state that a request brings back; `undefined` for a first one, and for what is refused where the params are read. */
export const stateOf = ({ method, params }: JsonRpc.Request): string | undefined => {
  const state = params?.["requestState"]
  return typeof state === "string" && mayAsk(method) ? state : undefined
}

/** Changed, sealed by somebody else, of another caller or another request: all the same to whoever sends it. */
export const foreign: Effect.Effect<never, McpError.InvalidParams> = Effect.suspend(() =>
  Effect.fail(new McpError.InvalidParams({ detail: "requestState does not belong to this request" }))
)

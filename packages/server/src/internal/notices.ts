/** Changes as the notifications they are. */
import * as CustomMethod from "@mcpfx/schema/CustomMethod"
import { isJsonObject, type JsonObject } from "@mcpfx/schema/JsonRpc"
import type * as Lifecycle from "@mcpfx/schema/Lifecycle"
import type * as Method from "@mcpfx/schema/Method"
import * as Methods from "@mcpfx/schema/Methods"
import type * as Effect from "effect/Effect"
import type { Change } from "../ChangeBus.ts"

/** How a list's change is announced. */
const announcements: Readonly<
  Record<"tools" | "prompts" | "resources", Method.NotificationMethod<string, Lifecycle.NoticeParams>>
> = {
  tools: Methods.ToolsListChanged,
  prompts: Methods.PromptsListChanged,
  resources: Methods.ResourcesListChanged
}

/** Sends a notification. */
export type Notify<A> = <Name extends string, Params>(
  method: Method.NotificationMethod<Name, Params>,
  params: Params
) => Effect.Effect<A>

export const teller = <A>(notify: Notify<A>, meta: Lifecycle.NoticeParams = {}) => (change: Change): Effect.Effect<A> =>
  change.kind === "announcement"
    ? notify(CustomMethod.raw(change.method), withMeta(change.params, meta))
    : change.kind === "resource"
    ? notify(Methods.ResourcesUpdated, { uri: change.uri, ...meta })
    : notify(announcements[change.kind], meta)

const withMeta = (params: JsonObject, { _meta: meta }: Lifecycle.NoticeParams): JsonObject => {
  const own = params["_meta"]
  return meta === undefined ? params : { ...params, _meta: { ...(isJsonObject(own) ? own : undefined), ...meta } }
}

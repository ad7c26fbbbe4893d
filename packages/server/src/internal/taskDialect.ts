/** What has to be known of tasks where none are run. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Dialect } from "@mcpfx/session/TaskState"
import * as Option from "effect/Option"
import type { Request } from "./lane.ts"

/** The dialect of tasks that a revision speaks; 2026-07-28 without the extension speaks none. */
export const dialectOf = (revision: Revision): Dialect | undefined => {
  if (revision.requests.has(Methods.TasksResult.name)) return "core"
  return revision.requests.has(Methods.TasksUpdate.name) ? "extension" : undefined
}

/** Callers that nobody can tell apart have no list of tasks, since it would be everybody's (TKL-10). */
export const hasList = ({ facts }: Request): boolean => facts.transport !== "http" || Option.isSome(facts.principal)

/** Whether a request to listen names tasks, on a wire whose params leave them out. */
export const names = ({ params }: JsonRpc.Request): boolean => {
  const wish = params?.["notifications"]
  return typeof wish === "object" && wish !== null && "taskIds" in wish && wish.taskIds !== undefined
}

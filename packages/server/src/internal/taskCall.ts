/** Which calls of tools run as tasks. */
import * as Capabilities from "@mcpfx/schema/Capabilities"
import * as McpError from "@mcpfx/schema/McpError"
import type * as Outcome from "@mcpfx/schema/Outcome"
import * as Task from "@mcpfx/schema/Task"
import type * as Tool from "@mcpfx/schema/Tool"
import * as Effect from "effect/Effect"
import type { ToolEntry } from "../Entry.ts"
import type { Gate } from "./entryRoutes.ts"
import type { Answer, Lane, Request, Wire } from "./lane.ts"
import { untilDetached } from "./taskDetach.ts"
import { dialectOf } from "./taskDialect.ts"
import { begin, type Start, type Tasks } from "./taskStart.ts"

const without = (what: string, name: string) => new McpError.MethodNotFound({ method: `tools/call ${what}: ${name}` })

/**
 * The answer to a call that is, or has to be, a task; `undefined` for one that is to be served as any other. What a client
 * wants that knows tasks is granted by the rules of its revision (TKL-01, TKL-09, TKX-01, TKX-02).
 */
export const taskCall = (tasks: Tasks, lane: Lane, gate: Gate, wire: Wire<unknown, Outcome.ToolCall>) => {
  const dialect = dialectOf(lane.revision)
  return (entry: ToolEntry, params: Tool.CallParams, request: Request): Answer | undefined => {
    const policy = entry.task
    const asked = dialect === "extension" || params.task !== undefined
    if (policy === undefined) {
      return dialect === "core" && asked ? Effect.fail(without("as a task", params.name)) : undefined
    }
    if (dialect !== undefined && asked) {
      const start: Start = { tasks, lane, gate, policy, entry, params, request, dialect }
      const answer = dialect === "extension" && policy.start === "when-told" ? untilDetached(start) : begin(start)
      return Effect.map(answer, wire.encode)
    }
    if (policy.support === "may") return undefined
    return Effect.fail(
      lane.revision.era === "modern"
        ? new McpError.MissingClientCapability({ required: Capabilities.requiredExtension(Task.extensionId) })
        : without("without a task", params.name)
    )
  }
}

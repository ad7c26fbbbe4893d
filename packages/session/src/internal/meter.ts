/** Writes down the metrics of requests and sessions. */
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type * as Context from "effect/Context"
import * as Metric from "effect/Metric"
import * as SessionMetrics from "../SessionMetrics.ts"
import type { Operation } from "../Telemetry.ts"

export type Kind = "server" | "client"

/** What a request names, by its attribute. */
export interface Target {
  readonly key: "gen_ai.tool.name" | "gen_ai.prompt.name"
  readonly name: string
}

/** A failure by its `error.type`; `code` where the peer was given one. */
export interface Fault {
  readonly type: string
  readonly code: string | undefined
}

/** A request that has ended. */
interface Ended {
  readonly operation: Operation
  readonly target: Target | undefined
  readonly fault: Fault | undefined
}

export interface Meter {
  /** So many more requests run. */
  readonly requests: (kind: Kind, by: 1 | -1, context: Context.Context<never>) => void
  readonly request: (kind: Kind, seconds: number, ended: Ended, context: Context.Context<never>) => void
  /** So many more sessions are open. */
  readonly sessions: (role: Kind, by: 1 | -1, context: Context.Context<never>) => void
  readonly session: (
    role: Kind,
    seconds: number,
    ended: { readonly revision: Revision | undefined; readonly reason: string },
    context: Context.Context<never>
  ) => void
}

export const versionOf = (revision: Revision | undefined): Record<string, string> =>
  revision === undefined ? {} : { "mcp.protocol.version": revision.version }

/**
 * Names that a peer chooses freely become series only when they are known to name something: a method of the revision, a
 * tool that answered.
 */
const attributesOf = ({ fault, operation, target }: Ended): Record<string, string> => {
  const known = operation.revision === undefined || operation.revision.requests.has(operation.method)
  const attributes: Record<string, string> = {
    "mcp.method.name": known ? operation.method : "_OTHER",
    ...versionOf(operation.revision)
  }
  if (target !== undefined && (fault === undefined || fault.type === "tool_error")) attributes[target.key] = target.name
  if (operation.method === Methods.ToolsCall.name) attributes["gen_ai.operation.name"] = "execute_tool"
  if (fault !== undefined) attributes["error.type"] = fault.type
  if (fault?.code !== undefined) attributes["rpc.response.status_code"] = fault.code
  return attributes
}

export const meter: Meter = {
  requests: (kind, by, context) =>
    (kind === "server" ? SessionMetrics.serverActiveRequests : SessionMetrics.clientActiveRequests)
      .modifyUnsafe(by, context),
  request: (kind, seconds, ended, context) => {
    const metric = kind === "server" ? SessionMetrics.serverOperationDuration : SessionMetrics.clientOperationDuration
    Metric.withAttributes(metric, attributesOf(ended)).updateUnsafe(seconds, context)
  },
  sessions: (role, by, context) =>
    (role === "server" ? SessionMetrics.serverActiveSessions : SessionMetrics.clientActiveSessions)
      .modifyUnsafe(by, context),
  session: (role, seconds, { reason, revision }, context) => {
    const attributes = { ...versionOf(revision), ...(reason === "failed" ? { "error.type": reason } : undefined) }
    const metric = role === "server" ? SessionMetrics.serverSessionDuration : SessionMetrics.clientSessionDuration
    Metric.withAttributes(metric, attributes).updateUnsafe(seconds, context)
  }
}

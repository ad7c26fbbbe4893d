/** Why a message is not let in: the answer and its HTTP status. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import type { Revision } from "@mcpfx/schema/Revision"
import { Rejected } from "@mcpfx/transport/Endpoint"
import * as Exit from "effect/Exit"
import type * as InFlight from "../InFlight.ts"
import type * as Lifecycle from "../Lifecycle.ts"

export type Refused = Exit.Exit<never, Rejected>

/** What the lifecycle or the table says against a request; `Over` when the session has ended. */
export type Reason = Lifecycle.Verdict | InFlight.Refusal | "Over"

const refuse = (
  error: McpError.McpError,
  revision: Revision,
  status: number,
  headers?: Readonly<Record<string, string>>
): Refused => Exit.fail(new Rejected(McpError.toWire(error, revision), status, headers))

const invalid = (revision: Revision, detail: string, status = 400): Refused =>
  refuse(new McpError.InvalidRequest({ detail }), revision, status)

const soon = { "retry-after": "1" }

/** A session that is over is as good as unknown (HTTP-39). */
export const over = (revision: Revision): Refused => invalid(revision, "the session is over", 404)

export const of = (why: Reason, revision: Revision, message: JsonRpc.Request): Refused => {
  switch (why) {
    case "AlreadyInitialized":
      return invalid(revision, "the session is initialized already")
    case "Taken":
      return invalid(revision, `a request with id ${JSON.stringify(message.id)} is running`)
    case "Full":
      return refuse(new McpError.TooManyRequests({ limit: "requestsInFlight", retryAfter: 1 }), revision, 503, soon)
    case "Closed":
      return refuse(new McpError.ServerShuttingDown(), revision, 503, soon)
    case "Over":
      return over(revision)
    default:
      return invalid(revision, `${message.method} came before initialize`)
  }
}

export const badParams = (revision: Revision, detail: string): Refused =>
  refuse(new McpError.InvalidParams({ detail }), revision, 200)

export const methodNotFound = (revision: Revision, method: string): Refused =>
  refuse(new McpError.MethodNotFound({ method }), revision, 200)

export const unsupported = (revision: Revision, supported: ReadonlyArray<string>, requested: string): Refused =>
  refuse(new McpError.UnsupportedVersion({ supported, requested }), revision, 200)

export const broken = (revision: Revision): Refused => refuse(new McpError.InternalError(), revision, 500)

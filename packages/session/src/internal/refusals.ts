/** Why a message is not let in: the answer and its HTTP status. */
import * as McpError from "@mcpfx/schema/McpError"
import type { Revision } from "@mcpfx/schema/Revision"
import { Rejected } from "@mcpfx/transport/Endpoint"
import * as Exit from "effect/Exit"

export type { Rejected }

export type Refused = Exit.Exit<never, Rejected>

const refuse = (
  error: McpError.McpError,
  revision: Revision,
  status: number,
  headers?: Readonly<Record<string, string>>
): Refused => Exit.fail(new Rejected(McpError.toWire(error, revision), status, headers))

const invalid = (revision: Revision, detail: string, status = 400): Refused =>
  refuse(new McpError.InvalidRequest({ detail }), revision, status)

export const notInitialized = (revision: Revision, method: string): Refused =>
  invalid(revision, `${method} came before initialize`)

export const alreadyInitialized = (revision: Revision): Refused =>
  invalid(revision, "the session is initialized already")

export const taken = (revision: Revision, id: string | number): Refused =>
  invalid(revision, `a request with id ${JSON.stringify(id)} is running`)

/** A session that is over is as good as unknown (HTTP-39). */
export const over = (revision: Revision): Refused => invalid(revision, "the session is over", 404)

const soon = { "retry-after": "1" }

export const full = (revision: Revision, limit: string): Refused =>
  refuse(new McpError.TooManyRequests({ limit, retryAfter: 1 }), revision, 503, soon)

export const draining = (revision: Revision): Refused => refuse(new McpError.ServerShuttingDown(), revision, 503, soon)

export const badParams = (revision: Revision, detail: string): Refused =>
  refuse(new McpError.InvalidParams({ detail }), revision, 200)

export const unsupported = (revision: Revision, supported: ReadonlyArray<string>, requested: string): Refused =>
  refuse(new McpError.UnsupportedVersion({ supported, requested }), revision, 200)

export const broken = (revision: Revision): Refused => refuse(new McpError.InternalError(), revision, 500)

export const methodNotFound = (revision: Revision, method: string): Refused =>
  refuse(new McpError.MethodNotFound({ method }), revision, 200)

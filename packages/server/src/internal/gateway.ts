/** What both ways into a server share: the parts of the endpoint, and the refusals they have in common. */
import * as McpError from "@mcpfx/schema/McpError"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { SessionStoreUnavailable, TooManySessions } from "@mcpfx/session/SessionError"
import type { Sessions } from "@mcpfx/session/Sessions"
import type { Rejected } from "@mcpfx/transport/Endpoint"
import type * as Context from "effect/Context"
import type { Dispatcher } from "../Dispatcher.ts"
import type { Modern } from "../Modern.ts"
import type { Registry } from "../Registry.ts"
import { rejected } from "./admission.ts"
import type { Settings } from "./settings.ts"

export interface Gateway {
  readonly settings: Settings
  readonly registry: Registry["Service"]
  readonly dispatcher: Dispatcher["Service"]
  readonly sessions: Sessions["Service"]
  readonly modern: Modern
  readonly context: Context.Context<never>
  /** Requests that one connection, or one caller, may have in flight. */
  readonly requestsInFlight: number
  readonly batchLength: number
  readonly isDraining: () => boolean
}

/** How a peer that has not agreed on anything is written to. */
export const fallback = (settings: Settings): Revision => settings.newestLegacy ?? Revisions.newest

export const modernOf = (settings: Settings): Revision => settings.newestModern ?? Revisions.newest

export const shuttingDown = (revision: Revision): Rejected => rejected(new McpError.ServerShuttingDown(), revision)

/** No session could be had. */
export const noSession = (error: TooManySessions | SessionStoreUnavailable, revision: Revision): Rejected =>
  rejected(
    new McpError.TooManyRequests({ limit: error._tag === "TooManySessions" ? "sessions" : "sessionStore" }),
    revision
  )

/** A message of an older revision came where none is served: it is told what is (VER-08). */
export const modernOnly = (settings: Settings, method: string, requested: unknown): Rejected =>
  rejected(
    method === "initialize"
      ? new McpError.UnsupportedVersion({
        supported: settings.supported,
        requested: typeof requested === "string" ? requested : ""
      })
      : new McpError.InvalidEnvelope({ key: "io.modelcontextprotocol/protocolVersion", reason: "missing" }),
    modernOf(settings)
  )

/** What both ways into a server share: the parts of the endpoint, and the refusals they have in common. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as McpError from "@mcpfx/schema/McpError"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import * as Revisions from "@mcpfx/schema/Revisions"
import type { Session } from "@mcpfx/session/Session"
import type { SessionStoreUnavailable, TooManySessions } from "@mcpfx/session/SessionError"
import type { Sessions } from "@mcpfx/session/Sessions"
import type { Rejected } from "@mcpfx/transport/Endpoint"
import type { Facts } from "@mcpfx/transport/Exchange"
import type * as Context from "effect/Context"
import type { Dispatcher } from "../Dispatcher.ts"
import type { Registry } from "../Registry.ts"
import { rejected, scopeRefusal } from "./admission.ts"
import { concerned, named } from "./entries.ts"
import type { Modern } from "./modern.ts"
import type { Settings } from "./settings.ts"
import { Single } from "./single.ts"

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
  readonly isOpen: (session: Session) => boolean
}

/** How a peer that has not agreed on anything is written to. */
export const fallback = (settings: Settings): Revision => settings.newestLegacy ?? Revisions.newest

export const modernOf = (settings: Settings): Revision => settings.newestModern ?? Revisions.newest

export const shuttingDown = (revision: Revision): Rejected => rejected(new McpError.ServerShuttingDown(), revision)

const limitOf = (error: TooManySessions | SessionStoreUnavailable): string => {
  if (error._tag === "SessionStoreUnavailable") return "sessionStore"
  return error.scope === "principal" ? "sessionsPerPrincipal" : "sessions"
}

/** No session could be had. */
export const noSession = (error: TooManySessions | SessionStoreUnavailable, revision: Revision): Rejected =>
  rejected(new McpError.TooManyRequests({ limit: limitOf(error) }), revision)

/** A request does not say which revision it speaks. */
export const noVersion = (): McpError.InvalidEnvelope =>
  new McpError.InvalidEnvelope({ key: MetaKey.protocolVersion, reason: "missing" })

/** A message of an older revision came where none is served: it is told what is (VER-08). */
export const modernOnly = (settings: Settings, method: string, requested: unknown): Rejected =>
  rejected(
    method === Methods.Initialize.name
      ? new McpError.UnsupportedVersion({
        supported: settings.supported,
        requested: typeof requested === "string" ? requested : ""
      })
      : noVersion(),
    modernOf(settings)
  )

/** A request of a session that its caller's token does not allow. */
export const lacking = (
  gateway: Gateway,
  session: Session,
  facts: Facts,
  request: JsonRpc.Request
): Rejected | undefined => {
  const agreed = session.agreed()
  if (agreed === undefined) return undefined
  const snapshot = gateway.registry.snapshot()
  const context = () => new Single(request, { ...agreed, facts, sessionId: session.id })
  const entry = named(snapshot, request, context) ?? concerned(snapshot, request, context)
  return entry === undefined || entry.scopes.length === 0 ? undefined : scopeRefusal(entry, context())
}

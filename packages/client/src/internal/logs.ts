/** The level of log messages that was asked for, kept over connections. */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Logging from "@mcpfx/schema/Logging"
import * as MetaKey from "@mcpfx/schema/MetaKey"
import * as Methods from "@mcpfx/schema/Methods"
import type { PeerFailure } from "@mcpfx/session/Peer"
import * as Effect from "effect/Effect"
import type { Live } from "../Connection.ts"
import type { McpClientError } from "../McpClientError.ts"
import * as Offers from "./offers.ts"
import type { Requests } from "./requests.ts"

const method = Methods.LoggingSetLevel

export class LogLevel {
  private level: Logging.Level | undefined = undefined

  /** On 2026-07-28 each request says which logs it wants (LOG-03). */
  meta(live: Live, meta: JsonRpc.JsonObject | undefined): JsonRpc.JsonObject | undefined {
    return this.level === undefined || live.revision.era === "legacy" || live.capabilities.logging === undefined
      ? meta
      : { [MetaKey.logLevel]: this.level, ...meta }
  }

  set(requests: Requests, level: Logging.Level): Effect.Effect<void, McpClientError> {
    const told = requests.use(
      method.name,
      (live, options): Effect.Effect<unknown, PeerFailure> =>
        live.revision.era === "modern" ? Effect.void : live.session.peer.request(method, { level }, options)
    )
    return Effect.map(told, () => {
      this.level = level
    })
  }

  /** A new session of an older revision has to be told anew. */
  restore(live: Live): Effect.Effect<void> {
    const { level } = this
    return level === undefined || live.revision.era === "modern" || Offers.missing(live, method.name) !== undefined
      ? Effect.void
      : Effect.ignore(live.session.peer.request(method, { level }))
  }
}

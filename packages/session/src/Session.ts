/**
 * The session of a stateful revision, for servers and clients alike.
 *
 * @since 0.1.0
 */
import type * as Capabilities from "@mcpfx/schema/Capabilities"
import type * as Implementation from "@mcpfx/schema/Implementation"
import type * as Logging from "@mcpfx/schema/Logging"
import type { Revision } from "@mcpfx/schema/Revision"
import type { Admission, Rejected } from "@mcpfx/transport/Endpoint"
import type { Exchange } from "@mcpfx/transport/Exchange"
import type { Link } from "@mcpfx/transport/Link"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Peer } from "./Peer.ts"
import type { CloseReason } from "./SessionError.ts"

/**
 * What was agreed with `initialize`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agreed {
  readonly revision: Revision
  readonly clientInfo: Implementation.Implementation
  readonly clientCapabilities: Capabilities.Client
  /** Whether `notifications/initialized` has come (LIF-06). */
  readonly initialized: boolean
}

/**
 * One owner of its state, its own scope, supervised fibers: closing it interrupts every request it serves, fails every
 * request it sent and ends its streams.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session {
  readonly id: string
  readonly role: "server" | "client"
  /** Takes one message, synchronously: the effect is always an `Exit`. */
  readonly accept: (exchange: Exchange) => Effect.Effect<Admission, Rejected>
  /** Sends to the other side over the attached link. */
  readonly peer: Peer
  /** Makes `link` a way for what answers nothing, while the scope is open (HTTP-20, HTTP-24). */
  readonly attach: (link: Link) => Effect.Effect<void, Rejected, Scope.Scope>
  /** `undefined` before `initialize` was answered. */
  readonly agreed: () => Agreed | undefined
  /** The level the client asked for with `logging/setLevel`, or the server's default (LOG-02). */
  readonly logLevel: () => Logging.Level | undefined
  /** Ends the session. Idempotent; succeeds when every fiber of it has ended. */
  readonly close: (reason: CloseReason) => Effect.Effect<void>
  /** Completes with the reason once the session is over. */
  readonly closed: Effect.Effect<CloseReason>
  /** Whether a request runs, a stream is open or an ask waits: busy sessions never idle out. */
  readonly busy: () => boolean
}

/**
 * One inbound message, what its transport knows about it, and the way back.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as Option from "effect/Option"
import type { Classified } from "./Classify.ts"
import type { Link } from "./Link.ts"
import type { Principal } from "./Principal.ts"
import type { MessageTooLarge } from "./TransportError.ts"

/**
 * Where the messages about one request go, and at last its answer.
 *
 * `answer` and `end` close the outlet; every request's outlet is closed exactly once, what comes later is dropped. Neither
 * waits: bounding the number of open outlets bounds the queue behind them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outlet {
  /** Writes the answer and closes. Never waits; a peer that has gone is not an error. */
  readonly answer: (message: JsonRpc.Outgoing) => void
  /** Closes without an answer: a cancelled request. */
  readonly end: () => void
  /** Writes a message before the answer. Waits while the stream is full; drops once the outlet is closed. */
  readonly push: (message: JsonRpc.Outgoing) => Effect.Effect<void>
  /**
   * Only the answer can be written and pushed messages are dropped: the peer takes no event stream. A request nested in
   * this one would never reach it.
   */
  readonly oneShot?: boolean | undefined
  /** What a pushed message may have, in bytes: longer ones are dropped. Whoever waits for an answer has to look first. */
  readonly maxBytes?: number | undefined
  /**
   * Closes the connection of the peer, which comes back for the rest: after `retry`, if given, else after the time its
   * stream began with (HTTP-28). `false`, and nothing closed, where the stream cannot be resumed or the peer might take
   * this for the end; `undefined` on transports where connections are not streams.
   */
  readonly closeStream?: ((retry: Duration.Duration | undefined) => Effect.Effect<boolean>) | undefined
}

/**
 * The outlet of notifications and responses: nothing comes back.
 *
 * @category models
 * @since 0.1.0
 */
export const noOutlet: Outlet = { answer: () => {}, end: () => {}, push: () => Effect.void }

/**
 * What the transport knows about a message apart from its body.
 *
 * @category models
 * @since 0.1.0
 */
export interface Facts {
  readonly transport: "memory" | "stdio" | "http"
  /** The connection that carried it; `undefined` on HTTP, where each message stands alone. */
  readonly connection: Link | undefined
  /** The session id header (HTTP-37). */
  readonly sessionId: string | undefined
  /** The `MCP-Protocol-Version` header (HTTP-43, HTTP-50). */
  readonly protocolVersion: string | undefined
  /** The request's headers, lower-cased; `undefined` where there are none. */
  readonly headers: Headers.Headers | undefined
  readonly principal: Option.Option<Principal>
  /** The era and version a transport has found already; `undefined` where the body has still to be looked at. */
  readonly classified?: Classified | undefined
}

/**
 * @category models
 * @since 0.1.0
 */
export interface Exchange {
  readonly message: JsonRpc.Message
  /**
   * Why the answer of the other side could not be read, where `message` only stands for it: it was too large, or what was
   * wrong with it. Whoever waits for it hears of this and not of a refusal by the other side (RPC-23).
   */
  readonly fault?: MessageTooLarge | string | undefined
  readonly facts: Facts
  readonly outlet: Outlet
}

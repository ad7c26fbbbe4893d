/**
 * The outward door: how one side sends messages that answer nothing.
 *
 * A link is a connection (memory, stdio, a client's HTTP endpoint) or one open stream of a session (the GET stream).
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import type * as Effect from "effect/Effect"
import * as Effectable from "effect/Effectable"
import type * as Exit from "effect/Exit"
import type { TransportError } from "./TransportError.ts"

/**
 * What a client tells its link once the revision is agreed.
 *
 * @category models
 * @since 0.1.0
 */
export interface Agreement {
  readonly version: string
  readonly era: "legacy" | "modern"
}

/**
 * Options of one send.
 *
 * @category models
 * @since 0.1.0
 */
export interface SendOptions {
  /** Extra HTTP headers, such as `Mcp-Param-*`; ignored by transports without headers. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/**
 * What a link may give for one send: an effect as any other, which can also be tried where it needs no fiber.
 *
 * @category models
 * @since 0.1.0
 */
export abstract class Sending extends Effectable.Class<void, TransportError> {
  /** Sends at once and gives what came of it; `undefined` where it would have to wait, and then nothing was sent. */
  abstract attempt(): Exit.Exit<void, TransportError> | undefined
}

/**
 * What comes of a send that does not have to wait; `undefined` where it is to be run.
 *
 * @category combinators
 * @since 0.1.0
 */
export const attempt = (sending: Effect.Effect<void, TransportError>): Exit.Exit<void, TransportError> | undefined =>
  sending instanceof Sending ? sending.attempt() : undefined

/**
 * @category models
 * @since 0.1.0
 */
export interface Link {
  /** Unique in the process. */
  readonly id: string
  /**
   * Sends one message. On a connection it succeeds when the message is written; on HTTP when the exchange it opened is
   * over, that is, after the answer has been handed to the endpoint. Interrupting it closes that exchange's stream, which
   * on 2026-07-28 cancels the request (HTTP-62). Waits while the link is full.
   */
  readonly send: (message: JsonRpc.Outgoing, options?: SendOptions) => Effect.Effect<void, TransportError>
  /** Completes, with the reason, when the link has ended; never fails. */
  readonly closed: Effect.Effect<TransportError>
  /** Tells the transport the agreed revision: HTTP clients send its headers from then on. */
  readonly agreed: (agreement: Agreement) => Effect.Effect<void>
  /**
   * Ends the link from this side, after what was sent: a session that is over lets go of its streams. `undefined` on links
   * that only their scope ends.
   */
  readonly close?: Effect.Effect<void> | undefined
  /**
   * Told, synchronously, by whom it is held from now on: such a link calls `release` with itself when it has ended, so that
   * nobody else has to look after it. `undefined` on links that are held as long as the scope of their attachment is open,
   * and on those that stand in front of another link, which would call `release` with itself.
   */
  readonly heldBy?: ((holder: LinkHolder) => void) | undefined
}

/**
 * Whoever holds a link, to send over it.
 *
 * @category models
 * @since 0.1.0
 */
export interface LinkHolder {
  readonly release: (link: Link) => void
}

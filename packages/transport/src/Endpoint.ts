/**
 * The inward door of both roles: every transport hands what it reads to an `Endpoint`.
 *
 * `handle` admits; the exchange's outlet answers. Only the admission goes back up the stack, so accepting a message never
 * waits for a handler.
 *
 * @since 0.1.0
 */
import type * as JsonRpc from "@mcpfx/schema/JsonRpc"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Exchange, Facts } from "./Exchange.ts"
import type { Link } from "./Link.ts"

/**
 * The message is in; its outlet will be answered or ended.
 *
 * @category models
 * @since 0.1.0
 */
export interface Admission {
  /** The session the message opened: HTTP writes it as a header (HTTP-35). */
  readonly sessionId?: string | undefined
  /**
   * To be called when the peer leaves before the answer. Interrupts the handler on 2026-07-28 (HTTP-62), only detaches
   * the outlet before (HTTP-26); `undefined` when there is nothing to do.
   */
  readonly disconnected?: (() => void) | undefined
}

/**
 * The message is not in: what to tell the peer. Transports write it; requests only get the error.
 *
 * @category models
 * @since 0.1.0
 */
export class Rejected {
  readonly _tag = "Rejected"
  readonly error: JsonRpc.WireError
  readonly httpStatus: number
  readonly headers: Readonly<Record<string, string>>
  constructor(error: JsonRpc.WireError, httpStatus: number, headers: Readonly<Record<string, string>> = {}) {
    this.error = error
    this.httpStatus = httpStatus
    this.headers = headers
  }
}

/**
 * @category services
 * @since 0.1.0
 */
export class Endpoint extends Context.Service<Endpoint, {
  /**
   * Admits one message. The effect is an `Exit` already in all but a few cases (a session that has to be looked up
   * elsewhere), so a transport can look before it yields.
   */
  readonly handle: (exchange: Exchange) => Effect.Effect<Admission, Rejected>
  /** Whether an array of these messages may come in at all: 2025-03-26 alone (RPC-10, RPC-12). */
  readonly admitBatch: (messages: ReadonlyArray<JsonRpc.Message>, facts: Facts) => Effect.Effect<void, Rejected>
  /** Opens a stream of a session for what answers nothing, as long as the scope is open (HTTP-20). */
  readonly attach: (facts: Facts, link: Link) => Effect.Effect<void, Rejected, Scope.Scope>
  /**
   * Succeeds where the caller may go on with the session the facts name. Asked before a stream of that session is resumed
   * (HTTP-33); nothing can be resumed at an endpoint that leaves it out.
   */
  readonly verify?: ((facts: Facts) => Effect.Effect<void, Rejected>) | undefined
  /** Ends the session the facts name (HTTP-41). */
  readonly terminate: (facts: Facts) => Effect.Effect<void, Rejected>
}>()("@mcpfx/transport/Endpoint") {}

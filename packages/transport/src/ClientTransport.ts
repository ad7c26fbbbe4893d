/**
 * How a client reaches a server: opens the link and hands what the server sends to the client's endpoint.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Endpoint } from "./Endpoint.ts"
import type { Link } from "./Link.ts"
import type { TransportError } from "./TransportError.ts"

/**
 * One way to a server.
 *
 * @category models
 * @since 0.1.0
 */
export interface Way {
  readonly kind: "memory" | "stdio" | "http"
  /** Names the server for the cached era verdict (VER-15): a command line or an origin. */
  readonly target: string
  /** Opens a fresh link; it closes, orderly, with the scope. */
  readonly connect: (endpoint: Endpoint["Service"]) => Effect.Effect<Link, TransportError, Scope.Scope>
  /** The only era it can carry, where that is so: no probe for another one is sent. */
  readonly era?: "legacy" | undefined
}

/**
 * @category services
 * @since 0.1.0
 */
export class ClientTransport extends Context.Service<
  ClientTransport,
  Way & {
    /** The way to the same server where that turns out not to have this transport (SSE-06). */
    readonly fallback?: Way | undefined
  }
>()("@mcpfx/transport/ClientTransport") {}

/**
 * Long work without long connections: a handler lets its client go, and the client comes back for the rest (HTTP-28).
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { RequestContext } from "./RequestContext.ts"

/**
 * What {@link hangUp} takes.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  /** How long the client is to wait before it comes back. Default `Limits.reconnectAfter` of the transport. */
  readonly retry?: Duration.Input | undefined
}

/**
 * Closes the connection over which the client waits for the request being served. What comes then, the answer too, is kept in
 * the `EventStore` until the client is back for it; the handler simply goes on.
 *
 * `false`, and nothing is closed, where the client would not come back: without an `EventStore`, on other transports than
 * HTTP, on other revisions than 2025-11-25, and for clients that take no event stream.
 *
 * **Example** (A report that takes a while)
 *
 * ```ts
 * import { Polling } from "@mcpfx/session"
 * import { Effect } from "effect"
 *
 * const report = Effect.gen(function*() {
 *   yield* Polling.hangUp({ retry: "30 seconds" })
 *   yield* Effect.sleep("5 minutes")
 *   return "the report"
 * })
 * ```
 *
 * @category polling
 * @since 0.1.0
 */
export const hangUp = (options: Options = {}): Effect.Effect<boolean, never, RequestContext> =>
  Effect.flatMap(
    RequestContext,
    ({ hangUp }) =>
      hangUp?.(options.retry === undefined ? undefined : Duration.fromInputUnsafe(options.retry)) ??
        Effect.succeed(false)
  )

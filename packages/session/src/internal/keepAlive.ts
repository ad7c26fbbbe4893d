/** Asking the other side now and then whether it is there (PNG-02). */
import * as Methods from "@mcpfx/schema/Methods"
import { TransportClosed } from "@mcpfx/transport/TransportError"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { Actor } from "./actor.ts"

/**
 * Pings at this rate while there is a revision that has pings and a way to send one. An answer of any kind is a sign of
 * life; silence, for as long as any request is waited for, ends the session.
 */
export const keepAlive = (actor: Actor, every: Duration.Input): Effect.Effect<void> => {
  const ping = Effect.suspend(() => {
    const legacy = actor.terms.agreed?.revision.era === "legacy"
    return legacy && actor.route() !== undefined ? actor.peer.request(Methods.Ping, {}) : Effect.void
  })
  const once = Effect.catch(ping, (failure) =>
    failure._tag === "RequestTimeout"
      ? actor.lost(new TransportClosed({ reason: "the other side does not answer pings" }))
      : Effect.void)
  return Effect.whileLoop({
    while: () => !actor.terms.closed,
    body: () => Effect.delay(once, every),
    step: () => {}
  })
}

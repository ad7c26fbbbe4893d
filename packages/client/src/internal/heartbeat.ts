/** Finds out that a server is gone although its connection still stands (PNG-02). */
import * as Methods from "@mcpfx/schema/Methods"
import type { Revision } from "@mcpfx/schema/Revision"
import type { PeerFailure, RequestOptions } from "@mcpfx/session/Peer"
import type * as Session from "@mcpfx/session/Session"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"

/** Asks for a sign of life: `ping`, which 2026-07-28 does not have, so there what every server answers. */
export const ping = (
  { revision, session }: { readonly revision: Revision; readonly session: Session.Session },
  options?: RequestOptions
): Effect.Effect<void, PeerFailure> =>
  Effect.asVoid(
    revision.era === "modern"
      ? session.peer.request(Methods.Discover, {}, options)
      : session.peer.request(Methods.Ping, {}, options)
  )

/** Asks every `interval`, and closes a session that gives no sign within another. Any answer is a sign of life. */
export const start = (
  live: { readonly revision: Revision; readonly session: Session.Session },
  interval: Duration.Input | undefined
): Effect.Effect<void, never, Scope.Scope> => {
  if (interval === undefined) return Effect.void
  const beat = Effect.catchTag(
    ping(live, { timeout: interval, maxTimeout: interval }),
    ["RequestTimeout", "SessionLost"],
    () => live.session.close("failed")
  )
  return Effect.delay(Effect.ignore(beat), interval).pipe(
    Effect.repeat(Schedule.forever),
    Effect.forkScoped,
    Effect.asVoid
  )
}

/** How a table of requests in flight ends at once. */
import type * as InFlight from "@mcpfx/session/InFlight"
import * as Effect from "effect/Effect"

/** Takes nothing in any more, and succeeds when what ran has ended. */
export const closeTable = (table: InFlight.InFlight): Effect.Effect<void> =>
  Effect.suspend(() => {
    table.closeUnsafe()
    return table.interruptAll
  })

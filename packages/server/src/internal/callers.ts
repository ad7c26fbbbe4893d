/** Requests of HTTP that stand alone, by caller: each caller has so many in flight at most. */
import * as InFlight from "@mcpfx/session/InFlight"
import type { Facts } from "@mcpfx/transport/Exchange"
import * as Principal from "@mcpfx/transport/Principal"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** Takes nothing in any more, and succeeds when what ran has ended. */
export const closeTable = (table: InFlight.InFlight): Effect.Effect<void> =>
  Effect.suspend(() => {
    table.closeUnsafe()
    return table.interruptAll
  })

/** Tables of callers that have nothing in flight any more are dropped once there are so many. */
const sweepAt = 256

export class Callers {
  private readonly tables = new Map<string, InFlight.InFlight>()
  private readonly limit: number
  private closed = false

  constructor(limit: number) {
    this.limit = limit
  }

  readonly of = (facts: Facts): InFlight.InFlight => {
    const key = Principal.key(facts.principal)
    let table = this.tables.get(key)
    if (table === undefined) {
      if (this.tables.size >= sweepAt) this.sweep()
      table = InFlight.makeUnsafe({ limit: this.limit })
      if (this.closed) table.closeUnsafe()
      this.tables.set(key, table)
    }
    return table
  }

  get size(): number {
    let total = 0
    for (const table of this.tables.values()) total += table.size
    return total
  }

  readonly drain = (deadline: Duration.Input): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.closed = true
      return Effect.forEach(Array.from(this.tables.values()), (table) => table.drain(deadline), {
        concurrency: "unbounded",
        discard: true
      })
    })

  /** Interrupts everything at once. */
  readonly close: Effect.Effect<void> = Effect.suspend(() => {
    this.closed = true
    return Effect.forEach(Array.from(this.tables.values()), closeTable, { concurrency: "unbounded", discard: true })
  })

  private sweep(): void {
    for (const [key, table] of this.tables) if (table.size === 0) this.tables.delete(key)
  }
}

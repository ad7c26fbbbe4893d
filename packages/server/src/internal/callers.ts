/** Requests of HTTP that stand alone, by caller: each caller has so many in flight at most. */
import * as InFlight from "@mcpfx/session/InFlight"
import type { Facts } from "@mcpfx/transport/Exchange"
import * as Principal from "@mcpfx/transport/Principal"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { closeTable } from "./closeTable.ts"

/** Tables of callers that have nothing in flight any more are dropped once there are so many, at the least. */
const sweepFrom = 256

export class Callers {
  private readonly tables = new Map<string, InFlight.InFlight>()
  private readonly limit: number
  private closed = false
  private sweepAt = sweepFrom

  constructor(limit: number) {
    this.limit = limit
  }

  readonly of = (facts: Facts): InFlight.InFlight => {
    const key = Principal.key(facts.principal)
    let table = this.tables.get(key)
    if (table === undefined) {
      if (this.tables.size >= this.sweepAt) this.sweep()
      table = InFlight.makeUnsafe({ limit: this.limit })
      if (this.closed) table.closeUnsafe()
      this.tables.set(key, table)
    }
    return table
  }

  /** Callers that have a table. */
  get known(): number {
    return this.tables.size
  }

  /** Requests that run. */
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

  /** The next one waits until there are twice as many as are left: each caller pays for a few tables, however many are busy. */
  private sweep(): void {
    for (const [key, table] of this.tables) if (table.size === 0) this.tables.delete(key)
    this.sweepAt = Math.max(sweepFrom, 2 * this.tables.size)
  }
}

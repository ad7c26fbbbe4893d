import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** One who holds a key or waits for it. */
class Ticket {
  wake: (() => void) | undefined
}

/** Locks by name within one process: first come, first served; a name that nobody uses takes no space. */
export class KeyedLock<E> {
  /** The first of each line holds the key. */
  private readonly lines = new Map<string, Array<Ticket>>()
  private readonly wait: Duration.Duration
  private readonly late: (key: string) => E

  constructor(wait: Duration.Input, late: (key: string) => E) {
    this.wait = Duration.fromInputUnsafe(wait)
    this.late = late
  }

  /** Runs an effect while it alone holds the key. */
  run<A, E2, R>(key: string, effect: Effect.Effect<A, E2, R>): Effect.Effect<A, E | E2, R> {
    // The ticket is given back whatever happens, even where the turn came and nobody was there to see it.
    return Effect.uninterruptibleMask((restore) =>
      Effect.suspend(() => {
        const ticket = new Ticket()
        const line = this.lines.get(key)
        if (line === undefined) {
          this.lines.set(key, [ticket])
        } else {
          line.push(ticket)
        }
        const turn = line === undefined ? Effect.void : this.turn(key, ticket)
        return Effect.ensuring(restore(Effect.andThen(turn, effect)), Effect.sync(() => this.leave(key, ticket)))
      })
    )
  }

  /** How many names are in use. */
  get size(): number {
    return this.lines.size
  }

  private turn(key: string, ticket: Ticket): Effect.Effect<void, E> {
    return Effect.callback<void>((resume) => {
      if (this.lines.get(key)?.[0] === ticket) return resume(Effect.void)
      ticket.wake = () => resume(Effect.void)
    }).pipe(
      Effect.timeoutOrElse({ duration: this.wait, orElse: () => Effect.fail(this.late(key)) })
    )
  }

  private leave(key: string, ticket: Ticket): void {
    const line = this.lines.get(key)
    const at = line?.indexOf(ticket) ?? -1
    if (line === undefined || at === -1) return
    line.splice(at, 1)
    const [next] = line
    if (next === undefined) this.lines.delete(key)
    // Nothing happens to one who holds it already.
    else next.wake?.()
  }
}

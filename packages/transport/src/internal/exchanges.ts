import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

interface Place {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  index: number
}

/** The exchanges of a connection that are under way. */
export class Exchanges {
  private readonly running: Array<Place> = []

  /**
   * Runs an exchange, up to where it has to wait on this stack; `ended` hears its exit. Gives what interrupts one that waits,
   * and awaits its end.
   */
  run<A, E>(
    context: Context.Context<never>,
    exchange: Effect.Effect<A, E>,
    ended: (exit: Exit.Exit<A, E>) => void
  ): Effect.Effect<void> | undefined {
    const fiber = Effect.runForkWith(context)(exchange)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      ended(exit)
      return undefined
    }
    const place: Place = { fiber, index: this.running.length }
    this.running.push(place)
    fiber.addObserver((exit) => {
      this.leave(place)
      ended(exit)
    })
    return Fiber.interrupt(fiber)
  }

  /** Interrupts all of them, and awaits their end. */
  readonly stop: Effect.Effect<void> = Effect.suspend(() =>
    this.running.length === 0 ? Effect.void : Fiber.interruptAll(this.running.map(({ fiber }) => fiber))
  )

  /** The last one takes the place of the one that leaves: a map would be built anew all the time. */
  private leave(place: Place): void {
    const last = this.running.pop()
    if (last === undefined || last === place) return
    last.index = place.index
    this.running[place.index] = last
  }
}

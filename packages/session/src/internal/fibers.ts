/** Fibers that belong to a session and to no request: owned here, interrupted when the session ends. */
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

interface Place {
  readonly fiber: Fiber.Fiber<unknown, unknown>
  index: number
}

export class Fibers {
  private readonly running: Array<Place> = []

  get size(): number {
    return this.running.length
  }

  all(): ReadonlyArray<Fiber.Fiber<unknown, unknown>> {
    return this.running.map((place) => place.fiber)
  }

  /** Runs on this stack; gives the fiber if it suspended. `ended` hears the exit in either case. */
  run<A, E>(
    context: Context.Context<never>,
    effect: Effect.Effect<A, E>,
    ended?: (exit: Exit.Exit<A, E>) => void
  ): Fiber.Fiber<A, E> | undefined {
    const fiber = Effect.runForkWith(context)(effect)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      ended?.(exit)
      return undefined
    }
    const place: Place = { fiber, index: this.running.length }
    this.running.push(place)
    fiber.addObserver((exit) => {
      this.leave(place)
      ended?.(exit)
    })
    return fiber
  }

  /** The last one takes the place of the one that leaves. */
  private leave(place: Place): void {
    const last = this.running.pop()
    if (last === undefined || last === place) return
    last.index = place.index
    this.running[place.index] = last
  }

  /** Waits until all have ended, and interrupts those that have not by then. */
  settle(grace: Duration.Input): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.running.length === 0) return Effect.void
      return Effect.timeoutOrElse(Effect.asVoid(Fiber.awaitAll(this.all())), {
        duration: grace,
        orElse: () => Fiber.interruptAll(this.all())
      })
    })
  }
}

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
  private running: Array<Place> | undefined = undefined

  get size(): number {
    return this.running === undefined ? 0 : this.running.length
  }

  all(): ReadonlyArray<Fiber.Fiber<unknown, unknown>> {
    return this.running === undefined ? [] : this.running.map((place) => place.fiber)
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
    const running = this.running ??= []
    const place: Place = { fiber, index: running.length }
    running.push(place)
    fiber.addObserver((exit) => {
      leave(running, place)
      ended?.(exit)
    })
    return fiber
  }

  /** Waits until all have ended, and interrupts those that have not by then. */
  settle(grace: Duration.Input): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.size === 0) return Effect.void
      return Effect.timeoutOrElse(Effect.asVoid(Fiber.awaitAll(this.all())), {
        duration: grace,
        orElse: () => Fiber.interruptAll(this.all())
      })
    })
  }
}

/** The last one takes the place of the one that leaves. */
const leave = (running: Array<Place>, place: Place): void => {
  const last = running.pop()
  if (last === undefined || last === place) return
  last.index = place.index
  running[place.index] = last
}

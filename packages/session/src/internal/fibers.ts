/** Fibers that belong to a session and to no request: owned here, interrupted when the session ends. */
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"

export class Fibers {
  private readonly running = new Set<Fiber.Fiber<unknown, unknown>>()

  get size(): number {
    return this.running.size
  }

  all(): ReadonlyArray<Fiber.Fiber<unknown, unknown>> {
    return Array.from(this.running)
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
    this.running.add(fiber)
    fiber.addObserver((exit) => {
      this.running.delete(fiber)
      ended?.(exit)
    })
    return fiber
  }

  /** Waits until all have ended, and interrupts those that have not by then. */
  settle(grace: Duration.Input): Effect.Effect<void> {
    return Effect.suspend(() => {
      if (this.running.size === 0) return Effect.void
      return Effect.timeoutOrElse(Effect.asVoid(Fiber.awaitAll(this.all())), {
        duration: grace,
        orElse: () => Fiber.interruptAll(this.all())
      })
    })
  }
}

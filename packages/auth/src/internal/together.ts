/** Work that several wait for and one does: it goes on when the one who asked first leaves. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

export class Together<A, E> {
  private readonly running = new Map<string, Fiber.Fiber<A, E>>()
  private readonly scope: Scope.Scope

  /** The work ends with the scope. */
  constructor(scope: Scope.Scope) {
    this.scope = scope
  }

  get size(): number {
    return this.running.size
  }

  has(key: string): boolean {
    return this.running.has(key)
  }

  /** Runs the effect, or waits for the one of this key that runs already. */
  run(key: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const running = this.running.get(key)
      return running === undefined
        ? Effect.flatMap(this.start(key, effect), Fiber.join)
        : Fiber.join(running)
    })
  }

  private start(key: string, effect: Effect.Effect<A, E>): Effect.Effect<Fiber.Fiber<A, E>> {
    const ended = Effect.onExit(effect, () => Effect.sync(() => this.running.delete(key)))
    return Effect.tap(Effect.forkIn(ended, this.scope), (fiber) =>
      Effect.sync(() => {
        if (fiber.pollUnsafe() === undefined) this.running.set(key, fiber)
      }))
  }
}

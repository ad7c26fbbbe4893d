/** Things that are done one at a time, and once for all who want the same. */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

interface Turn<A, E> {
  readonly key: string
  readonly fiber: Fiber.Fiber<A, E>
  waiting: number
}

export class Turns<A, E> {
  private readonly scope: Scope.Scope
  private readonly context: Context.Context<never>
  /** What those hear who waited for something that was given up. */
  private readonly givenUp: Effect.Effect<A, E>
  private current: Turn<A, E> | undefined = undefined

  constructor(scope: Scope.Scope, context: Context.Context<never>, givenUp: Effect.Effect<A, E>) {
    this.scope = scope
    this.context = context
    this.givenUp = givenUp
  }

  /**
   * The outcome of `effect`, or of what runs already under the same key; what runs under another key is waited for first.
   * Who is interrupted leaves; when nobody is left the effect is interrupted, and what comes next waits for its end.
   */
  take(key: string, effect: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.suspend(() => {
      const { current } = this
      if (current !== undefined && (current.key !== key || current.waiting === 0)) {
        return Effect.andThen(Fiber.await(current.fiber), this.take(key, effect))
      }
      const turn = current ?? this.start(key, effect)
      turn.waiting++
      const outcome = Effect.onInterrupt(Fiber.await(turn.fiber), () =>
        Effect.sync(() => {
          turn.waiting--
          if (turn.waiting === 0) turn.fiber.interruptUnsafe()
        }))
      return Effect.flatMap(
        outcome,
        (exit) => Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause) ? this.givenUp : exit
      )
    })
  }

  /** Starts it for nobody, unless something runs. */
  begin(key: string, effect: Effect.Effect<A, E>): void {
    if (this.current === undefined) this.start(key, effect).waiting++
  }

  /** Ends what runs, as soon as it lets itself be ended. */
  interrupt(): void {
    this.current?.fiber.interruptUnsafe()
  }

  private start(key: string, effect: Effect.Effect<A, E>): Turn<A, E> {
    const fiber = Fiber.runIn(Effect.runForkWith(this.context)(effect), this.scope)
    const turn = { key, fiber, waiting: 0 }
    if (fiber.pollUnsafe() === undefined) {
      this.current = turn
      fiber.addObserver(() => {
        if (this.current === turn) this.current = undefined
      })
    }
    return turn
  }
}

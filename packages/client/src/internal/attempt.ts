/** Something that is done once for all who want it at the same time. */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"

interface Running<A, E> {
  readonly fiber: Fiber.Fiber<A, E>
  waiting: number
}

/**
 * Runs `effect` in `scope` for all who come while it runs, and gives each its outcome. Who is interrupted leaves; when
 * nobody is left the effect is interrupted and its end awaited, and only then does it run again.
 */
export const shared = <A, E>(
  effect: Effect.Effect<A, E>,
  scope: Scope.Scope,
  context: Context.Context<never>
): Effect.Effect<Exit.Exit<A, E>> => {
  let running: Running<A, E> | undefined

  const start = (): Running<A, E> => {
    const fiber = Fiber.runIn(Effect.runForkWith(context)(effect), scope)
    const mine = { fiber, waiting: 0 }
    if (fiber.pollUnsafe() === undefined) {
      running = mine
      fiber.addObserver(() => {
        if (running === mine) running = undefined
      })
    }
    return mine
  }

  const join: Effect.Effect<Exit.Exit<A, E>> = Effect.suspend(() => {
    if (running?.waiting === 0) return Effect.andThen(Fiber.await(running.fiber), join)
    const mine = running ?? start()
    mine.waiting++
    return Effect.onInterrupt(Fiber.await(mine.fiber), () => {
      mine.waiting--
      return mine.waiting === 0 ? Fiber.interrupt(mine.fiber) : Effect.void
    })
  })

  return join
}

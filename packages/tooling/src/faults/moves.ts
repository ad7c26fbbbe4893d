/** Runs of random moves: what they are made of, what is watched while they run, and how one that went wrong is made shorter. */
import { Effect, Metric, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { Fibers } from "./fibers.ts"
import { Random } from "./random.ts"

/** A move as numbers from 0 to 1: what they choose among depends on what there is. */
export interface Move {
  readonly kind: number
  readonly which: number
  readonly how: number
}

export const pick = <A>(items: ReadonlyArray<A>, at: number): A | undefined => items[Math.floor(at * items.length)]

/** Chooses by a number from 0 to 1, the more often the greater the weight. */
export const chooser = <A>(
  weighted: ReadonlyArray<readonly [weight: number, item: A]>,
  last: A
): (at: number) => A => {
  const total = weighted.reduce((sum, [weight]) => sum + weight, 0)
  return (at) => {
    let left = at * total
    for (const [weight, item] of weighted) {
      if (left < weight) return item
      left -= weight
    }
    return last
  }
}

/** Moves that follow from a seed. */
export const movesOf = (seed: number, length: number): ReadonlyArray<Move> => {
  const random = new Random(seed)
  return Array.from({ length }, () => ({ kind: random.next(), which: random.next(), how: random.next() }))
}

/** Makes moves; gives what went wrong, and after which of them, or nothing. */
export type Play = (moves: ReadonlyArray<Move>) => Effect.Effect<string | undefined>

/**
 * A run, which writes down what it has done and gives what went wrong, with a clock of its own. Fibers that are left
 * afterwards are wrong, too; `until` waits for them to be gone.
 */
export const watched = (
  run: (done: Array<string>) => Effect.Effect<string | undefined, never, Scope.Scope>,
  until: (so: () => boolean) => Effect.Effect<void>
): Effect.Effect<string | undefined> =>
  Effect.suspend(() => {
    const fibers = new Fibers()
    return Effect.gen(function*() {
      const done: Array<string> = []
      const before = fibers.alive
      const wrong = yield* Effect.scoped(run(done))
      if (wrong !== undefined) return [...done, wrong].join("\n")
      yield* until(() => fibers.alive <= before)
      return fibers.alive > before ? [...done, `${fibers.alive - before} fibers are left`].join("\n") : undefined
    }).pipe(
      Effect.provideService(Metric.FiberRuntimeMetrics, fibers),
      Effect.provide(TestClock.layer())
    )
  })

/** Leaves out what it goes wrong without. */
export const shrink = Effect.fnUntraced(function*(play: Play, moves: ReadonlyArray<Move>) {
  let least = moves
  for (let size = Math.ceil(moves.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < least.length;) {
      const fewer = [...least.slice(0, at), ...least.slice(at + size)]
      if ((yield* play(fewer)) === undefined) at += size
      else least = fewer
    }
  }
  return least
})

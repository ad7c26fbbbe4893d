/** Places where something is waited for, counted in the order in which they are reached, one of which goes wrong. */
import { Effect } from "effect"

/**
 * What goes wrong: whoever waits is interrupted, is failed, meets a defect, waits for ever, or hears of a failure although it
 * was done.
 */
export const kinds = ["interrupt", "failure", "defect", "stall", "late"] as const

export type Kind = typeof kinds[number]

/** Says what a failure looks like at a place; places that cannot fail leave it out. */
export type Failure<E> = (() => E) | undefined

const defect = new Error("forced")

export class FaultPoints {
  /** Where it went wrong, once it has. */
  hit: string | undefined = undefined
  private count = 0
  private target = 0
  private kind: Kind = "failure"

  /** From now on the n-th place that is reached goes wrong; counted from 1. */
  arm(kind: Kind, n: number): void {
    this.hit = undefined
    this.count = 0
    this.kind = kind
    this.target = n
  }

  /** Nothing goes wrong any more. */
  disarm(): void {
    this.target = 0
  }

  /** A place where `effect` is waited for; `undo` lets go of what came of it where nobody hears of that. */
  at<A, E, R>(
    place: string,
    effect: Effect.Effect<A, E, R>,
    failure: Failure<E>,
    undo: (value: A) => Effect.Effect<void> = () => Effect.void
  ): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      if (this.target === 0 || ++this.count !== this.target) return effect
      this.hit = place
      switch (this.kind) {
        case "interrupt":
          return Effect.interrupt
        case "failure":
          return failure === undefined ? effect : Effect.fail(failure())
        case "defect":
          return Effect.die(defect)
        case "stall":
          return Effect.never
        case "late":
          return failure === undefined ? effect : Effect.andThen(Effect.flatMap(effect, undo), Effect.fail(failure()))
      }
    })
  }
}

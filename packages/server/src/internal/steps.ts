/** Runs a step, once for all where a store remembers it. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { StoreUnavailable } from "../AskError.ts"
import { StepInDoubt } from "../ServerError.ts"
import type { ServerLimits } from "../ServerLimits.ts"
import type { StepStore } from "../StepStore.ts"
import type { KeptStep } from "./interaction.ts"
import { parse } from "./roundState.ts"

export type Limits = Pick<ServerLimits, "storeTimeout" | "stepLife">

/** A store that does not answer is one that cannot be reached: a defect, which no handler can do anything about. */
export const bounded = <A>(
  effect: Effect.Effect<A, StoreUnavailable>,
  store: StoreUnavailable["store"],
  operation: string,
  limits: Pick<ServerLimits, "storeTimeout">
): Effect.Effect<A> =>
  Effect.orDie(Effect.timeoutOrElse(effect, {
    duration: limits.storeTimeout,
    orElse: () => Effect.fail(new StoreUnavailable({ store, operation, cause: "it did not answer in time" }))
  }))

// What stands in the store: a step that was begun, one that failed and may be begun again, or a result.
const begun = "begun"
const free = "free"
const done = "done:"

export const runStep = <A, E>(
  step: KeptStep<A, E>,
  idempotencyKey: string,
  store: StepStore["Service"] | undefined,
  limits: Limits
): Effect.Effect<A, E | StepInDoubt> => {
  const run = Effect.suspend(() => step.run(idempotencyKey))
  if (store === undefined) return run

  const set = (expected: Option.Option<string>, next: string) =>
    bounded(store.compareAndSet(idempotencyKey, expected, next, limits.stepLife), "steps", "set", limits)

  const first: Effect.Effect<A, E> = Effect.onExit(run, (exit) => {
    if (Exit.isSuccess(exit)) return set(Option.some(begun), done + JSON.stringify(step.encode(exit.value) ?? null))
    // A failure that the step tells of is an end; after anything else nobody knows.
    return Exit.hasFails(exit) && !Exit.hasInterrupts(exit) && !Exit.hasDies(exit)
      ? set(Option.some(begun), free)
      : Effect.void
  })

  const again = (record: string): Effect.Effect<A, E | StepInDoubt> => {
    if (record.startsWith(done)) return step.decode(parse(record.slice(done.length)))
    const inDoubt: Effect.Effect<A, E | StepInDoubt> = Effect.fail(new StepInDoubt({ key: step.key }))
    return record === free ? Effect.flatMap(set(Option.some(free), begun), (won) => won ? first : inDoubt) : inDoubt
  }

  return Effect.flatMap(
    set(Option.none(), begun),
    (won): Effect.Effect<A, E | StepInDoubt> =>
      won ?
        first :
        Effect.flatMap(bounded(store.get(idempotencyKey), "steps", "get", limits), (record) =>
          Option.isSome(record)
            ? again(record.value)
            : Effect.fail(new StepInDoubt({ key: step.key })))
  )
}

/** The smallest test runner that works on every run time: named effects, each within a deadline. */
import { Cause, Effect, Equal, Exit, Schedule } from "effect"

/** One thing that is tried; a failure or a defect is what went wrong. */
export interface Case {
  readonly name: string
  readonly run: Effect.Effect<void, unknown>
}

/** How one case ended; `failure` is `undefined` where it went well. */
export interface Ended {
  readonly name: string
  readonly failure: string | undefined
}

/** Fails with both values where they differ. */
export const same = (what: string, actual: unknown, wanted: unknown): Effect.Effect<void, Error> =>
  Equal.equals(actual, wanted)
    ? Effect.void
    : Effect.fail(new Error(`${what} is ${JSON.stringify(actual)}, not ${JSON.stringify(wanted)}`))

/** Fails where the condition does not come true within three seconds. */
export const eventually = (what: string, condition: () => boolean): Effect.Effect<void, Error> =>
  Effect.suspend(() => condition() ? Effect.void : Effect.fail(new Error(`${what} did not happen`))).pipe(
    Effect.retry({ times: 300, schedule: Schedule.spaced("10 millis") })
  )

const tryOne = ({ name, run }: Case): Effect.Effect<Ended> =>
  Effect.map(Effect.exit(Effect.timeout(run, "10 seconds")), (exit) => ({
    name,
    failure: Exit.isSuccess(exit) ? undefined : Cause.pretty(exit.cause)
  }))

/** Tries all of them, one after the other. */
export const tryAll = (cases: ReadonlyArray<Case>): Promise<ReadonlyArray<Ended>> =>
  Effect.runPromise(Effect.forEach(cases, tryOne))

/** One line for each case. */
export const lines = (ended: ReadonlyArray<Ended>): Array<string> =>
  ended.map(({ failure, name }) => (failure === undefined ? `ok ${name}` : `FAILED ${name}: ${failure}`))

/** What a stage of the test run found. */
export interface Outcome {
  readonly passed: number
  readonly failed: number
  /** Printed when something failed, and always when `show` is set. */
  readonly output: string
  readonly show?: boolean | undefined
  /** What could not be run here, one line each. */
  readonly leftOut?: ReadonlyArray<string> | undefined
}

/** What all stages share. */
export interface Run {
  readonly root: string
  /** A folder of this run alone, removed at its end. */
  readonly scratch: string
  /** Arguments for the test runner, such as file names. */
  readonly args: ReadonlyArray<string>
}

/** One part of the test run. */
export interface Stage {
  readonly name: string
  readonly run: (run: Run) => Promise<Outcome>
}

/** The outcome of a stage that is one check. */
export const single = (ok: boolean, output: string): Outcome => ({ passed: ok ? 1 : 0, failed: ok ? 0 : 1, output })
